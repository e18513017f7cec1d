/* keep_energy: which samples a process gets, and that its trace has them when it is read again. */
#include "report/finish/keep_energy.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/load/load_model.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

#define MS      1000000ull
#define END_NS  (500 * MS)
#define MANY    9000u /* more than a chunk holds */
#define OWN     0xab
#define FOREIGN 0xcd

/* A process of half a second with two devices, of which only the second one has a known UUID. */
static void begin(struct gp_builder *b)
{
	gp_builder_init(b);
	gp_builder_start(b);
	gp_builder_chunk(b, 1, 100);
	gp_builder_add(b, &(struct gp_record_device){.kind = GP_RECORD_DEVICE, .device_id = 0});
	gp_builder_add(b, &(struct gp_record_device){
				  .kind = GP_RECORD_DEVICE, .device_id = 3, .uuid = {OWN, 1}});
	gp_builder_call(b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_kernel(b, 1, 1100, 1200);
	gp_builder_end(b, END_NS);
}

static struct gp_energy_entry sample(uint8_t uuid, uint64_t at_ns, uint64_t energy_mj)
{
	return (struct gp_energy_entry){.uuid = {uuid, 1},
					.record = {.kind = GP_RECORD_ENERGY,
						   .slots = 1,
						   .power_mw = (uint32_t)(energy_mj % 700000),
						   .monotonic_ns = GP_TEST_MONOTONIC + at_ns,
						   .energy_mj = energy_mj,
						   .reasons = energy_mj % 2 ? 0x4 : 0x1,
						   .clock_mhz = 1980,
						   .flags = GP_ENERGY_FROM_POWER}};
}

static struct gp_model *load(const char *path)
{
	struct gp_model *model;
	char message[512];

	assert_int_equal(gp_model_load(path, &model, message, sizeof(message)), 0);
	return model;
}

static void assert_same(const struct gp_energy *one, const struct gp_energy *other)
{
	assert_int_equal(one->time_ns, other->time_ns);
	assert_int_equal(one->energy_mj, other->energy_mj);
	assert_int_equal(one->power_mw, other->power_mw);
	assert_int_equal(one->reasons, other->reasons);
	assert_int_equal(one->clock_mhz, other->clock_mhz);
	assert_int_equal(one->device_id, other->device_id);
	assert_int_equal(one->is_from_power, other->is_from_power);
}

/* The trace with the samples; the model that got them is compared with the trace read again. */
static struct gp_model *keep(struct gp_builder *b, const struct gp_energy_entry *list, size_t count)
{
	const struct gp_energy_entries entries = {list, count};
	const char *path = gp_builder_save(b);
	struct gp_model *model = load(path), *again;
	int trace = open(path, O_RDWR | O_APPEND);

	assert_true(trace >= 0);
	gp_keep_energy(model, &entries, trace);
	again = load(path);
	assert_int_equal(again->losses.damaged_bytes, 0);
	assert_int_equal(again->energy_count, model->energy_count);
	for (uint32_t i = 0; i < model->energy_count; i++)
		assert_same(&model->energies[i], &again->energies[i]);
	gp_model_free(again);
	close(trace);
	return model;
}

static void samples_of_its_gpu_while_it_ran(void **state)
{
	const struct gp_energy_entry list[] = {
		sample(OWN, UINT64_C(-5) * MS, 90), /* before it */
		sample(OWN, 100 * MS, 101),
		sample(FOREIGN, 150 * MS, 9999),
		sample(OWN, 200 * MS, 130),
		sample(OWN, 550 * MS, 240), /* the first after its end */
		sample(OWN, 650 * MS, 300),
	};
	struct gp_builder b;
	struct gp_model *model;

	begin(&b);
	model = keep(&b, list, COUNT(list));
	assert_int_equal(model->energy_count, 3);
	assert_int_equal(model->energies[0].time_ns, 100 * MS);
	assert_int_equal(model->energies[0].energy_mj, 101);
	assert_int_equal(model->energies[0].reasons, 0x4);
	assert_int_equal(model->energies[1].energy_mj, 130);
	assert_int_equal(model->energies[2].time_ns, 550 * MS);
	assert_int_equal(model->energies[2].device_id, 3);
	assert_true(model->energies[2].is_from_power);
	gp_model_free(model);
	gp_builder_free(&b);
}

static void more_than_a_chunk(void **state)
{
	static struct gp_energy_entry list[MANY];
	struct gp_builder b;
	struct gp_model *model;

	for (uint32_t i = 0; i < MANY; i++)
		list[i] = sample(OWN, i * MS / 20, UINT64_C(1) << 40 | (i * i * 12345u));
	begin(&b);
	model = keep(&b, list, MANY);
	assert_int_equal(model->energy_count, MANY);
	gp_model_free(model);
	gp_builder_free(&b);
}

static void nothing_without_samples(void **state)
{
	struct gp_builder b;
	struct gp_model *model;

	begin(&b);
	model = keep(&b, NULL, 0);
	assert_int_equal(model->energy_count, 0);
	gp_model_free(model);
	gp_builder_free(&b);
}

/* A trace is finished twice: its samples are those of the first time. */
static void samples_are_kept_once(void **state)
{
	const struct gp_energy_entry list[] = {sample(OWN, 100 * MS, 1), sample(OWN, 200 * MS, 2)};
	const struct gp_energy_entries entries = {list, COUNT(list)};
	struct gp_builder b;
	struct gp_model *model;

	begin(&b);
	model = keep(&b, list, COUNT(list));
	gp_keep_energy(model, &entries, -1);
	assert_int_equal(model->energy_count, 2);
	gp_model_free(model);
	gp_builder_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_its_gpu_while_it_ran),
		cmocka_unit_test(more_than_a_chunk),
		cmocka_unit_test(nothing_without_samples),
		cmocka_unit_test(samples_are_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

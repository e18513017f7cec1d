/* energy: energy, power and lowered clocks from samples whose values are known. */
#include "report/analysis/device/energy.h"
#include "report/analysis/device/energy_tracks.h"

#include <math.h>

#include "tests/report/model_builder.h"
#include "tests/unit.h"

#define S 1000000000ull

/* A sample at a second of the timeline. */
static void add(struct build *b, uint16_t device_id, double at_s, uint64_t joules, uint32_t watts,
		uint32_t reasons)
{
	uint32_t at = BUILD_GROW(b, energies, energy_count);

	b->model->energies[at] = (struct gp_energy){
		.time_ns = (uint64_t)(at_s * S),
		.energy_mj = 1000 * joules,
		.power_mw = 1000 * watts,
		.reasons = reasons,
		.clock_mhz = reasons & 0x4 ? 1400 : 1980,
		.device_id = device_id,
	};
}

static struct gp_energies energies_of(struct gp_model *const *models, size_t count)
{
	struct gp_device_list devices = {0};
	struct gp_energies energies;

	assert_int_equal(gp_device_list_all(&devices, models, count), 0);
	assert_int_equal(gp_energies_of(&energies, models, count, &devices), 0);
	gp_device_list_free(&devices);
	return energies;
}

/* 100 J in a second, then 300 J in one of lowered clocks, then 600 J in two. */
static struct gp_model *one_gpu(uint64_t base_unix_ns)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	b.model->base_unix_ns = base_unix_ns;
	add(&b, 0, 1, 5000, 100, 0);
	add(&b, 0, 2, 5100, 310, 0x4 | 0x40);
	add(&b, 0, 3, 5400, 300, 0x1);
	add(&b, 0, 5, 6000, 290, 0);
	return build_end(&b);
}

static void sums_of_a_gpu(void **state)
{
	struct gp_model *model = one_gpu(0);
	struct gp_energies energies = energies_of(&model, 1);
	const struct gp_gpu_energy *gpu = energies.gpus;

	assert_int_equal(energies.count, 1);
	assert_true(gp_energy_any(&model, 1));
	assert_int_equal(gpu->count, 3);
	assert_float_equal(gpu->joules, 1000, 1e-9);
	assert_float_equal(gpu->watts, 250, 1e-9);
	assert_float_equal(gpu->highest_watts, 310, 1e-9);
	assert_int_equal(gpu->covered_ns, 4 * S);
	assert_int_equal(gpu->interval_ns, S);
	assert_float_equal(gpu->clock_mhz, (3 * 1980 + 1400) / 4.0, 1e-9);
	/* idle, which is no limit, lowers nothing */
	assert_int_equal(gpu->lowered_ns, S);
	assert_int_equal(gpu->first_lowered_ns, 2 * S);
	assert_float_equal(gpu->lowered_mhz, 1400, 1e-9);
	assert_int_equal(gpu->reason_ns[GP_CLOCK_REASON_POWER_CAP], S);
	assert_int_equal(gpu->reason_ns[GP_CLOCK_REASON_HW_THERMAL], S);
	assert_int_equal(gpu->reason_ns[GP_CLOCK_REASON_SW_THERMAL], 0);
	gp_energies_free(&energies);
	gp_model_free(model);
}

static void energy_of_a_time(void **state)
{
	struct gp_model *model = one_gpu(0);
	struct gp_energies energies = energies_of(&model, 1);
	const struct gp_gpu_energy *gpu = energies.gpus;

	assert_float_equal(gp_gpu_energy_joules(gpu, 1 * S, 5 * S), 1000, 1e-9);
	/* half of a span has half of its energy */
	assert_float_equal(gp_gpu_energy_joules(gpu, 3 * S / 2, 5 * S / 2), 50 + 150, 1e-9);
	/* the ends may lack an interval: the rest tells its power */
	assert_float_equal(gp_gpu_energy_joules(gpu, 4 * S, 6 * S), 600, 1e-9);
	assert_true(isnan(gp_gpu_energy_joules(gpu, 4 * S, 8 * S)));
	assert_true(isnan(gp_gpu_energy_joules(gpu, 8 * S, 9 * S)));
	gp_energies_free(&energies);
	gp_model_free(model);
}

/* Both processes see the same GPU: its energy counts once, however their samples lie. */
static void check_two(uint64_t later_ns, uint32_t count)
{
	struct gp_model *models[] = {one_gpu(0), one_gpu(later_ns)};
	struct gp_energies energies = energies_of(models, 2);

	assert_int_equal(energies.count, 1);
	assert_int_equal(energies.gpus[0].count, count);
	assert_int_equal(energies.gpus[0].covered_ns, 4 * S);
	for (uint32_t i = 1; i < count; i++)
		assert_int_equal(energies.gpus[0].spans[i].start_ns,
				 energies.gpus[0].spans[i - 1].end_ns);
	gp_energies_free(&energies);
	gp_model_free(models[0]);
	gp_model_free(models[1]);
}

static void processes_of_one_gpu(void **state)
{
	check_two(0, 3);
	check_two(1000, 3); /* the same samples, by clocks that differ a little */
	check_two(S / 2, 5);
}

static void a_part_of_a_trace(void **state)
{
	struct gp_model *model = one_gpu(0);
	struct gp_energies energies;

	model->part = (struct gp_part){.is_one = true, .from_ns = 2 * S, .to_ns = 3 * S};
	energies = energies_of(&model, 1);
	assert_float_equal(energies.gpus[0].joules, 300, 1e-9);
	gp_energies_free(&energies);
	gp_model_free(model);
}

static void two_gpus_and_a_reset_counter(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_energies energies;

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	add(&b, 0, 1, 100, 0, 0);
	add(&b, 0, 2, 150, 0, 0);
	add(&b, 0, 3, 10, 0, 0);
	add(&b, 1, 1, 7, 0, 0);
	add(&b, 1, 2, 9, 0, 0);
	model = build_end(&b);
	energies = energies_of(&model, 1);
	assert_int_equal(energies.count, 2);
	assert_float_equal(energies.gpus[0].joules, 50, 1e-9);
	assert_float_equal(energies.gpus[1].joules, 2, 1e-9);
	assert_int_equal(energies.gpus[1].device, 1);
	gp_energies_free(&energies);
	gp_model_free(model);
}

/* A warm-up step, two steady ones and a slow one. */
static void energy_of_a_step(void **state)
{
	struct gp_iteration rows[] = {
		{.start_ns = 1 * S, .end_ns = 2 * S},
		{.start_ns = 2 * S, .end_ns = 3 * S},
		{.start_ns = 3 * S, .end_ns = 4 * S},
		{.start_ns = 4 * S, .end_ns = 5 * S},
	};
	uint8_t parts[] = {GP_RUN_WARM_UP, GP_RUN_STEADY, GP_RUN_STEADY, GP_RUN_SLOW};
	struct gp_iterations iterations = {.rows = rows, .count = 4};
	struct gp_steps steps = {.count = 4, .parts = parts};
	size_t owners[] = {0};
	struct gp_analysis basis = {
		.model_count = 1, .iterations = &iterations, .steps = &steps, .owners = owners};
	struct gp_model *model = one_gpu(0);
	struct gp_energies energies = energies_of(&model, 1);
	struct gp_step_energy step = gp_step_energy_of(energies.gpus, &basis, &model);

	assert_int_equal(step.steps, 3);
	assert_float_equal(step.joules, 300, 1e-9);
	/* a second at 250 W, in three steps */
	assert_float_equal(step.error, 250 / 3.0, 1e-9);

	owners[0] = SIZE_MAX; /* several processes use it */
	assert_int_equal(gp_step_energy_of(energies.gpus, &basis, &model).steps, 0);
	owners[0] = 0;
	steps.count = 0;
	assert_int_equal(gp_step_energy_of(energies.gpus, &basis, &model).steps, 0);
	assert_int_equal(gp_step_energy_of(energies.gpus, NULL, &model).steps, 0);
	gp_energies_free(&energies);
	gp_model_free(model);
}

static void levels_of_tracks(void **state)
{
	const struct gp_energy first = {.energy_mj = 1000};
	const struct gp_energy sample = {
		.energy_mj = 1600, .power_mw = 700000, .clock_mhz = 1410, .reasons = 0x4};

	assert_int_equal(gp_energy_level(&sample, &first, GP_ENERGY_POWER), 700000);
	assert_int_equal(gp_energy_level(&sample, &first, GP_ENERGY_TOTAL), 600);
	assert_int_equal(gp_energy_level(&first, &sample, GP_ENERGY_TOTAL), 0);
	assert_int_equal(gp_energy_level(&sample, &first, GP_ENERGY_CLOCK), 1410000000);
	assert_int_equal(gp_energy_level(&sample, &first, GP_ENERGY_LOWERED), 100000);
	assert_int_equal(gp_energy_level(&first, &first, GP_ENERGY_LOWERED), 0);
}

static void nothing_without_samples(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_energies energies;

	build_device(&b, 0, "GPU");
	add(&b, 0, 1, 100, 100, 0); /* one is no span */
	model = build_end(&b);
	energies = energies_of(&model, 1);
	assert_int_equal(energies.count, 0);
	gp_energies_free(&energies);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_a_gpu),
		cmocka_unit_test(energy_of_a_time),
		cmocka_unit_test(processes_of_one_gpu),
		cmocka_unit_test(a_part_of_a_trace),
		cmocka_unit_test(two_gpus_and_a_reset_counter),
		cmocka_unit_test(energy_of_a_step),
		cmocka_unit_test(levels_of_tracks),
		cmocka_unit_test(nothing_without_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

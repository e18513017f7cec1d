/* A trace in one pass comes to what a model of all of it comes to. */
#include <stdio.h>
#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/startup_shutdown.h"
#include "report/load/load_model.h"
#include "report/model/memory_stats.h"
#include "report/model/sums/counts.h"
#include "report/model/sums/totals.h"
#include "tests/unit.h"
#include "tests/lib/dice.h"
#include "tests/report/trace_builder.h"

#define LAUNCHES 12000
#define IN_CHUNK 30 /* so that there are more chunks than a block takes */
#define KERNELS  70
#define LATEST   1000

struct both {
	struct gp_model *model, *totals;
};

static struct both load(struct gp_builder *b)
{
	const struct gp_load_options in_one_pass = {.save_to = -1, .in_one_pass = true};
	const char *path = gp_builder_save(b);
	char message[512] = "";
	struct both both;

	assert_int_equal(gp_model_load(path, &both.model, message, sizeof(message)), 0);
	assert_int_equal(
		gp_model_load_with(path, &in_one_pass, &both.totals, message, sizeof(message)), 0);
	assert_null(both.model->totals);
	assert_non_null(both.totals->totals);
	assert_int_equal(both.totals->call_count + both.totals->op_count, 0);
	gp_builder_free(b);
	return both;
}

static void free_both(struct both *both)
{
	gp_model_free(both->model);
	gp_model_free(both->totals);
}

static void check_groups(const struct gp_groups *found, const struct gp_groups *exact)
{
	assert_int_equal(found->count, exact->count);
	for (uint32_t i = 0; i < exact->count; i++) {
		struct gp_group *right = &exact->rows[i], *group;
		struct gp_stats stats, expected = gp_group_stats(right);
		uint32_t row = gp_groups_find((struct gp_groups *)found, right->key);

		assert_true(row < exact->count);
		group = &found->rows[row];
		stats = gp_group_stats(group);
		assert_int_equal(group->count, right->count);
		assert_int_equal(group->failed, right->failed);
		assert_int_equal(group->total_ns, right->total_ns);
		assert_int_equal(group->bytes, right->bytes);
		assert_int_equal(group->timed_bytes, right->timed_bytes);
		assert_int_equal(group->least_bytes, right->least_bytes);
		assert_int_equal(group->most_bytes, right->most_bytes);
		assert_int_equal(stats.min, expected.min);
		assert_int_equal(stats.max, expected.max);
	}
}

/* When GPUs began and ended their work. */
static void check_ends(const struct both *both)
{
	struct gp_startup_shutdown found, exact;

	gp_startup_shutdown_of(&found, both->totals);
	gp_startup_shutdown_of(&exact, both->model);
	assert_int_equal(found.first.ns, exact.first.ns);
	assert_int_equal(found.last.ns, exact.last.ns);
}

static void check(const struct both *both)
{
	struct gp_counts counts = gp_counts_of(both->totals), right = gp_counts_of(both->model);
	struct gp_activity found, exact;

	assert_memory_equal(&counts, &right, sizeof(counts));
	assert_int_equal(gp_activity_gather(&found, &both->totals, 1), 0);
	assert_int_equal(gp_activity_gather(&exact, &both->model, 1), 0);
	check_groups(&found.operations, &exact.operations);
	check_groups(&found.calls, &exact.calls);
	assert_int_equal(found.kernels, exact.kernels);
	assert_int_equal(found.copies, exact.copies);
	assert_int_equal(found.copy_bytes, exact.copy_bytes);
	assert_int_equal(found.sets, exact.sets);
	assert_int_equal(found.failures, exact.failures);
	assert_int_equal(both->totals->first_call_ns, both->model->first_call_ns);
	assert_int_equal(both->totals->last_call_ns, both->model->last_call_ns);
	assert_int_equal(both->totals->losses.unknown_records, both->model->losses.unknown_records);
	assert_int_equal(both->totals->losses.launches_without_op,
			 both->model->losses.launches_without_op);
	assert_int_equal(both->totals->losses.launches_failed, both->model->losses.launches_failed);
	assert_int_equal(both->totals->losses.ops_untimed, both->model->losses.ops_untimed);
	assert_int_equal(both->totals->losses.ops_reversed, both->model->losses.ops_reversed);
	gp_activity_free(&found);
	gp_activity_free(&exact);
	assert_int_equal(both->totals->device_count, both->model->device_count);
	assert_int_equal(both->totals->losses.closed, both->model->losses.closed);
}

static void add_kernel(struct gp_builder *b, uint32_t id, uint32_t name, uint64_t start_ns,
		       uint64_t end_ns)
{
	gp_builder_add(b, &(struct gp_record_kernel){
				  .kind = GP_RECORD_KERNEL,
				  .correlation_id = id,
				  .start_ns = start_ns ? GP_TEST_CUPTI(start_ns) : 0,
				  .end_ns = end_ns ? GP_TEST_CUPTI(end_ns) : 0,
				  .name_id = name,
				  .shape_id = 1,
				  .context_id = 1,
				  .stream_id = 7,
				  .graph_id = 1, /* whose nodes may run at once */
			  });
}

static void add_copy(struct gp_builder *b, uint32_t id, uint64_t start_ns, uint64_t bytes,
		     uint8_t source)
{
	gp_builder_add(b, &(struct gp_record_copy){
				  .kind = GP_RECORD_COPY,
				  .correlation_id = id,
				  .start_ns = GP_TEST_CUPTI(start_ns),
				  .end_ns = GP_TEST_CUPTI(start_ns + 3 * bytes),
				  .bytes = bytes,
				  .context_id = 1,
				  .stream_id = 7,
				  .copy_kind = 1,
				  .source_kind = source,
				  .destination_kind = 3,
				  .graph_id = 1,
			  });
}

static void name_kernels(struct gp_builder *b)
{
	char name[32];

	for (uint32_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "kernel_%u", i);
		gp_builder_string(b, GP_STRING_KERNEL, 100 + i, 0, name);
	}
}

/*
 * Calls in chunks of their own, operations in others: what follows each other is decoded side by
 * side.
 */
static void write_much(struct gp_builder *b, uint64_t *dice)
{
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		if (i % IN_CHUNK == 0)
			gp_builder_chunk(b, 1 + i / IN_CHUNK % 3, 100 + i / IN_CHUNK % 3);
		gp_builder_call(b, i % 20 == 0 ? GP_TEST_COPY : GP_TEST_LAUNCH, 1 + i,
				1000 + LATEST * i, roll_dice(dice) % 900);
	}
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		uint64_t start_ns = 2000 + LATEST * i;

		if (i % IN_CHUNK == 0)
			gp_builder_chunk(b, 5, 200);
		if (i % 20 == 0)
			add_copy(b, 1 + i, start_ns, 1 + roll_dice(dice) % 5000, 1 + i % 40 / 20);
		else
			add_kernel(b, 1 + i, 100 + (uint32_t)(roll_dice(dice) % KERNELS), start_ns,
				   start_ns + roll_dice(dice) % 3000);
	}
}

static void test_many_chunks(void **state)
{
	struct gp_builder b;
	uint64_t dice = DICE, late_ns, end_ns = 0, covered_ns = 0;
	struct both both;

	gp_builder_begin(&b, 100);
	name_kernels(&b);
	write_much(&b, &dice);
	gp_builder_end(&b, 2000 + LATEST * (LAUNCHES + 5));
	both = load(&b);
	check(&both);
	check_ends(&both);
	for (uint32_t i = 0; i < both.model->op_count; i++) { /* of one stream: in order */
		const struct gp_op *op = &both.model->ops[i];
		uint64_t from_ns = op->start_ns > end_ns ? op->start_ns : end_ns;

		covered_ns += op->end_ns > from_ns ? op->end_ns - from_ns : 0;
		end_ns = op->end_ns > end_ns ? op->end_ns : end_ns;
	}
	assert_int_equal(gp_cover_ns(&both.totals->totals->cover, 0, &late_ns), covered_ns);
	assert_int_equal(late_ns, 0);
	free_both(&both);
}

static void add_failed(struct gp_builder *b, uint16_t api, uint16_t status, uint64_t start_ns)
{
	gp_builder_add(b, &(struct gp_record_call){
				  .kind = GP_RECORD_CALL,
				  .api = api,
				  .start_ticks = GP_TEST_AT_TICK(start_ns),
				  .duration_low_ticks = 5,
				  .status = status,
			  });
}

/*
 * Operations without times, the wrong way round, of no device, of no name; calls that failed, and
 * one that nobody named.
 */
static void test_what_is_odd(void **state)
{
	struct gp_builder b;
	struct both both;

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 2, 1100, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 3, 1200, 50);
	gp_builder_call(&b, GP_TEST_LAUNCH, 4, 1300, 50);
	add_failed(&b, GP_TEST_LAUNCH, 98, 1400);
	add_failed(&b, GP_TEST_SYNC, 600, 1500);
	add_failed(&b, 4711, 1, 1600);
	add_kernel(&b, 1, 1, 0, 0);
	add_kernel(&b, 2, 1, 5000, 4000);
	add_kernel(&b, 3, 4242, 6000, 7000);
	gp_builder_add(&b, &(struct gp_record_kernel){.kind = GP_RECORD_KERNEL,
						      .device_id = 300,
						      .start_ns = GP_TEST_CUPTI(9000),
						      .end_ns = GP_TEST_CUPTI(9100)});
	gp_builder_end(&b, 20000);
	both = load(&b);
	check(&both);
	assert_int_equal(both.totals->losses.launches_without_op, 1);
	assert_int_equal(both.totals->losses.launches_failed, 1);
	free_both(&both);
}

static void test_memory(void **state)
{
	const struct gp_memory_row *row;
	struct gp_builder b;
	struct both both;

	gp_builder_begin(&b, 100);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 1000, 0x1000, 100);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 2000, 0x2000, 1000);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 3000, 0x1000, 0);
	gp_builder_memory(&b, GP_MEMORY_DEVICE, 4000, 0x9000, 0); /* nobody allocated it */
	gp_builder_memory(&b, GP_MEMORY_PINNED, 5000, 0x5000, 7);
	gp_builder_end(&b, 20000);
	both = load(&b);
	check(&both);
	row = gp_memory_ledger_row(&both.totals->totals->memory.ledger, 0, GP_MEMORY_OF_DEVICE);
	assert_non_null(row);
	assert_int_equal(row->peak_bytes, 1100);
	assert_int_equal(row->peak_time, GP_TEST_AT_TICK(2010));
	assert_int_equal(row->now_bytes, 1000);
	assert_int_equal(row->allocations, 2);
	assert_int_equal(row->allocated_bytes, 1100);
	assert_int_equal(row->frees, 1);
	assert_int_equal(row->freed_bytes, 100);
	assert_int_equal(both.totals->losses.frees_unknown, 1);
	assert_int_equal(both.model->losses.frees_unknown, 1);
	free_both(&both);
}

/* What is damaged is skipped, and what is around it added up. */
/* The first text of all is empty: there is no byte to keep yet. */
static void test_an_empty_name_comes_first(void **state)
{
	struct gp_builder b;
	struct both both;

	gp_builder_init(&b);
	gp_builder_chunk(&b, 1, 100);
	gp_builder_string(&b, GP_STRING_KERNEL, 7, 0, "");
	gp_builder_start(&b);
	gp_builder_chunk(&b, 1, 100);
	add_kernel(&b, 1, 7, 1000, 1100);
	both = load(&b);
	check(&both);
	free_both(&both);
}

/* The sum of all would be nothing but the one that lasted centuries. */
static void test_impossible_times(void **state)
{
	const uint64_t century_ns = UINT64_C(100) * 366 * 86400 * 1000000000;
	struct gp_builder b;
	struct both both;

	gp_builder_begin(&b, 9);
	for (uint32_t i = 1; i <= 3; i++) {
		gp_builder_call(&b, GP_TEST_LAUNCH, i, 1000 * i, 10);
		gp_builder_kernel(&b, i, 1000 * i + 20, 1000 * i + (i == 2 ? century_ns : 80));
	}
	both = load(&b);
	check(&both);
	assert_int_equal(both.totals->losses.ops_untimed, 1);
	free_both(&both);
}

static void test_damage(void **state)
{
	struct gp_builder b;
	struct both both;
	const uint8_t record[32] = {200};

	gp_builder_begin(&b, 100);
	gp_builder_call(&b, GP_TEST_LAUNCH, 1, 1000, 50);
	gp_builder_kernel(&b, 1, 1100, 1200);
	gp_builder_seal(&b);
	gp_builder_raw(&b, record, sizeof(record));
	gp_builder_chunk(&b, 1, 100);
	gp_builder_end(&b, 20000);
	both = load(&b);
	check(&both);
	assert_int_equal(both.totals->losses.damaged_bytes, 32);
	free_both(&both);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_chunks),
		cmocka_unit_test(test_what_is_odd),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_an_empty_name_comes_first),
		cmocka_unit_test(test_impossible_times),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

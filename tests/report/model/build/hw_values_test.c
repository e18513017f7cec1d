/* Windows of hardware counters: values are joined with their kernels, whose times are set apart. */
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/base/tally.h"
#include "report/tables/breakdown_scope.h"
#include "tests/report/trace_builder.h"
#include "tests/unit.h"

#define THREAD       100
#define METRIC       3
#define INSTRUCTIONS 4

static void window(struct gp_builder *b, uint32_t id, uint64_t start_ns, uint32_t flags)
{
	gp_builder_add(
		b, &(struct gp_record_hw_window){.kind = GP_RECORD_HW_WINDOW,
						 .id = id,
						 .open_ticks = GP_TEST_AT_TICK(start_ns),
						 .start_ticks = GP_TEST_AT_TICK(start_ns + 100),
						 .stop_ticks = GP_TEST_AT_TICK(start_ns + 900),
						 .close_ticks = GP_TEST_AT_TICK(start_ns + 1000),
						 .thread_id = THREAD,
						 .launches = 2,
						 .measured = 2,
						 .flags = flags});
}

static void value(struct gp_builder *b, uint32_t correlation_id, uint32_t metric, double number)
{
	struct gp_record_hw_value record = {.kind = GP_RECORD_HW_VALUE,
					    .correlation_id = correlation_id,
					    .metric_id = metric,
					    .window_id = 1};

	memcpy(&record.value, &number, sizeof(number));
	gp_builder_add(b, &record);
}

static void launch(struct gp_builder *b, uint32_t correlation_id, uint64_t start_ns)
{
	gp_builder_call(b, GP_TEST_LAUNCH, correlation_id, start_ns, 50);
	gp_builder_kernel(b, correlation_id, start_ns + 60, start_ns + 160);
}

/* Launches 1 to 4, of which 2 and 3 are in the window. */
static struct gp_model *make(uint32_t flags)
{
	struct gp_builder b;

	gp_builder_begin(&b, THREAD);
	gp_builder_string(&b, GP_STRING_METRIC, METRIC, 0, "dram__bytes_read.sum");
	gp_builder_string(&b, GP_STRING_METRIC, INSTRUCTIONS, 0, "smsp__inst_executed.sum");
	launch(&b, 1, 1000);
	launch(&b, 2, 2200);
	launch(&b, 3, 2500);
	launch(&b, 4, 4000);
	value(&b, 3, INSTRUCTIONS, 100000);
	value(&b, 3, METRIC, 30);
	value(&b, 2, METRIC, 20.5);
	value(&b, 9, METRIC, 1); /* its kernel has no record */
	value(&b, 2, 77, 1);     /* its metric has no name */
	window(&b, 1, 2000, flags);
	return gp_builder_finish(&b);
}

static void test_values_are_those_of_their_kernels(void **state)
{
	struct gp_model *m = make(0);

	assert_int_equal(m->counted_count, 3);
	assert_int_equal(m->counted[0].op, 1);
	assert_true(m->counted[0].value == 20.5);
	assert_string_equal(m->counter_texts[m->counted[0].counter], "dram__bytes_read.sum");
	assert_int_equal(m->counted[1].op, 2);
	assert_true(m->counted[1].value == 30);
	assert_int_equal(m->counted[1].window, 0);
	assert_true(m->counted[2].value == 100000);
	assert_string_equal(m->counter_texts[m->counted[2].kernel],
			    gp_model_kernel_name(m, &m->ops[2]));
	assert_int_equal(m->losses.unknown_records, 1);
	gp_model_free(m);
}

/* CUPTI's kernel records add 40 to each kernel, and 8 to each warp. */
static void test_the_instructions_of_records_are_subtracted(void **state)
{
	struct gp_model *m = make(GP_HW_WINDOW_HAS_RECORDS);
	const struct gp_record_shape *shape = &m->shapes[m->ops[2].shape];
	uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
	uint64_t blocks = (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2];

	assert_true(m->counted[2].value ==
		    100000 - 40 - 8 * (double)(blocks * ((threads + 31) / 32)));
	assert_true(m->counted[1].value == 30);
	gp_model_free(m);
}

static void test_a_window_is_overhead_of_its_thread(void **state)
{
	struct gp_model *m = make(0);

	assert_int_equal(m->hw_window_count, 1);
	assert_int_equal(m->hw_windows[0].first_ns, 2100);
	assert_int_equal(m->overhead_count, 1);
	assert_int_equal(m->overheads[0].start_ns, 2000);
	assert_int_equal(m->overheads[0].end_ns, 3000);
	assert_int_equal(m->overheads[0].overhead_kind, GP_OVERHEAD_HW_WINDOW);
	assert_int_equal(m->overheads[0].thread_id, THREAD);
	gp_model_free(m);
}

static void test_times_in_a_window_count_in_sums_alone(void **state)
{
	struct gp_model *m = make(0);
	struct gp_tally tally = {0};
	struct gp_tally_row *row = gp_tally_find(&tally, (uint64_t[GP_TALLY_KEYS]){1});

	for (uint32_t i = 0; i < m->op_count; i++) {
		assert_int_equal(gp_op_is_in_window(&m->ops[i]), i == 1 || i == 2);
		gp_scope_count_op(&tally, row, &m->ops[i]);
	}
	assert_int_equal(row->count, 4);
	assert_int_equal(row->series[0].total, 400);
	assert_int_equal(row->series[0].count, 2);
	gp_tally_free(&tally);
	for (uint32_t i = 0; i < m->call_count; i++)
		assert_int_equal(gp_activity_is_in_window(m, &m->calls[i]), i == 1 || i == 2);
	gp_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_those_of_their_kernels),
		cmocka_unit_test(test_the_instructions_of_records_are_subtracted),
		cmocka_unit_test(test_a_window_is_overhead_of_its_thread),
		cmocka_unit_test(test_times_in_a_window_count_in_sums_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

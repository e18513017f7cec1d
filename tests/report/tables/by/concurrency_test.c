/* How long one kernel ran, two, and more: by device, and by stream. */
#include "tests/unit.h"

#include <time.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

enum { TOTAL, ONE, TWO, MORE, SEVERAL, MOST, KERNELS, DEVICE };
enum { STREAM = DEVICE + 3 }; /* after PID, device, context */

static struct gp_op *kernel(struct build *b, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_op *op = build_op(b, GP_OP_KERNEL, stream, start_ns, end_ns, 0);

	op->name = 0;
	return op;
}

/*
 * Stream 1: 0 to 100, 200 to 310; 2: 50 to 250; 3: 60 to 80, and 80 to 90 beside itself from 85 on;
 * a copy and another device's kernel, which are not beside these.
 */
static struct gp_model *build_streams(void)
{
	struct build b = build_begin(1);

	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	build_name(&b, "k");
	kernel(&b, 1, 0, 100);
	kernel(&b, 1, 200, 310);
	kernel(&b, 2, 50, 250);
	kernel(&b, 3, 60, 80);
	kernel(&b, 3, 80, 90);
	kernel(&b, 3, 85, 90);
	kernel(&b, 4, 95, 95);
	build_op(&b, GP_OP_COPY, 5, 0, 1000, 0)->copy_kind = 1;
	kernel(&b, 6, 0, 500)->device_id = 1;
	return build_end(&b);
}

static void assert_times(const struct gp_table *table, size_t index, uint64_t one_ns,
			 uint64_t two_ns, uint64_t more_ns, uint64_t most, uint64_t kernels)
{
	const struct gp_value *row = gp_table_row(table, index);

	assert_int_equal(row[TOTAL].whole, one_ns + two_ns + more_ns);
	assert_int_equal(row[ONE].whole, one_ns);
	assert_int_equal(row[TWO].whole, two_ns);
	assert_int_equal(row[MORE].whole, more_ns);
	assert_int_equal(row[MOST].whole, most);
	assert_int_equal(row[KERNELS].whole, kernels);
}

static void make(const struct gp_breakdown *breakdown, struct gp_scope *scope,
		 struct gp_table *table, struct gp_model **model)
{
	assert_int_equal(gp_scope_open(scope, model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(breakdown, scope, table), 0);
}

static void a_device_has_one_two_or_more_kernels_at_once(void **state)
{
	struct gp_model *model = build_streams();
	struct gp_scope scope;
	struct gp_table table;

	make(&gp_breakdown_concurrency_device, &scope, &table, &model);
	assert_int_equal(gp_table_rows(&table), 2);
	assert_int_equal(gp_table_row(&table, 0)[DEVICE].whole, 1);
	assert_times(&table, 0, 500, 0, 0, 1, 1);
	/* one: 0 to 50, 100 to 200, 250 to 310; more: 60 to 90 */
	assert_times(&table, 1, 210, 70, 30, 4, 7);
	assert_true(gp_table_row(&table, 1)[SEVERAL].real > 32.2 &&
		    gp_table_row(&table, 1)[SEVERAL].real < 32.3);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

static void a_stream_runs_alone_or_beside_others(void **state)
{
	struct gp_model *model = build_streams();
	struct gp_scope scope;
	struct gp_table table;

	make(&gp_breakdown_concurrency_stream, &scope, &table, &model);
	assert_int_equal(gp_table_rows(&table), 5);
	assert_int_equal(gp_table_row(&table, 1)[STREAM].whole, 1);
	assert_times(&table, 1, 110, 70, 30, 4, 2);
	assert_int_equal(gp_table_row(&table, 2)[STREAM].whole, 2);
	assert_times(&table, 2, 100, 70, 30, 4, 1);
	assert_times(&table, 3, 0, 0, 30, 4, 3);
	assert_times(&table, 4, 0, 0, 0, 0, 1);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* A hostile trace: without a bound, the time grows with the square of their number. */
static void more_kernels_than_a_device_runs(void **state)
{
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table table;
	clock_t before;

	build_device(&b, 0, "GPU");
	build_name(&b, "k");
	for (uint32_t i = 0; i < 40000; i++)
		kernel(&b, i, i, 40000 + i);
	model = build_end(&b);
	before = clock();
	make(&gp_breakdown_concurrency_device, &scope, &table, &model);
	assert_in_range(clock() - before, 0, 3 * CLOCKS_PER_SEC);
	assert_int_equal(gp_table_row(&table, 0)[MOST].whole, 1024);
	assert_int_equal(gp_table_row(&table, 0)[KERNELS].whole, 40000);
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_one_two_or_more_kernels_at_once),
		cmocka_unit_test(a_stream_runs_alone_or_beside_others),
		cmocka_unit_test(more_kernels_than_a_device_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* roofline: which launches a row has, its means and its occupancy; peaks of each device; the table and the summary. */
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/summary/summary.h"
#include "report/tables/breakdown.h"
#include "report/tables/by/roofline.h"
#include "tests/report/counter_builder.h"
#include "tests/report/expect.h"
#include "tests/report/put_rows.h"

#define US 1000u

#define TIME       "gpu__time_duration.sum"
#define READ       "dram__bytes_op_read.sum"
#define WRITTEN    "dram__bytes_op_write.sum"
#define FFMA       "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
#define FADD       "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"
#define FMUL       "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"
#define WARPS      "sm__warps_active.avg.pct_of_peak_sustained_active"
#define DRAM_CLOCK "dram__cycles_elapsed.avg.per_second"
#define DRAM_PEAK  "dram__bytes.sum.peak_sustained"
#define SM_CLOCK   "sm__cycles_elapsed.avg.per_second"
#define FP32_PEAK  "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"

/* The counters of the kernel of a launch. */
#define COUNT_KERNEL(model, correlation_id, ...)                                                   \
	build_counters(model, correlation_id,                                                      \
		       (const struct build_counter[]){__VA_ARGS__, {NULL, 0}})

#define NEAR(value, expected)                                                                      \
	assert_true(fabs((value) - (double)(expected)) <= 1e-9 * fabs((double)(expected)))

/* A launch and its kernel. */
static void launch(struct build *b, uint32_t name, uint32_t shape, uint16_t device,
		   uint64_t duration_ns, uint32_t correlation_id)
{
	uint64_t start_ns = 1000 * US * (uint64_t)correlation_id;
	struct gp_op *op;

	build_call(b, 100, BUILD_LAUNCH, start_ns, 5 * US, correlation_id);
	op = build_op(b, GP_OP_KERNEL, 7, start_ns, start_ns + duration_ns, correlation_id);
	op->name = name;
	op->shape = shape;
	op->device_id = device;
}

static struct build begin(uint32_t pid, bool has_records)
{
	struct build b = build_begin(pid);

	build_device(&b, 0, "GPU zero");
	build_device(&b, 1, "GPU one");
	build_window(&b, US, 100000 * US, has_records);
	return b;
}

/* Three launches of a kernel in one shape, one in another, one on another device, and a copy. */
static struct gp_model *make_first(void)
{
	struct build b = begin(1, true);
	uint32_t step = build_name(&b, "step"), idle = build_name(&b, "idle");
	uint32_t wide = build_shape(&b, 264, 128), narrow = build_shape(&b, 5, 32);
	struct gp_model *model;

	b.model->shapes[wide].grid[1] = 3;
	b.model->shapes[wide].grid[2] = 7;
	b.model->shapes[wide].block[1] = 2;
	b.model->shapes[wide].block[2] = 4;
	launch(&b, step, wide, 0, 300 * US, 1);
	launch(&b, step, wide, 0, 340 * US, 2);
	launch(&b, step, wide, 0, 310 * US, 3);
	launch(&b, step, narrow, 0, 20 * US, 4);
	launch(&b, step, wide, 1, 25 * US, 5);
	launch(&b, idle, narrow, 0, 5 * US, 6);
	build_op(&b, GP_OP_COPY, 9, 100 * US, 900 * US, 0)->bytes = 1000;
	model = build_end(&b);
	COUNT_KERNEL(model, 1, {TIME, 200000}, {READ, 6e8}, {WRITTEN, 3e8}, {WARPS, 40},
		     {DRAM_CLOCK, 2.5e9}, {DRAM_PEAK, 2000});
	COUNT_KERNEL(model, 3, {TIME, 300000}, {READ, 8e8}, {WRITTEN, 1e8}, {WARPS, 50},
		     {DRAM_CLOCK, 3e9}, {DRAM_PEAK, 2000}, {"a metric of the user", 5});
	COUNT_KERNEL(model, 4, /* without clocks and peaks, as in another window */ {TIME, 10000},
		     {READ, 1e7}, {WRITTEN, (double)NAN}, {FFMA, 3e6}, {FADD, 1e6}, {FMUL, 0});
	COUNT_KERNEL(model, 5, {TIME, 20000}, {FFMA, 4e6}, {FADD, 0}, {FMUL, 0}, {SM_CLOCK, 1e9},
		     {FP32_PEAK, 500});
	COUNT_KERNEL(model, 0, {TIME, 1});
	return model;
}

/* The same kernels again, in a run without kernel records. */
static struct gp_model *make_second(void)
{
	struct build b = begin(2, false);
	uint32_t step = build_name(&b, "step"), wide = build_shape(&b, 264, 128);
	struct gp_model *model;

	b.model->shapes[wide].grid[1] = 3;
	b.model->shapes[wide].grid[2] = 7;
	b.model->shapes[wide].block[1] = 2;
	b.model->shapes[wide].block[2] = 4;
	launch(&b, step, wide, 0, 0, 1);
	launch(&b, build_name(&b, "elsewhere"), wide, 0, 0, 2);
	launch(&b, step, wide, 0, 0, 3);
	model = build_end(&b);
	COUNT_KERNEL(model, 1, {FFMA, 1e6}, {FADD, 2e6}, {FMUL, 3e6});
	COUNT_KERNEL(model, 2, {FFMA, 7e6});
	COUNT_KERNEL(model, 3, {FFMA, 1e6}, {FADD, 2e6}, {FMUL, 3e6}); /* as many as in the first */
	return model;
}

struct opened {
	struct gp_model *models[2];
	struct gp_scope scope;
	struct gp_roofline_rows rows;
};

static void open_rows(struct opened *opened)
{
	opened->models[0] = make_first();
	opened->models[1] = make_second();
	assert_int_equal(gp_scope_open(&opened->scope, opened->models, 2, false), 0);
	assert_int_equal(gp_roofline_open(&opened->scope, &opened->rows), 0);
}

static void close_rows(struct opened *opened)
{
	gp_roofline_close(&opened->rows);
	gp_scope_close(&opened->scope);
	gp_model_free(opened->models[0]);
	gp_model_free(opened->models[1]);
}

/* A kernel without counters has no row; the one with most time is first. */
static void rows_have_means_of_their_launches(void **state)
{
	const struct gp_roofline_row *row;
	struct opened opened;

	open_rows(&opened);
	assert_int_equal(opened.rows.count, 4);
	assert_int_equal(opened.rows.all_ns, 1000 * US);
	row = &opened.rows.rows[0];
	assert_string_equal(gp_scope_kernel_of(&opened.scope, row->name), "step");
	assert_int_equal(row->device, 0);
	assert_memory_equal(row->grid, ((uint32_t[]){264, 3, 7}), sizeof(row->grid));
	assert_memory_equal(row->block, ((uint32_t[]){128, 2, 4}), sizeof(row->block));
	assert_int_equal(row->launches, 3);
	assert_int_equal(row->measured, 2); /* with kernel records; as many without */
	assert_int_equal(row->total_ns, 950 * US);
	NEAR(row->achieved, 45);
	NEAR(row->theoretical, 100);
	NEAR(row->roofline.time_s, 250e-6);
	NEAR(row->roofline.work[GP_ROOF_DRAM], 9e8); /* 7e8 read, 2e8 written */
	NEAR(row->roofline.work[GP_ROOF_FP32], 7e6); /* of the other process */
	/* clocks and peaks of this kernel: 9e8 B / 250 us of 2000 B * 2.75 GHz */
	NEAR(row->roofline.roof, 3.6e12 / 5.5e12);
	assert_int_equal(row->roofline.bound, GP_BOUND_MEMORY);

	row = &opened.rows.rows[1];
	assert_int_equal(row->device, 1);
	assert_int_equal(row->launches, 1);
	NEAR(row->roofline.roof, 8e6 / 20e-6 / 1e12);
	assert_true(isnan(row->achieved));

	row = &opened.rows.rows[2];
	assert_int_equal(row->device, 0);
	assert_memory_equal(row->grid, ((uint32_t[]){5, 1, 1}), sizeof(row->grid));
	assert_memory_equal(row->block, ((uint32_t[]){32, 1, 1}), sizeof(row->block));
	NEAR(row->theoretical, 50);
	NEAR(row->roofline.peak[GP_ROOF_DRAM], 5.5e12); /* of the other kernel of its device */
	assert_true(isnan(row->roofline.peak[GP_ROOF_FP32]));
	assert_true(isnan(row->roofline.work[GP_ROOF_DRAM]));

	row = &opened.rows.rows[3];
	assert_string_equal(gp_scope_kernel_of(&opened.scope, row->name), "elsewhere");
	assert_int_equal(row->launches, 0);
	assert_int_equal(row->measured, 1);
	assert_int_equal(row->total_ns, 0);
	close_rows(&opened);
}

static void ceilings_are_means_weighted_by_time(void **state)
{
	struct gp_roofline_ceilings ceilings;
	struct gp_roofline_row rows[3] = {
		{.device = 4, .total_ns = 99}, {.device = 2}, {.device = 4, .total_ns = 299}};
	const struct gp_roofline_rows all = {.rows = rows, .count = 3};

	for (int i = 0; i < 3; i++)
		for (int unit = 0; unit < GP_ROOF_OPERATIONS; unit++)
			rows[i].roofline.peak[unit] = (double)NAN;
	rows[0].roofline.peak[GP_ROOF_L2] = 10;
	rows[2].roofline.peak[GP_ROOF_L2] = 30;
	rows[2].roofline.peak[GP_ROOF_FP8_TENSOR] = 7;
	rows[1].roofline.peak[GP_ROOF_L2] = 5;
	assert_true(gp_roofline_ceilings_of(&all, 0, &ceilings));
	assert_int_equal(ceilings.device, 2);
	NEAR(ceilings.peak[GP_ROOF_L2], 5); /* in no time it counts, too */
	assert_true(isnan(ceilings.peak[GP_ROOF_FP8_TENSOR]));
	assert_true(gp_roofline_ceilings_of(&all, 3, &ceilings));
	assert_int_equal(ceilings.device, 4);
	NEAR(ceilings.peak[GP_ROOF_L2], 25);
	NEAR(ceilings.peak[GP_ROOF_FP8_TENSOR], 7);
	assert_true(gp_roofline_ceilings_of(&all, 4, &ceilings));
	assert_false(gp_roofline_ceilings_of(&all, 5, &ceilings));
}

static void nothing_without_windows_or_values(void **state)
{
	struct build b = begin(1, true);
	struct gp_model *without_values = build_end(&b), *without_windows;

	b = build_begin(2);
	launch(&b, build_name(&b, "step"), build_shape(&b, 1, 32), 0, US, 1);
	without_windows = build_end(&b);
	COUNT_KERNEL(without_windows, 1, {TIME, 1});
	assert_false(gp_roofline_any(&without_values, 1));
	assert_false(gp_roofline_any(&without_windows, 1));
	gp_model_free(without_values);
	gp_model_free(without_windows);
}

/* ---- what is shown ---- */

static void expect_table(struct opened *opened, const struct gp_breakdown *breakdown,
			 const char *expected)
{
	struct gp_table table;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	assert_int_equal(gp_breakdown_make(breakdown, &opened->scope, &table), 0);
	put_rows(out, &table);
	fclose(out);
	assert_string_equal(text, expected);
	gp_table_close(&table);
	free(text);
}

static void tables(void **state)
{
	struct opened opened;

	open_rows(&opened);
	expect_table(
		&opened, &gp_breakdown_roofline,
		"95,950000,3,2,memory,DRAM,65.455,1.528,250000,7000000,0.028,900000000,,,"
		"0.008,65.455,,,,,,,45,100,264 x 3 x 7,128 x 2 x 4,0,step\n"
		"2.5,25000,1,1,,FP32,40,2.5,20000,8000000,0.4,,,,,,,,40,,,,,100,"
		"264 x 3 x 7,128 x 2 x 4,1,step\n"
		"2,20000,1,1,,,,,10000,7000000,0.7,,,,,,,,,,,,,50,5 x 1 x 1,32 x 1 x 1,0,step\n"
		"0,0,0,1,,,,,,,,,,,,,,,,,,,,,264 x 3 x 7,128 x 2 x 4,0,elsewhere\n");
	expect_table(&opened, &gp_breakdown_roofline_peak, "0,5500,GB,DRAM\n1,1,TFLOP,FP32\n");
	close_rows(&opened);
}

static void the_summary(void **state)
{
	const struct gp_summary_options options = {.row_limit = 12};
	struct opened opened;
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	open_rows(&opened);
	assert_int_equal(gp_summary_print(out, opened.models, 2, &options), 0);
	fclose(out);
	expect(text, "\nHardware counters of 5 kernels, by GPU time (peaks: DRAM 5500 GB/s)\n"
		     "   95.0 %  memory-bound, DRAM at 65 % of its peak: step\n"
		     "    2.5 %  FP32 at 40 % of its peak: step\n"
		     "    2.0 %  limit not known: step\n"
		     "  measured: kernels with 99.5 % of the GPU time; ");
	free(text);
	close_rows(&opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_have_means_of_their_launches),
		cmocka_unit_test(ceilings_are_means_weighted_by_time),
		cmocka_unit_test(nothing_without_windows_or_values),
		cmocka_unit_test(tables),
		cmocka_unit_test(the_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

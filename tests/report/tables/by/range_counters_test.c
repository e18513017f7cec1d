/* Hardware counters by range: figures of the measured kernels, and estimates with their error. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

#define NOT_MEASURED (-1.0)

enum { KERNELS, MEASURED, SUM, AVG, MAX, ESTIMATE, ERROR, UNIT, COUNTER, STYLE, DOMAIN, RANGE };

struct made {
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;
};

/* Kernels of one range, 10 ns apart, with their values of a counter. */
static void launch(struct build *b, uint32_t name, uint32_t shape, const double *values,
		   uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = b->model->op_count + 1, at;
		struct gp_op *op;

		build_call(b, 1, BUILD_LAUNCH, 10 * number, 5, number);
		op = build_op(b, GP_OP_KERNEL, 7, 10 * number + 5, 10 * number + 9, number);
		op->name = name;
		op->shape = shape;
		if (values[i] == NOT_MEASURED)
			continue;
		at = BUILD_GROW(b, counted, counted_count);
		b->model->counted[at] = (struct gp_counted){
			.op = number - 1, .counter = 0, .value = values[i], .window = GP_NONE};
	}
}

static struct build begin(const char *counter)
{
	struct build b = build_begin(1);
	struct gp_text *texts = gp_spill_take(2 * sizeof(*texts));

	b.model->counter_texts = gp_spill_take(sizeof(*b.model->counter_texts));
	build_check(texts && b.model->counter_texts);
	b.model->counter_texts[b.model->counter_text_count++] = build_copy_text(counter);
	texts[0] = (struct gp_text){
		.space = GP_STRING_METRIC, .id = 1, .bytes = build_copy_text(counter)};
	texts[1] = (struct gp_text){
		.space = GP_STRING_METRIC_UNIT, .id = 1, .bytes = build_copy_text("byte")};
	b.model->texts = texts;
	b.model->text_count = 2;
	return b;
}

static void make(struct made *made, struct build *b, const struct gp_breakdown *breakdown)
{
	made->model = build_end(b);
	assert_int_equal(gp_scope_open(&made->scope, &made->model, 1, true), 0);
	assert_int_equal(gp_breakdown_make(breakdown, &made->scope, &made->sheet), 0);
}

static void end(struct made *made)
{
	gp_table_close(&made->sheet);
	gp_scope_close(&made->scope);
	gp_model_free(made->model);
}

static void expect_real(const struct gp_value *value, double real)
{
	assert_int_equal(value->kind, GP_VALUE_REAL);
	assert_float_equal(value->real, real, 1e-9);
}

static void all_kernels_of_a_range_are_measured(void **state)
{
	struct build b = begin("dram__bytes_read.sum");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	const struct gp_value *row;
	struct made made;

	build_range(&b, 1, "step", 0, 45);
	launch(&b, name, shape, (double[]){100, 300, 200, 0}, 4);
	launch(&b, name, shape, (double[]){7000}, 1); /* outside */
	make(&made, &b, &gp_breakdown_nvtx_counter);
	assert_int_equal(gp_table_rows(&made.sheet), 1);
	row = gp_table_row(&made.sheet, 0);
	assert_int_equal(row[KERNELS].whole, 4);
	assert_int_equal(row[MEASURED].whole, 4);
	expect_real(&row[SUM], 600);
	expect_real(&row[AVG], 150);
	expect_real(&row[MAX], 300);
	expect_real(&row[ESTIMATE], 600);
	expect_real(&row[ERROR], 0);
	assert_string_equal(row[UNIT].text, "byte");
	assert_string_equal(row[COUNTER].text, "dram__bytes_read.sum");
	assert_string_equal(row[RANGE].text, "step");
	end(&made);
}

/*
 * Of 6 copies, 100 and 300 are known: 1,200, with a variance of 6^2 (1 - 2/6) 20,000 / 2 = 240,000.
 * The other shape was measured each time, and adds 50.
 */
static void a_part_is_measured_of_each_kernel(void **state)
{
	struct build b = begin("dram__bytes_read.sum");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	uint32_t other = build_shape(&b, 8, 32);
	const struct gp_value *row;
	struct made made;

	build_range(&b, 1, "outer", 0, 1000);
	build_range(&b, 1, "step", 5, 75);
	b.model->ranges[1].parent = 0;
	launch(&b, name, shape,
	       (double[]){NOT_MEASURED, 100, NOT_MEASURED, 300, NOT_MEASURED, NOT_MEASURED}, 6);
	launch(&b, name, other, (double[]){50}, 1);
	launch(&b, build_name(&b, "never"), other, (double[]){NOT_MEASURED}, 1);
	make(&made, &b, &gp_breakdown_nvtx_counter);
	assert_int_equal(gp_table_rows(&made.sheet), 2);
	row = gp_table_row(&made.sheet, 1);
	assert_string_equal(row[RANGE].text, "step");
	assert_int_equal(row[KERNELS].whole, 7);
	assert_int_equal(row[MEASURED].whole, 3);
	expect_real(&row[SUM], 450);
	expect_real(&row[AVG], 150);
	expect_real(&row[MAX], 300);
	expect_real(&row[ESTIMATE], 1250);
	expect_real(&row[ERROR], sqrt(240000));
	row = gp_table_row(&made.sheet, 0); /* with a kernel that was never measured */
	assert_string_equal(row[RANGE].text, "outer");
	assert_int_equal(row[KERNELS].whole, 8);
	assert_int_equal(row[ESTIMATE].kind, GP_VALUE_NONE);
	assert_int_equal(row[ERROR].kind, GP_VALUE_NONE);
	end(&made);
}

/* Nothing tells how much the other launches differ. */
static void one_value_of_several_launches_is_no_estimate(void **state)
{
	struct build b = begin("dram__bytes_read.sum");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	struct made made;

	build_range(&b, 1, "step", 0, 1000);
	launch(&b, name, shape, (double[]){100, NOT_MEASURED}, 2);
	make(&made, &b, &gp_breakdown_nvtx_counter);
	assert_int_equal(gp_table_row(&made.sheet, 0)[ESTIMATE].kind, GP_VALUE_NONE);
	end(&made);
}

/* Also one that has no record; a captured launch is none. */
static void launches_without_a_record_are_kernels(void **state)
{
	struct build b = begin("dram__bytes_read.sum");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	const struct gp_value *row;
	struct made made;

	build_range(&b, 1, "step", 0, 1000);
	launch(&b, name, shape, (double[]){100, 100}, 2);
	build_call(&b, 1, BUILD_LAUNCH, 500, 5, 99);
	build_call(&b, 1, BUILD_LAUNCH, 600, 5, 100)->captured = true;
	make(&made, &b, &gp_breakdown_nvtx_counter);
	row = gp_table_row(&made.sheet, 0);
	assert_int_equal(row[KERNELS].whole, 3);
	assert_int_equal(row[MEASURED].whole, 2);
	assert_int_equal(row[ESTIMATE].kind, GP_VALUE_NONE);
	end(&made);
}

/* The sum of shares means nothing: the value of the range is their mean. */
static void shares_have_a_mean(void **state)
{
	struct build b = begin("sm__warps_active.avg.pct_of_peak_sustained_active");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	const struct gp_value *row;
	struct made made;

	build_range(&b, 1, "step", 0, 1000);
	launch(&b, name, shape, (double[]){40, 60}, 2);
	make(&made, &b, &gp_breakdown_nvtx_counter);
	row = gp_table_row(&made.sheet, 0);
	assert_int_equal(row[SUM].kind, GP_VALUE_NONE);
	expect_real(&row[AVG], 50);
	expect_real(&row[ESTIMATE], 50);
	end(&made);
}

static void the_values_alone_are_for_other_programs(void **state)
{
	struct build b = begin("dram__bytes_read.sum");
	uint32_t name = build_name(&b, "copy"), shape = build_shape(&b, 4, 32);
	const struct gp_value *row;
	struct made made;

	build_range(&b, 1, "step", 0, 1000);
	launch(&b, name, shape, (double[]){100, 300}, 2);
	make(&made, &b, &gp_breakdown_nvtx_value);
	row = gp_table_row(&made.sheet, 0);
	assert_string_equal(row[0].text, "step");
	assert_string_equal(row[1].text, "dram__bytes_read.sum");
	expect_real(&row[2], 400);
	assert_string_equal(row[3].text, "byte");
	expect_real(&row[4], 0);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kernels_of_a_range_are_measured),
		cmocka_unit_test(a_part_is_measured_of_each_kernel),
		cmocka_unit_test(one_value_of_several_launches_is_no_estimate),
		cmocka_unit_test(launches_without_a_record_are_kernels),
		cmocka_unit_test(shares_have_a_mean),
		cmocka_unit_test(the_values_alone_are_for_other_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

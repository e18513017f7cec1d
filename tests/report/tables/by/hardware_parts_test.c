/* Activity by range, phase, part and step, of samples whose levels are known. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/device/hw_metrics.h"
#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

#define MS    1000000u
#define US    1000u
#define STEPS 6u

/* A kernel that a range launches as it begins. */
static void add_kernel(struct build *b, const char *range, uint64_t launch_ns, uint64_t start_ns,
		       uint64_t end_ns)
{
	uint32_t id = b->model->op_count + 1;

	build_range(b, 100, range, launch_ns, launch_ns + 10 * US);
	build_call(b, 100, BUILD_LAUNCH, launch_ns, US, id);
	build_op(b, GP_OP_KERNEL, 7, start_ns, end_ns, id)->name = 0;
}

/*
 * Steps of 10 ms: the kernel of the forward pass from 1 to 3 ms with 60 % of the SMs, that of the
 * backward pass from 3 to 7.5 ms with all.
 */
static struct gp_model *make(void)
{
	static const double percent[] = {0, 60, 60, 100, 100, 100, 100, 50, 0, 0};
	struct build b = build_begin(42);

	build_device(&b, 0, "GPU");
	build_name(&b, "k");
	for (uint64_t at_ns = 0; at_ns < STEPS * 10 * MS; at_ns += 10 * MS) {
		build_range(&b, 100, "step", at_ns, at_ns + 9 * MS);
		add_kernel(&b, "forward", at_ns, at_ns + MS, at_ns + 3 * MS);
		add_kernel(&b, "backward", at_ns + 400 * US, at_ns + 3 * MS, at_ns + 15 * MS / 2);
	}
	for (uint64_t i = 0; i < STEPS * 10; i++) {
		uint32_t at = BUILD_GROW(&b, hw_samples, hw_sample_count);

		b.model->hw_samples[at] = (struct gp_record_hw_sample){
			.start_ns = i * MS,
			.end_ns = (i + 1) * MS,
			.absent = ~(1u << GP_HW_SM_ACTIVE),
			.value = {[GP_HW_SM_ACTIVE] = (uint64_t)(1000 * percent[i % 10])}};
	}
	return build_end(&b);
}

struct expected {
	const char *key; /* the text in the last column, or before it */
	double total_ms, percent, error;
};

static double real_of(const struct gp_table *table, const struct gp_value *row, const char *title)
{
	const struct gp_value *value = &row[gp_table_find_column(table->head, title)];

	return value->kind == GP_VALUE_WHOLE ? (double)value->whole : value->real;
}

static void expect_rows(const struct gp_breakdown *breakdown, const char *key,
			const struct expected *expected, size_t count)
{
	struct gp_model *model = make();
	struct gp_scope scope;
	struct gp_table table;

	assert_int_equal(gp_scope_open(&scope, &model, 1, false), 0);
	assert_int_equal(gp_breakdown_make(breakdown, &scope, &table), 0);
	assert_int_equal(gp_table_rows(&table), count);
	for (size_t i = 0; i < count; i++) {
		const struct gp_value *row = gp_table_row(&table, i);

		assert_string_equal(row[gp_table_find_column(table.head, key)].text,
				    expected[i].key);
		assert_float_equal(real_of(&table, row, "Total") / MS, expected[i].total_ms, 1e-9);
		assert_float_equal(real_of(&table, row, "Covered") / MS, expected[i].total_ms,
				   1e-9);
		assert_float_equal(real_of(&table, row, "SM"), expected[i].percent, 1e-9);
		assert_float_equal(real_of(&table, row, "SM error"), expected[i].error, 1e-9);
		assert_int_equal(row[gp_table_find_column(table.head, "L2")].kind, GP_VALUE_NONE);
	}
	gp_table_close(&table);
	gp_scope_close(&scope);
	gp_model_free(model);
}

/* The last sample of the backward pass is cut: its 50 % may be all inside, as they are. */
static void ranges_have_the_times_of_their_operations(void **state)
{
	const struct expected rows[] = {
		{"step", STEPS * 6.5, (2 * 60 + 4 * 100 + 0.5 * 50) / 6.5, 25 / 6.5},
		{"backward", STEPS * 4.5, (4 * 100 + 0.5 * 50) / 4.5, 25 / 4.5},
		{"forward", STEPS * 2.0, 60, 0},
	};

	expect_rows(&gp_breakdown_hw_range, "Range", rows, COUNT(rows));
}

static void phases_have_the_times_of_their_operations(void **state)
{
	const struct expected rows[] = {
		{"backward", STEPS * 4.5, (4 * 100 + 0.5 * 50) / 4.5, 25 / 4.5},
		{"forward", STEPS * 2.0, 60, 0},
	};

	expect_rows(&gp_breakdown_hw_phase, "Phase", rows, COUNT(rows));
}

/* Step by step the edges cut no sample; the last step ends with its range. */
static void steps_have_all_of_their_time(void **state)
{
	const double step = (2 * 60 + 4 * 100 + 50) / 10.0;
	struct expected rows[STEPS];

	for (size_t i = 0; i < STEPS; i++)
		rows[i] = (struct expected){"steady", 10, step, 0};
	rows[STEPS - 1] = (struct expected){"steady", 9, 10 * step / 9, 0};
	expect_rows(&gp_breakdown_hw_step, "Part", rows, COUNT(rows));
	rows[0] = (struct expected){"steady", STEPS * 10 - 1, STEPS * 10 * step / (STEPS * 10 - 1),
				    0};
	expect_rows(&gp_breakdown_hw_part, "Part", rows, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_have_the_times_of_their_operations),
		cmocka_unit_test(phases_have_the_times_of_their_operations),
		cmocka_unit_test(steps_have_all_of_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "report/tables/breakdown.h"
#include "tests/report/model_builder.h"

enum { COUNT, KERNELS, RANGE = 11, NAMES };

/* A range on thread 1, which launches those kernels one after the other. */
static void launch(struct build *b, const uint32_t *names, uint32_t count)
{
	uint64_t at_ns = 1000 * ((uint64_t)b->model->range_count + 1);
	uint32_t correlation = 100 * b->model->range_count + 1;

	build_range(b, 1, "step", at_ns, at_ns + 900);
	for (uint32_t i = 0; i < count; i++, correlation++, at_ns += 10) {
		build_call(b, 1, BUILD_LAUNCH, at_ns, 5, correlation);
		build_op(b, GP_OP_KERNEL, 7, at_ns + 5, at_ns + 9, correlation)->name = names[i];
	}
}

static void look(struct gp_model **model, struct gp_scope *scope, struct gp_table *sheet)
{
	assert_int_equal(gp_scope_open(scope, model, 1, true), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_nvtx_launch, scope, sheet), 0);
}

static void forget(struct gp_model *model, struct gp_scope *scope, struct gp_table *sheet)
{
	gp_table_close(sheet);
	gp_scope_close(scope);
	gp_model_free(model);
}

static void sequences_that_differ_late_are_two_rows(void **state)
{
	struct build b = build_begin(1);
	uint32_t a = build_name(&b, "first"), z = build_name(&b, "last");
	const uint32_t names[][10] = {{a, a, a, a, a, a, a, a, a, a},
				      {a, a, a, a, a, a, a, a, a, z},
				      {a, a, a, a, a, a, a, a, a, a}};
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;

	for (size_t i = 0; i < 3; i++)
		launch(&b, names[i], 10);
	model = build_end(&b);
	look(&model, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		assert_int_equal(row[COUNT].whole, 2 - i);
		assert_int_equal(row[KERNELS].whole, 10 * (2 - i));
		assert_string_equal(row[NAMES].text, "first (8 times) > 2 more");
	}
	forget(model, &scope, &sheet);
}

static void long_names_are_whole(void **state)
{
	struct build b = build_begin(1);
	char long_name[1001], other_name[1001], expected[2100];
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;
	uint32_t names[9];

	memset(long_name, 'x', 1000);
	memset(other_name, 'y', 1000);
	long_name[1000] = other_name[1000] = '\0';
	names[0] = build_name(&b, long_name);
	names[1] = build_name(&b, other_name);
	for (size_t i = 2; i < 9; i++)
		names[i] = names[0];
	launch(&b, names, 9);
	model = build_end(&b);
	look(&model, &scope, &sheet);
	assert_int_equal(gp_table_rows(&sheet), 1);
	snprintf(expected, sizeof(expected), "%s > %s > ", long_name, other_name);
	assert_int_equal(strncmp(gp_table_row(&sheet, 0)[NAMES].text, expected, strlen(expected)),
			 0);
	assert_non_null(strstr(gp_table_row(&sheet, 0)[NAMES].text, " (6 times) > 1 more"));
	forget(model, &scope, &sheet);
}

/*
 * Around 50,000 launches are 20,000 ranges that go on: to look at each of them for each launch
 * takes 7 s, at the innermost one 20 ms.
 */
static void deep_ranges_take_no_time(void **state)
{
	enum { DEPTH = 20000, LAUNCHES = 50000 };
	struct build b = build_begin(1);
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;
	uint32_t name = build_name(&b, "kernel");
	clock_t before;

	for (uint32_t i = 0; i < DEPTH; i++)
		build_range(&b, 1, "deep", i, 10000000 - i);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		uint64_t at_ns = DEPTH + 10 * (uint64_t)i;

		build_call(&b, 1, BUILD_LAUNCH, at_ns, 5, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 5, at_ns + 9, i + 1)->name = name;
	}
	model = build_end(&b);
	before = clock();
	look(&model, &scope, &sheet);
	assert_true(clock() - before < 3 * CLOCKS_PER_SEC);
	assert_int_equal(gp_table_rows(&sheet), 1);
	assert_int_equal(gp_table_row(&sheet, 0)[KERNELS].whole, LAUNCHES);
	forget(model, &scope, &sheet);
}

/*
 * "inner" launches a and z within "outer", which launches a before and z after it; then "outer"
 * does the same by itself.
 */
static void ranges_have_what_those_within_them_launch(void **state)
{
	enum { SEQUENCE_RANGE = 6, SEQUENCE_NAMES };
	static const uint64_t calls_ns[] = {1010, 1030, 1040, 1060, 2010, 2030, 2040, 2060};
	struct build b = build_begin(1);
	uint32_t names[] = {build_name(&b, "a"), build_name(&b, "z")};
	struct gp_model *model;
	struct gp_scope scope;
	struct gp_table sheet;

	build_range(&b, 1, "outer", 1000, 1100);
	build_range(&b, 1, "inner", 1020, 1050);
	build_range(&b, 1, "outer", 2000, 2100);
	for (uint32_t i = 0; i < 8; i++) {
		static const uint8_t order[] = {0, 0, 1, 1};

		build_call(&b, 1, BUILD_LAUNCH, calls_ns[i], 5, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, calls_ns[i] + 5, calls_ns[i] + 9, i + 1)->name =
			names[order[i % 4]];
	}
	model = build_end(&b);
	assert_int_equal(gp_scope_open(&scope, &model, 1, true), 0);
	assert_int_equal(gp_breakdown_make(&gp_breakdown_nvtx_sequence, &scope, &sheet), 0);
	assert_int_equal(gp_table_rows(&sheet), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct gp_value *row = gp_table_row(&sheet, i);

		assert_int_equal(row[COUNT].whole, 2 - i);
		assert_int_equal(row[KERNELS].whole, i == 0 ? 8 : 2);
		assert_string_equal(row[SEQUENCE_RANGE].text, i == 0 ? "outer" : "inner");
		assert_string_equal(row[SEQUENCE_NAMES].text,
				    i == 0 ? "a (2 times) > z (2 times)" : "a > z");
	}
	forget(model, &scope, &sheet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_that_differ_late_are_two_rows),
		cmocka_unit_test(long_names_are_whole),
		cmocka_unit_test(deep_ranges_take_no_time),
		cmocka_unit_test(ranges_have_what_those_within_them_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

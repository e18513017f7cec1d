#include "tests/unit.h"

#include <string.h>

#include "report/document/table.h"

static const struct gp_table_column columns[] = {
	{"Total", GP_UNIT_NS},
	{"Avg", GP_UNIT_NS},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"test", "Test", columns, 3};

static struct gp_table make(void)
{
	struct gp_table sheet;

	gp_table_open(&sheet, &head);
	gp_table_cell(&sheet, gp_value_whole(5));
	gp_table_cell(&sheet, gp_value_real(0.5));
	gp_table_cell(&sheet, gp_value_text("b"));
	gp_table_cell(&sheet, gp_value_whole(UINT64_MAX));
	gp_table_cell(&sheet, gp_value_none());
	gp_table_cell(&sheet, gp_value_text("c"));
	gp_table_cell(&sheet, gp_value_whole(5));
	gp_table_cell(&sheet, gp_value_real(1.5));
	gp_table_cell(&sheet, gp_value_text("a"));
	return sheet;
}

static void expect_order(const struct gp_table *sheet, const char *names)
{
	assert_int_equal(gp_table_rows(sheet), strlen(names));
	for (size_t i = 0; names[i]; i++)
		assert_int_equal(gp_table_row(sheet, i)[2].text[0], names[i]);
}

static void rows_are_sorted_by_a_column_and_then_the_others(void **state)
{
	struct gp_table sheet = make();

	assert_int_equal(gp_table_sort(&sheet, 0), 0);
	expect_order(&sheet, "cab");
	assert_int_equal(gp_table_sort(&sheet, 1), 0);
	expect_order(&sheet, "abc");
	assert_int_equal(gp_table_sort(&sheet, 2), 0);
	expect_order(&sheet, "abc");
	gp_table_close(&sheet);
}

static void columns_are_found_in_any_case(void **state)
{
	assert_int_equal(gp_table_find_column(&head, "name"), 2);
	assert_int_equal(gp_table_find_column(&head, "TOTAL"), 0);
	assert_int_equal(gp_table_find_column(&head, "Tot"), 3);
}

static void shares_and_rates_of_nothing_are_absent(void **state)
{
	assert_int_equal(gp_value_percent(1, 0).kind, GP_VALUE_NONE);
	assert_true(gp_value_percent(1, 8).real == 12.5);
	assert_int_equal(gp_value_rate(1, 0).kind, GP_VALUE_NONE);
	assert_true(gp_value_rate(3000, 2000).real == 1.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sorted_by_a_column_and_then_the_others),
		cmocka_unit_test(columns_are_found_in_any_case),
		cmocka_unit_test(shares_and_rates_of_nothing_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

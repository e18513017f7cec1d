/* table_sum: rows of several processes become those of all their values together. */
#include "tests/unit.h"

#include <math.h>
#include <string.h>

#include "report/document/table_sum.h"

static const struct gp_table_column columns[] = {
	{"Time %", GP_UNIT_PERCENT}, {"Total", GP_UNIT_NS},    {"Count", GP_UNIT_COUNT},
	{"Untimed", GP_UNIT_COUNT},  {"Avg", GP_UNIT_NS},      {"Med", GP_UNIT_NS},
	{"Min", GP_UNIT_NS},         {"Max", GP_UNIT_NS},      {"StdDev", GP_UNIT_NS},
	{"GB/s", GP_UNIT_GB_PER_S},  {"Code", GP_UNIT_NUMBER}, {"Name", GP_UNIT_TEXT},
};

enum { SHARE, TOTAL, ADDED, UNTIMED, AVG, MED, MIN, MAX, DEVIATION, RATE, CODE, NAME };

static const struct gp_table_head head = {"test", "Test", columns, NAME + 1};

/* The row of so many values, the last `untimed` of which have no time. */
struct row {
	const char *name;
	uint64_t code, untimed;
	double rate;
	uint64_t values[4];
	size_t count;
};

static void put(struct gp_table *table, const struct row *row)
{
	struct gp_stats stats = gp_stats_of(row->values, row->count);

	gp_table_cell(table, gp_value_none());
	gp_table_put_whole(table, stats.total);
	gp_table_put_whole(table, row->count + row->untimed);
	gp_table_put_whole(table, row->untimed);
	gp_table_put_real(table, stats.mean);
	gp_table_put_real(table, stats.median);
	gp_table_put_whole(table, stats.min);
	gp_table_put_whole(table, stats.max);
	gp_table_put_real(table, stats.deviation);
	gp_table_put_real(table, row->rate);
	gp_table_put_whole(table, row->code);
	gp_table_put_text(table, row->name);
}

static void add(struct gp_table_sum *sum, const struct row *rows, size_t count)
{
	struct gp_table table;

	gp_table_open(&table, &head);
	for (size_t i = 0; i < count; i++)
		put(&table, &rows[i]);
	gp_table_sum_add(sum, &table);
	gp_table_close(&table);
}

static double number(const struct gp_table_sum *sum, size_t row, size_t column)
{
	const struct gp_value *value = &gp_table_row(&sum->table, row)[column];

	assert_int_not_equal(value->kind, GP_VALUE_NONE);
	return value->kind == GP_VALUE_WHOLE ? (double)value->whole : value->real;
}

static void expect_near(double value, double expected)
{
	assert_true(fabs(value - expected) < 1e-9);
}

static void rows_with_equal_texts_and_numbers_become_one(void **state)
{
	static const struct row first[] = {{"a", 1, 0, 5, {10, 20, 60}, 3}, {"a", 2, 0, 5, {1}, 1}};
	static const struct row second[] = {{"a", 1, 2, 7, {40}, 1}, {"b", 1, 0, 5, {9}, 1}};
	static const uint64_t together[] = {10, 20, 60, 40};
	struct gp_stats stats = gp_stats_of(together, 4);
	struct gp_table_sum sum = {0};

	(void)state;
	add(&sum, first, 2);
	add(&sum, second, 2);
	gp_table_sum_end(&sum);
	assert_int_equal(gp_table_rows(&sum.table), 3);
	expect_near(number(&sum, 0, TOTAL), 130);
	expect_near(number(&sum, 0, ADDED), 6);
	expect_near(number(&sum, 0, UNTIMED), 2);
	expect_near(number(&sum, 0, AVG), stats.mean);
	expect_near(number(&sum, 0, MED), 30); /* of 20 and 40 */
	expect_near(number(&sum, 0, MIN), 10);
	expect_near(number(&sum, 0, MAX), 60);
	expect_near(number(&sum, 0, DEVIATION), stats.deviation);
	expect_near(number(&sum, 0, SHARE), 100 * 130.0 / 140);
	assert_int_equal(gp_table_row(&sum.table, 0)[RATE].kind, GP_VALUE_NONE);
	gp_table_sum_free(&sum);
}

static void a_row_of_one_process_stays(void **state)
{
	static const struct row first[] = {{"a", 1, 0, 5, {10, 21}, 2}};
	static const struct row second[] = {{"b", 1, 0, 6, {69}, 1}};
	struct gp_table_sum sum = {0};

	(void)state;
	add(&sum, first, 1);
	add(&sum, second, 1);
	gp_table_sum_end(&sum);
	assert_int_equal(gp_table_rows(&sum.table), 2);
	expect_near(number(&sum, 0, MED), 15.5);
	expect_near(number(&sum, 0, RATE), 5);
	expect_near(number(&sum, 0, SHARE), 31);
	assert_string_equal(gp_table_row(&sum.table, 1)[NAME].text, "b");
	expect_near(number(&sum, 1, SHARE), 69);
	gp_table_sum_free(&sum);
}

/* Its head may end with it: a column was renamed. */
static void the_columns_are_those_of_the_first_process(void **state)
{
	static const struct row row = {"a", 7, 0, 5, {10}, 1};
	const struct gp_table_column rank = {"Rank", GP_UNIT_NUMBER};
	struct gp_table_sum sum = {0};
	struct gp_table table;

	(void)state;
	gp_table_open(&table, &head);
	put(&table, &row);
	assert_int_equal(gp_table_set_column(&table, CODE, &rank), 0);
	gp_table_sum_add(&sum, &table);
	gp_table_close(&table);
	gp_table_sum_end(&sum);
	assert_int_equal(gp_table_find_column(sum.table.head, "Rank"), CODE);
	expect_near(number(&sum, 0, CODE), 7);
	gp_table_sum_free(&sum);
}

static void without_processes_there_is_no_table(void **state)
{
	struct gp_table_sum sum = {0};

	(void)state;
	gp_table_sum_end(&sum);
	assert_null(sum.table.head);
	gp_table_sum_free(&sum);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_with_equal_texts_and_numbers_become_one),
		cmocka_unit_test(a_row_of_one_process_stays),
		cmocka_unit_test(the_columns_are_those_of_the_first_process),
		cmocka_unit_test(without_processes_there_is_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

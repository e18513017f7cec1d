#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/text_table.h"

static const struct gp_column columns[] = {
	{"Calls", false},
	{"Kind", true},
	{"Name", true},
};

/* Prints the cells, three a row, and compares. */
static void check(const char *const *cells, size_t count, size_t limit, const char *expected)
{
	struct gp_text_table *table = gp_text_table_new(columns, 3);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (size_t i = 0; i < count; i++)
		gp_text_table_cell(table, cells[i]);
	assert_int_equal(gp_text_table_print(table, out, limit), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	gp_text_table_free(table);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	const char *const cells[] = {"1", "a", "x", "1,234,567", "longer", "y"};

	(void)state;
	check(cells, 6, 0,
	      "      Calls  Kind    Name\n"
	      "          1  a       x\n"
	      "  1,234,567  longer  y\n");
}

static void no_rows_leave_the_titles(void **state)
{
	(void)state;
	check(NULL, 0, 0, "  Calls  Kind  Name\n");
}

static void a_row_that_is_not_complete_is_not_printed(void **state)
{
	const char *const cells[] = {"1", "a", "x", "2"};

	(void)state;
	check(cells, 4, 0,
	      "  Calls  Kind  Name\n"
	      "      1  a     x\n");
}

static void the_last_column_is_cut_at_the_limit(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};

	(void)state;
	check(cells, 3, 40,
	      "  Calls  Kind  Name\n"
	      "      1  a     0123456789abcde...tuvwxyz\n");
}

static void the_last_column_keeps_some_room_whatever_the_limit(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};

	(void)state;
	check(cells, 3, 10,
	      "  Calls  Kind  Name\n"
	      "      1  a     0123456789abcd...tuvwxyz\n");
}

static void wide_characters_count_as_two_columns(void **state)
{
	const char *const cells[] = {"1", "\xe6\xa0\xb8\xe6\xa0\xb8", "x", "2", "gr\xc3\xbcn", "y"};

	(void)state;
	check(cells, 6, 0,
	      "  Calls  Kind  Name\n"
	      "      1  \xe6\xa0\xb8\xe6\xa0\xb8  x\n"
	      "      2  gr\xc3\xbcn  y\n");
}

/*
 * Two lines, the first not much longer than the second; what comes later is folded at the same
 * places.
 */
static void a_row_that_is_too_long_is_folded_and_nothing_is_cut(void **state)
{
	static const struct gp_column wide[] = {
		{"One", false}, {"Two", false}, {"Three", true}, {"Four", false}, {"Name", true},
	};
	const char *const cells[] = {"1", "22", "three", "4",
				     "0123456789abcdefghijklmnopqrstuvwxyz0123456789"};
	struct gp_text_table *table = gp_text_table_new(wide, 5);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	gp_text_table_fold(table, 46, 0);
	for (int print = 0; print < 2; print++) {
		for (size_t i = 0; i < 5; i++)
			gp_text_table_cell(table,
					   i == 2 && print == 1 ? "this one is longer" : cells[i]);
		assert_int_equal(gp_text_table_print(table, out, 0), 0);
	}
	fclose(out);
	assert_string_equal(text, "  One  Two  Three  Four\n"
				  "      Name\n"
				  "    1   22  three     4\n"
				  "      0123456789abcdefghijklmnopqrstuvwxyz0123456789\n"
				  "    1   22  this one is longer     4\n"
				  "      0123456789abcdefghijklmnopqrstuvwxyz0123456789\n");
	free(text);
	gp_text_table_free(table);
}

static void a_row_is_folded_where_it_should_be_if_that_is_enough(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};

	(void)state;
	for (size_t limit = 37; limit > 30; limit -= 7) {
		struct gp_text_table *table = gp_text_table_new(columns, 3);
		char *text = NULL;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		gp_text_table_fold(table, limit, 1);
		for (size_t i = 0; i < 3; i++)
			gp_text_table_cell(table, cells[i]);
		assert_int_equal(gp_text_table_print(table, out, 0), 0);
		fclose(out);
		assert_string_equal(
			text, limit == 37 ? "  Calls\n"
					    "      Kind  Name\n"
					    "      1\n"
					    "      a     0123456789abcdefghijklmnopqrstuvwxyz\n"
					  : "  Calls  Kind\n"
					    "      Name\n"
					    "      1  a\n"
					    "      0123456789abcdefghijklmnopqrstuvwxyz\n");
		free(text);
		gp_text_table_free(table);
	}
}

static void a_row_that_fits_is_not_folded(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};
	struct gp_text_table *table = gp_text_table_new(columns, 3);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	gp_text_table_fold(table, 39, 1);
	for (size_t i = 0; i < 3; i++)
		gp_text_table_cell(table, cells[i]);
	assert_int_equal(gp_text_table_print(table, out, 0), 0);
	fclose(out);
	assert_string_equal(text, "  Calls  Kind  Name\n"
				  "      1  a     0123456789abcdefghijklmnopqrstuvwxyz\n");
	free(text);
	gp_text_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
		cmocka_unit_test(no_rows_leave_the_titles),
		cmocka_unit_test(a_row_that_is_not_complete_is_not_printed),
		cmocka_unit_test(the_last_column_is_cut_at_the_limit),
		cmocka_unit_test(the_last_column_keeps_some_room_whatever_the_limit),
		cmocka_unit_test(wide_characters_count_as_two_columns),
		cmocka_unit_test(a_row_that_is_too_long_is_folded_and_nothing_is_cut),
		cmocka_unit_test(a_row_is_folded_where_it_should_be_if_that_is_enough),
		cmocka_unit_test(a_row_that_fits_is_not_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

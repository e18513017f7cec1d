#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/document/table_writer.h"

/* Tables as aligned text: widths, the last column, folded rows. */

static const struct gp_table_column columns[] = {
	{"Calls", GP_UNIT_NUMBER},
	{"Kind", GP_UNIT_TEXT},
	{"Name", GP_UNIT_TEXT},
};

static const struct gp_table_head head = {"test", NULL, columns, COUNT(columns)};

/* Prints the cells, three a row, and compares. */
static void check(const char *const *cells, size_t count, size_t limit, const char *expected)
{
	struct gp_table table;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_table_open(&table, &head);
	for (size_t i = 0; i < count; i++)
		gp_table_put_text(&table, cells[i]);
	assert_int_equal(gp_table_print(&table, out, limit), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	gp_table_close(&table);
}

/* The same of folded rows, printed as they come. */
static void check_folded(const struct gp_table_head *of, const struct gp_value *rows, size_t count,
			 size_t limit, size_t before, const char *expected)
{
	struct gp_table_writer writer;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_table_writer_open(&writer, &gp_table_text, out, false);
	writer.text_columns = limit;
	writer.text_fold_before = before;
	gp_table_writer_begin(&writer, of);
	for (size_t i = 0; i < count; i++)
		gp_table_writer_row(&writer, rows + i * of->column_count);
	gp_table_writer_end(&writer);
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
	const char *const cells[] = {"1", "a", "x", "1,234,567", "longer", "y"};

	check(cells, 6, 0,
	      "      Calls  Kind    Name\n"
	      "          1  a       x\n"
	      "  1,234,567  longer  y\n");
}

static void no_rows_leave_the_titles(void **state)
{
	check(NULL, 0, 0, "  Calls  Kind  Name\n");
}

static void a_row_that_is_not_complete_is_not_printed(void **state)
{
	const char *const cells[] = {"1", "a", "x", "2"};

	check(cells, 4, 0,
	      "  Calls  Kind  Name\n"
	      "      1  a     x\n");
}

static void the_last_column_is_cut_at_the_limit(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};

	check(cells, 3, 40,
	      "  Calls  Kind  Name\n"
	      "      1  a     0123456789abcde...tuvwxyz\n");
}

static void the_last_column_keeps_some_room_whatever_the_limit(void **state)
{
	const char *const cells[] = {"1", "a", "0123456789abcdefghijklmnopqrstuvwxyz"};

	check(cells, 3, 10,
	      "  Calls  Kind  Name\n"
	      "      1  a     0123456789abcd...tuvwxyz\n");
}

static void wide_characters_count_as_two_columns(void **state)
{
	const char *const cells[] = {"1", "\xe6\xa0\xb8\xe6\xa0\xb8", "x", "2", "gr\xc3\xbcn", "y"};

	check(cells, 6, 0,
	      "  Calls  Kind  Name\n"
	      "      1  \xe6\xa0\xb8\xe6\xa0\xb8  x\n"
	      "      2  gr\xc3\xbcn  y\n");
}

/* Two lines, the first not much longer than the second. */
static void a_row_that_is_too_long_is_folded_and_nothing_is_cut(void **state)
{
	static const struct gp_table_column wide[] = {
		{"One", GP_UNIT_NUMBER},  {"Two", GP_UNIT_NUMBER}, {"Three", GP_UNIT_TEXT},
		{"Four", GP_UNIT_NUMBER}, {"Name", GP_UNIT_TEXT},
	};
	static const struct gp_table_head wide_head = {"test", NULL, wide, COUNT(wide)};
	const struct gp_value row[] = {
		gp_value_whole(1),
		gp_value_whole(22),
		gp_value_text("three"),
		gp_value_whole(4),
		gp_value_text("0123456789abcdefghijklmnopqrstuvwxyz0123456789"),
	};

	check_folded(&wide_head, row, 1, 46, 0,
		     "  One  Two  Three  Four\n"
		     "      Name\n"
		     "    1   22  three     4\n"
		     "      0123456789abcdefghijklmnopqrstuvwxyz0123456789\n");
}

/* The rows behind the first thousand stand below them, folded at the same places. */
static void later_rows_are_folded_like_the_first_and_may_be_wider(void **state)
{
	enum { ROWS = 1001 };
	struct gp_table_writer writer;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_table_writer_open(&writer, &gp_table_text, out, false);
	writer.text_columns = 20;
	gp_table_writer_begin(&writer, &head);
	for (size_t i = 0; i < ROWS; i++) {
		const struct gp_value row[] = {
			gp_value_whole(1), gp_value_text(i + 1 < ROWS ? "a" : "this one is longer"),
			gp_value_text("0123456789")};

		gp_table_writer_row(&writer, row);
	}
	gp_table_writer_end(&writer);
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	assert_non_null(strstr(text, "  Calls  Kind\n      Name\n      1  a\n      0123456789\n"));
	assert_string_equal(strstr(text, "      1  this"),
			    "      1  this one is longer\n      0123456789\n");
	free(text);
}

static const struct gp_value long_row[] = {
	{.kind = GP_VALUE_WHOLE, .whole = 1},
	{.kind = GP_VALUE_TEXT, .text = "a"},
	{.kind = GP_VALUE_TEXT, .text = "0123456789abcdefghijklmnopqrstuvwxyz"},
};

static void a_row_is_folded_where_it_should_be_if_that_is_enough(void **state)
{
	check_folded(&head, long_row, 1, 37, 1,
		     "  Calls\n"
		     "      Kind  Name\n"
		     "      1\n"
		     "      a     0123456789abcdefghijklmnopqrstuvwxyz\n");
	check_folded(&head, long_row, 1, 30, 1,
		     "  Calls  Kind\n"
		     "      Name\n"
		     "      1  a\n"
		     "      0123456789abcdefghijklmnopqrstuvwxyz\n");
}

static void a_row_that_fits_is_not_folded(void **state)
{
	check_folded(&head, long_row, 1, 39, 1,
		     "  Calls  Kind  Name\n"
		     "      1  a     0123456789abcdefghijklmnopqrstuvwxyz\n");
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
		cmocka_unit_test(later_rows_are_folded_like_the_first_and_may_be_wider),
		cmocka_unit_test(a_row_is_folded_where_it_should_be_if_that_is_enough),
		cmocka_unit_test(a_row_that_fits_is_not_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

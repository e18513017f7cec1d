#include "tests/unit.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/document/table_writer.h"

static const struct gp_table_column columns[] = {
	{"Time %", GP_UNIT_PERCENT}, {"Total", GP_UNIT_NS},        {"Size", GP_UNIT_BYTES},
	{"Count", GP_UNIT_COUNT},    {"Address", GP_UNIT_ADDRESS}, {"Name", GP_UNIT_TEXT},
};

#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static const struct gp_table_head head = {"test", "A test", columns, COLUMNS};

/* Names that a program may give its kernels and ranges, to do harm. */
static const char *const hostile[] = {
	"=cmd|' /C calc'!A0",
	"+1",
	"-1+1",
	"@SUM(A1)",
	"a,b\"c\"",
	"a|b",
	"a\nb\r\tc",
	"\x1b[31mred",
	"\xff\xfe",
	("\xe2\x80\xae"
	 "evil"),
	"`x` <b>*_[l](javascript:x)",
	" =1",
	"\\",
	"null",
};

#define HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

static void write_row(struct gp_table_writer *writer, const char *name)
{
	const struct gp_value values[COLUMNS] = {
		gp_value_real(33.3333333), gp_value_whole(1234567), gp_value_real(2048.5),
		gp_value_whole(12345678),  gp_value_whole(0x7f00),  gp_value_text(name),
	};

	gp_table_writer_row(writer, values);
}

/* The sheet with those names, so many times. */
static char *write_names(const struct gp_table_format *format, const char *const *names,
			 size_t count, size_t sheets)
{
	struct gp_table_writer writer;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	gp_table_writer_open(&writer, format, out, sheets > 1);
	for (size_t s = 0; s < sheets; s++) {
		gp_table_writer_begin(&writer, &head);
		for (size_t i = 0; i < count; i++)
			write_row(&writer, names[i]);
		gp_table_writer_end(&writer);
	}
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	assert_int_equal(strlen(text), bytes);
	return text;
}

static void expect(const struct gp_table_format *format, const char *name, size_t sheets,
		   const char *expected)
{
	char *text = write_names(format, &name, 1, sheets);

	assert_string_equal(text, expected);
	free(text);
}

static void text_has_figures_for_people(void **state)
{
	expect(&gp_table_text, "add", 1,
	       "A test\n"
	       "  Time %    Total      Size       Count  Address  Name\n"
	       "    33.3  1.235ms  2.001KiB  12,345,678   0x7f00  add\n");
}

static void csv_has_raw_numbers_and_units_in_its_titles(void **state)
{
	expect(&gp_table_csv, "add", 2,
	       "Time %,Total (ns),Size (bytes),Count,Address,Name\n"
	       "33.333,1234567,2048.5,12345678,0x7f00,add\n"
	       "\n"
	       "Time %,Total (ns),Size (bytes),Count,Address,Name\n"
	       "33.333,1234567,2048.5,12345678,0x7f00,add\n");
}

static void markdown_has_a_table_with_a_heading(void **state)
{
	expect(&gp_table_markdown, "add", 1,
	       "### A test\n"
	       "\n"
	       "| Time % | Total | Size | Count | Address | Name |\n"
	       "| ---: | ---: | ---: | ---: | ---: | --- |\n"
	       "| 33.3 | 1.235ms | 2.001KiB | 12,345,678 | 0x7f00 | add |\n");
}

static void a_change_may_be_negative(void **state)
{
	static const struct {
		double value;
		enum gp_unit unit;
		const char *figure;
	} cases[] = {
		{-1234567, GP_UNIT_NS, "-1.235ms"},
		{-12.5, GP_UNIT_NS, "-12.5ns"},
		{-1234567, GP_UNIT_MOMENT, "-0.001234567s"},
		{-2048, GP_UNIT_BYTES, "-2.000KiB"},
		{-1458, GP_UNIT_COUNT, "-1,458"},
		{-99.96, GP_UNIT_PERCENT, "-100.0"},
		{-100, GP_UNIT_PERCENT, "-100.0"},
		{-99.96, GP_UNIT_CHANGE, "-100.0"},
		{-0.01, GP_UNIT_CHANGE, ">-0.1"},
		{0.01, GP_UNIT_CHANGE, "<0.1"},
		{0, GP_UNIT_CHANGE, "0.0"},
		{999.9, GP_UNIT_CHANGE, "999.9"},
		{12345, GP_UNIT_CHANGE, "x124"},
		{1e300, GP_UNIT_CHANGE, "x1,000,000,000,000,000,000"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct gp_value value = gp_value_real(cases[i].value);
		char *figure = gp_value_figure(&value, cases[i].unit);

		assert_string_equal(figure, cases[i].figure);
		free(figure);
	}
}

static void values_that_are_absent_are_shown_as_such(void **state)
{
	static const struct {
		const struct gp_table_format *format;
		const char *row;
	} cases[] = {
		{&gp_table_csv, "\n,,,,,\n"},
		{&gp_table_markdown, "\n| - | - | - | - | - | - |\n"},
		{&gp_table_text, "       -      -     -      -        -  -\n"},
		{&gp_table_json, "{\"Time %\": null, \"Total\": null, \"Size\": null, "},
	};
	const struct gp_value none[COLUMNS] = {{0}};
	size_t bytes;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_table_writer writer;
		char *text = NULL;
		FILE *out = open_memstream(&text, &bytes);

		gp_table_writer_open(&writer, cases[i].format, out, false);
		gp_table_writer_begin(&writer, &head);
		gp_table_writer_row(&writer, none);
		gp_table_writer_end(&writer);
		assert_int_equal(gp_table_writer_close(&writer), 0);
		fclose(out);
		assert_non_null(strstr(text, cases[i].row));
		free(text);
	}
}

/* ---- hostile names ---- */

/* The fields of one CSV line, by RFC 4180; returns how many. */
static size_t parse_csv(const char *line, char fields[][64], size_t limit)
{
	size_t count = 0;

	for (bool more = true; more; count++) {
		size_t used = 0;
		bool quoted = *line == '"';

		assert_true(count < limit);
		for (line += quoted; *line && (quoted || *line != ','); line++) {
			assert_true(quoted || *line != '"');
			if (quoted && *line == '"' && *++line != '"')
				break;
			fields[count][used++] = *line;
		}
		fields[count][used] = '\0';
		assert_true(*line == ',' || *line == '\0');
		more = *line++ == ',';
	}
	return count;
}

static void csv_keeps_names_in_their_field_and_out_of_formulas(void **state)
{
	char *text = write_names(&gp_table_csv, hostile, HOSTILE, 1), *line, *next = text;
	char fields[COLUMNS + 1][64];
	size_t lines = 0;

	strsep(&next, "\n");
	while ((line = strsep(&next, "\n")) && *line) {
		assert_int_equal(parse_csv(line, fields, COLUMNS + 1), COLUMNS);
		assert_null(strchr("=+-@", fields[COLUMNS - 1][0]));
		lines++;
	}
	assert_int_equal(lines, HOSTILE);
	free(text);
	text = write_names(&gp_table_csv, hostile, HOSTILE, 1);
	assert_non_null(strstr(text, ",\"a,b\"\"c\"\"\"\n"));
	assert_non_null(strstr(text, ",'-1+1\n"));
	free(text);
}

static void text_and_csv_and_markdown_are_plain_lines(void **state)
{
	static const struct {
		const struct gp_table_format *format;
		size_t lines; /* apart from the rows */
	} cases[] = {{&gp_table_text, 2}, {&gp_table_csv, 1}, {&gp_table_markdown, 4}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = write_names(cases[i].format, hostile, HOSTILE, 1);
		size_t lines = 0;

		for (const char *c = text; *c; c++) {
			assert_true(*c == '\n' || (*c >= ' ' && *c < 0x7f));
			lines += *c == '\n';
		}
		assert_int_equal(lines, HOSTILE + cases[i].lines);
		free(text);
	}
}

/* Cells end at a | that has no backslash in front; nothing in them is markup. */
static void markdown_keeps_names_in_their_cell(void **state)
{
	char *text = write_names(&gp_table_markdown, hostile, HOSTILE, 1);
	char *row = strstr(text, "| 33.3");

	for (char *line; (line = strsep(&row, "\n")) && *line;) {
		size_t bars = 0;

		for (const char *c = line; *c; c++) {
			if (*c == '\\')
				c++;
			else if (*c == '|')
				bars++;
			else
				assert_null(strchr("`*_[]<>~&$", *c));
		}
		assert_int_equal(bars, COLUMNS + 1);
	}
	free(text);
}

static void json_is_strict_and_keeps_names(void **state)
{
	static const char *const kept[] = {"=cmd|' /C calc'!A0", "a\nb\r\tc",
					   ("\xe2\x80\xae"
					    "evil")};
	char *text = write_names(&gp_table_json, hostile, HOSTILE, 1);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL), *rows, *first;

	assert_non_null(root);
	assert_string_equal(json_string_value(json_object_get(root, "report")), "test");
	assert_int_equal(json_array_size(json_object_get(root, "columns")), COLUMNS);
	first = json_array_get(json_object_get(root, "columns"), 1);
	assert_string_equal(json_string_value(json_object_get(first, "name")), "Total");
	assert_string_equal(json_string_value(json_object_get(first, "unit")), "ns");
	rows = json_object_get(root, "rows");
	assert_int_equal(json_array_size(rows), HOSTILE);
	first = json_array_get(rows, 0);
	assert_int_equal(json_integer_value(json_object_get(first, "Total")), 1234567);
	assert_true(json_real_value(json_object_get(first, "Size")) == 2048.5);
	assert_string_equal(json_string_value(json_object_get(first, "Address")), "0x7f00");
	assert_string_equal(json_string_value(json_object_get(first, "Name")), kept[0]);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 6), "Name")),
			    kept[1]);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 9), "Name")),
			    kept[2]);
	json_decref(root);
	free(text);
}

static void several_sheets_are_one_json_value(void **state)
{
	char *text = write_names(&gp_table_json, hostile, 2, 3);
	json_t *root = json_loads(text, 0, NULL);

	assert_int_equal(json_array_size(root), 3);
	json_decref(root);
	free(text);
	text = write_names(&gp_table_json, hostile, 0, 1);
	root = json_loads(text, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 0);
	json_decref(root);
	free(text);
}

static void long_text_is_written_as_it_comes(void **state)
{
	const char *const names[] = {"short", "longer than all before"};
	const struct gp_table_column two[] = {{"Kind", GP_UNIT_TEXT}, {"Name", GP_UNIT_TEXT}};
	const struct gp_table_head wide = {"wide", "Wide", two, 2};
	struct gp_table_writer writer;
	char *text = NULL, *line;
	size_t bytes, rows = 0;
	FILE *out = open_memstream(&text, &bytes);

	gp_table_writer_open(&writer, &gp_table_text, out, false);
	gp_table_writer_begin(&writer, &wide);
	for (size_t i = 0; i < 2500; i++) {
		const struct gp_value values[] = {gp_value_text(names[i >= 2400]),
						  gp_value_text("x")};

		gp_table_writer_row(&writer, values);
	}
	fflush(out);
	assert_true(bytes > 2000 * strlen("  short  x\n"));
	gp_table_writer_end(&writer);
	assert_int_equal(gp_table_writer_close(&writer), 0);
	fclose(out);
	for (char *next = text; (line = strsep(&next, "\n")) && *line; rows++)
		assert_int_equal(line[strlen(line) - 1], rows == 1 ? 'e' : rows == 0 ? 'e' : 'x');
	assert_int_equal(rows, 2502);
	free(text);
}

static void a_full_disk_is_an_error(void **state)
{
	static const struct gp_table_format *const all[] = {&gp_table_text, &gp_table_csv,
							    &gp_table_json, &gp_table_markdown};

	for (size_t i = 0; i < 4; i++) {
		FILE *full = fopen("/dev/full", "w");
		struct gp_table_writer writer;

		gp_table_writer_open(&writer, all[i], full, false);
		gp_table_writer_begin(&writer, &head);
		write_row(&writer, "x");
		gp_table_writer_end(&writer);
		assert_int_equal(gp_table_writer_close(&writer), -EIO);
		fclose(full);
	}
}

static void formats_are_found_by_name(void **state)
{
	assert_ptr_equal(gp_table_format_find("csv"), &gp_table_csv);
	assert_ptr_equal(gp_table_format_find("markdown"), &gp_table_markdown);
	assert_null(gp_table_format_find("xml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_figures_for_people),
		cmocka_unit_test(csv_has_raw_numbers_and_units_in_its_titles),
		cmocka_unit_test(markdown_has_a_table_with_a_heading),
		cmocka_unit_test(a_change_may_be_negative),
		cmocka_unit_test(values_that_are_absent_are_shown_as_such),
		cmocka_unit_test(csv_keeps_names_in_their_field_and_out_of_formulas),
		cmocka_unit_test(text_and_csv_and_markdown_are_plain_lines),
		cmocka_unit_test(markdown_keeps_names_in_their_cell),
		cmocka_unit_test(json_is_strict_and_keeps_names),
		cmocka_unit_test(several_sheets_are_one_json_value),
		cmocka_unit_test(long_text_is_written_as_it_comes),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(formats_are_found_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

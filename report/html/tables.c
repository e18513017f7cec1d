#include "report/html/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/tables/breakdown.h"
#include "report/document/table_writer.h"

/* Whether numbers of a column have decimals, even if these are 0. */
static bool is_real(const struct gp_table *table, size_t column)
{
	size_t rows = gp_table_rows(table);

	for (size_t row = 0; row < rows; row++)
		if (gp_table_row(table, row)[column].kind == GP_VALUE_REAL)
			return true;
	return false;
}

/* Each: [title, unit, whether it is text, whether it has real numbers]. */
static void put_columns(const struct gp_table *table, struct gp_json *json)
{
	const struct gp_table_head *head = table->head;

	gp_json_text(json, ",\"columns\":[");
	for (size_t i = 0; i < head->column_count; i++) {
		gp_json_string_after(json, i > 0 ? ",[" : "[", head->columns[i].title);
		gp_json_string_after(json, ",", gp_unit_name(head->columns[i].unit));
		gp_json_text(json, head->columns[i].unit == GP_UNIT_TEXT ? ",1" : ",0");
		gp_json_text(json, is_real(table, i) ? ",1]" : ",0]");
	}
	gp_json_text(json, "]");
}

/* With enough digits that the page rounds it like the text output. */
static void put_real(double real, struct gp_json *json)
{
	char text[32];

	snprintf(text, sizeof(text), "%.12g", isfinite(real) ? real : 0);
	gp_json_text(json, text);
}

static void put_value(const struct gp_value *value, struct gp_json *json)
{
	if (value->kind == GP_VALUE_TEXT)
		gp_json_string(json, value->text, strlen(value->text));
	else if (value->kind == GP_VALUE_NONE)
		gp_json_text(json, "null");
	else if (value->kind == GP_VALUE_REAL)
		put_real(value->real, json);
	else
		gp_json_text(json, gp_value_number(value).text);
}

static void put_rows(const struct gp_table *table, size_t most, struct gp_json *json)
{
	size_t rows = gp_table_rows(table);

	gp_json_text(json, ",\"rows\":[");
	for (size_t row = 0; row < rows && row < most; row++) {
		const struct gp_value *cells = gp_table_row(table, row);

		gp_json_text(json, row > 0 ? ",\n" : "\n");
		for (size_t i = 0; i < table->head->column_count; i++) {
			gp_json_text(json, i > 0 ? "," : "[");
			put_value(&cells[i], json);
		}
		gp_json_text(json, "]");
	}
	gp_json_text(json, "]");
}

/* Of these the page needs all. */
static size_t rows_of(const struct gp_breakdown *breakdown)
{
	return breakdown == &gp_breakdown_iteration || breakdown == &gp_breakdown_rank
		       ? GP_HTML_STEP_ROWS
		       : GP_HTML_TABLE_ROWS;
}

static void put_table(const struct gp_breakdown *breakdown, const struct gp_table *table,
		      struct gp_json *json)
{
	gp_json_string_after(json, "{\"word\":", breakdown->head.name);
	gp_json_string_after(json, ",\"title\":", breakdown->head.title);
	gp_json_string_after(json, ",\"help\":", breakdown->help);
	gp_json_text(json, ",\"all\":");
	gp_json_unsigned(json, gp_table_rows(table));
	gp_json_text(json, ",\"sort\":");
	gp_json_signed(json, breakdown->sort_column == GP_TABLE_AS_ADDED
				     ? -1
				     : (int64_t)breakdown->sort_column);
	put_columns(table, json);
	put_rows(table, rows_of(breakdown), json);
	gp_json_text(json, "}");
}

/* Trees are left out: the flame graph shows them. */
static bool is_tree(const struct gp_breakdown *breakdown)
{
	return breakdown == &gp_breakdown_stack || breakdown == &gp_breakdown_caller ||
	       breakdown == &gp_breakdown_stack_api;
}

int gp_html_tables(struct gp_scope *scope, struct gp_json *json)
{
	const char *separator = "[";
	int result = 0;

	for (const struct gp_breakdown *const *at = gp_breakdowns; *at && result == 0; at++) {
		struct gp_table table;

		if (is_tree(*at))
			continue;
		result = gp_breakdown_make(*at, scope, &table);
		if (result == 0 && gp_table_rows(&table) > 0) {
			gp_json_text(json, separator);
			put_table(*at, &table, json);
			separator = ",\n";
		}
		gp_table_close(&table);
	}
	gp_json_text(json, *separator == '[' ? "[]" : "]");
	return result;
}

/*
 * The table of all events (report/export/event_rows.h) as JSON lines: an object for each row,
 * without empty columns, for jq, DuckDB and scripts.
 */
#include <string.h>

#include "report/export/event_rows.h"

/* Readers use signed 64-bit numbers: a larger number becomes text. */
static void put_whole(struct gp_json *json, uint64_t whole)
{
	const char *quote = whole > INT64_MAX ? "\"" : "";

	gp_json_text(json, quote);
	gp_json_unsigned(json, whole);
	gp_json_text(json, quote);
}

static void put_value(struct gp_json *json, const struct gp_value *value, int column)
{
	if (column == GP_EVENT_FIELDS)
		gp_json_text(json, value->text);
	else if (value->kind == GP_VALUE_TEXT)
		gp_json_string(json, value->text, strlen(value->text));
	else if (gp_event_columns[column].unit == GP_UNIT_ADDRESS)
		gp_json_address(json, value->whole);
	else
		put_whole(json, value->whole);
}

static void put_row(struct gp_json *json, const struct gp_value *values, void *context)
{
	const char *separator = "{\"";

	(void)context;
	for (int i = 0; i < GP_EVENT_ROW_COLUMNS; i++) {
		if (values[i].kind == GP_VALUE_NONE)
			continue;
		gp_json_text(json, separator);
		gp_json_text(json, gp_event_columns[i].title);
		gp_json_text(json, "\":");
		put_value(json, &values[i], i);
		separator = ",\"";
	}
	gp_json_text(json, "}\n");
}

static int write_jsonl(const struct gp_export_source *source,
		       const struct gp_export_options *options, FILE *out)
{
	static const struct gp_event_format format = {.put_row = put_row};

	return gp_event_rows_write(&format, source, options, out);
}

const struct gp_exporter gp_exporter_jsonl = {
	.name = "jsonl",
	.suffix = ".jsonl",
	.help = "all events, one JSON object per line",
	.readers = "jq, DuckDB, pandas, log pipelines",
	.heeds = GP_EXPORT_PART,
	.write = write_jsonl,
};

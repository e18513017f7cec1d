/*
 * The table of all events (report/export/event_rows.h) as CSV: RFC 4180, but lines end in \n, for
 * pandas, DuckDB, R and spreadsheets.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/codec/csv_text.h"
#include "report/export/event_rows.h"

/* Uses the escapes and the buffer of gp_json. */
static void put_text(struct gp_json *csv, const char *text)
{
	size_t length = strlen(text);
	char *cell;

	if (gp_csv_is_plain(text, length)) {
		gp_json_bytes(csv, text, length);
		return;
	}
	cell = gp_csv_text(text);
	gp_json_text(csv, cell);
	free(cell);
}

static void put_value(struct gp_json *csv, const struct gp_value *value, enum gp_unit unit)
{
	char address[24];

	if (value->kind == GP_VALUE_TEXT) {
		put_text(csv, value->text);
	} else if (value->kind == GP_VALUE_WHOLE && unit == GP_UNIT_ADDRESS) {
		snprintf(address, sizeof(address), "0x%" PRIx64, value->whole);
		gp_json_text(csv, address);
	} else if (value->kind == GP_VALUE_WHOLE) {
		gp_json_unsigned(csv, value->whole);
	}
}

/* Most columns of a row are empty: write the commas between two values in one call. */
static const char commas[] = ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,";
static_assert(sizeof(commas) > GP_EVENT_ROW_COLUMNS, "enough commas");

static void put_row(struct gp_json *csv, const struct gp_value *values, void *context)
{
	size_t due = 0;

	(void)context;
	for (int i = 0; i < GP_EVENT_ROW_COLUMNS; i++) {
		if (values[i].kind != GP_VALUE_NONE) {
			gp_json_bytes(csv, commas, due);
			put_value(csv, &values[i], gp_event_columns[i].unit);
			due = 0;
		}
		due++;
	}
	gp_json_bytes(csv, commas, due - 1);
	gp_json_bytes(csv, "\n", 1);
}

static void put_titles(struct gp_json *csv)
{
	for (int i = 0; i < GP_EVENT_ROW_COLUMNS; i++) {
		gp_json_text(csv, i > 0 ? "," : "");
		gp_json_text(csv, gp_event_columns[i].title);
	}
	gp_json_text(csv, "\n");
}

static int write_csv(const struct gp_export_source *source, const struct gp_export_options *options,
		     FILE *out)
{
	static const struct gp_event_format format = {.put_titles = put_titles, .put_row = put_row};

	return gp_event_rows_write(&format, source, options, out);
}

const struct gp_exporter gp_exporter_csv = {
	.name = "csv",
	.suffix = ".csv",
	.help = "all events, one row each",
	.readers = "pandas, DuckDB, R, spreadsheets",
	.heeds = GP_EXPORT_PART,
	.write = write_csv,
};

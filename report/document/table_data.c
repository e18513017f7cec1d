/* Tables as CSV and as JSON: raw values for other programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/codec/csv_text.h"
#include "report/document/table_writer.h"

/* ---- CSV ---- */

/* False if the title contains the unit ("Time %", "GB/s"), or the unit needs no word. */
static bool shows_unit(enum gp_unit unit)
{
	return unit == GP_UNIT_NS || unit == GP_UNIT_MOMENT || unit == GP_UNIT_BYTES;
}

static void begin_csv(struct gp_table_writer *writer)
{
	const struct gp_table_head *head = writer->head;

	if (writer->tables > 0)
		fputs("\n", writer->out);
	for (size_t i = 0; i < head->column_count; i++) {
		enum gp_unit unit = head->columns[i].unit;

		fprintf(writer->out, "%s%s", i > 0 ? "," : "", head->columns[i].title);
		if (shows_unit(unit))
			fprintf(writer->out, " (%s)", gp_unit_name(unit));
	}
	fputs("\n", writer->out);
}

static void put_csv(struct gp_table_writer *writer, const struct gp_value *value, enum gp_unit unit)
{
	char *text;

	if (value->kind == GP_VALUE_NONE)
		return;
	if (unit == GP_UNIT_ADDRESS) {
		fprintf(writer->out, "0x%" PRIx64, value->whole);
	} else if (value->kind != GP_VALUE_TEXT) {
		fputs(gp_value_number(value).text, writer->out);
	} else {
		text = gp_csv_text(value->text);
		fputs(text, writer->out);
		free(text);
	}
}

static void put_csv_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	for (size_t i = 0; i < writer->head->column_count; i++) {
		if (i > 0)
			putc(',', writer->out);
		put_csv(writer, &values[i], writer->head->columns[i].unit);
	}
	putc('\n', writer->out);
}

static void end_csv(struct gp_table_writer *writer)
{
	(void)writer;
}

const struct gp_table_format gp_table_csv = {
	.name = "csv",
	.begin = begin_csv,
	.row = put_csv_row,
	.end = end_csv,
};

/* ---- JSON ---- */

static void open_json(struct gp_table_writer *writer)
{
	writer->error = gp_json_open(&writer->json, writer->out);
	if (writer->error == 0 && writer->several)
		gp_json_text(&writer->json, "[\n");
}

static void close_json(struct gp_table_writer *writer)
{
	int result;

	if (!writer->json.buffer)
		return;
	if (writer->several)
		gp_json_text(&writer->json, "]\n");
	result = gp_json_close(&writer->json);
	writer->error = writer->error < 0 ? writer->error : result;
}

static void put_string(struct gp_json *json, const char *text)
{
	gp_json_string(json, text, strlen(text));
}

static void begin_json(struct gp_table_writer *writer)
{
	struct gp_json *json = &writer->json;

	if (!json->buffer)
		return;
	gp_json_text(json, writer->tables > 0 ? ",\n{\"report\": " : "{\"report\": ");
	put_string(json, writer->head->name);
	gp_json_text(json, ", \"columns\": [");
	for (size_t i = 0; i < writer->head->column_count; i++) {
		gp_json_text(json, i > 0 ? ", {\"name\": " : "{\"name\": ");
		put_string(json, writer->head->columns[i].title);
		gp_json_text(json, ", \"unit\": ");
		put_string(json, gp_unit_name(writer->head->columns[i].unit));
		gp_json_text(json, "}");
	}
	gp_json_text(json, "], \"rows\": [");
}

static void put_json(struct gp_json *json, const struct gp_value *value, enum gp_unit unit)
{
	if (value->kind == GP_VALUE_NONE)
		gp_json_text(json, "null");
	else if (value->kind == GP_VALUE_TEXT)
		put_string(json, value->text);
	else if (unit == GP_UNIT_ADDRESS)
		gp_json_address(json, value->whole);
	else
		gp_json_text(json, gp_value_number(value).text);
}

static void put_json_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	struct gp_json *json = &writer->json;

	if (!json->buffer)
		return;
	gp_json_text(json, writer->rows > 0 ? ",\n{" : "\n{");
	for (size_t i = 0; i < writer->head->column_count; i++) {
		gp_json_text(json, i > 0 ? ", " : "");
		put_string(json, writer->head->columns[i].title);
		gp_json_text(json, ": ");
		put_json(json, &values[i], writer->head->columns[i].unit);
	}
	gp_json_text(json, "}");
}

static void end_json(struct gp_table_writer *writer)
{
	if (writer->json.buffer)
		gp_json_text(&writer->json, "]}\n");
}

void gp_table_writer_document(struct gp_table_writer *writer, const char *report,
			      const struct gp_document *document)
{
	struct gp_json *json = &writer->json;

	if (writer->error == 0)
		writer->error = document->error;
	if (!json->buffer)
		return;
	gp_json_text(json, writer->tables++ > 0 ? ",\n{\"report\": " : "{\"report\": ");
	put_string(json, report);
	gp_json_text(json, ", ");
	gp_document_write_json(document, json);
	gp_json_text(json, "}\n");
}

const struct gp_table_format gp_table_json = {
	.name = "json",
	.open = open_json,
	.close = close_json,
	.begin = begin_json,
	.row = put_json_row,
	.end = end_json,
};

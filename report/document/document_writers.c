/* Documents as JSON for programs and the page, and their sentences as text. */
#include <stdlib.h>
#include <string.h>

#include "report/base/text/paragraph.h"
#include "report/document/document.h"

#define INDENT      2
#define NEXT_INDENT 4

/* ---- JSON ---- */

static void write_value(const struct gp_document_field *field, struct gp_json *json)
{
	char digits[32];

	if (field->value.kind == GP_VALUE_NONE) {
		gp_json_text(json, "null");
	} else if (field->value.kind == GP_VALUE_TEXT) {
		gp_json_string(json, field->value.text, strlen(field->value.text));
	} else if (field->unit == GP_UNIT_FLAG) {
		gp_json_text(json, field->value.whole ? "true" : "false");
	} else if (field->unit == GP_UNIT_RATIO || field->unit == GP_UNIT_REAL) {
		snprintf(digits, sizeof(digits), field->unit == GP_UNIT_RATIO ? "%.6f" : "%.17g",
			 field->value.real);
		gp_json_text(json, digits);
	} else {
		gp_json_text(json, gp_value_number(&field->value).text);
	}
}

static void write_fields(const struct gp_fields *fields, struct gp_json *json)
{
	for (uint32_t i = 0; i < fields->count; i++) {
		gp_json_text(json, i > 0 ? ", \"" : "\"");
		gp_json_text(json, fields->fields[i].id);
		gp_json_text(json, "\": ");
		write_value(&fields->fields[i], json);
	}
}

static void write_row(const struct gp_fields *row, struct gp_json *json)
{
	if (row->count == 1 && *row->fields[0].id == '\0') {
		write_value(&row->fields[0], json);
		return;
	}
	gp_json_text(json, "{");
	write_fields(row, json);
	gp_json_text(json, "}");
}

static void write_section(const struct gp_section *section, struct gp_json *json)
{
	gp_json_text(json, "\"");
	gp_json_text(json, section->id);
	gp_json_text(json, "\": [");
	for (uint32_t i = 0; i < section->count; i++) {
		gp_json_text(json, i > 0 ? ",\n" : "\n");
		write_row(&section->rows[i], json);
	}
	gp_json_text(json, "]");
}

void gp_document_write_json(const struct gp_document *document, struct gp_json *json)
{
	write_fields(&document->facts, json);
	for (uint32_t i = 0; i < document->count; i++) {
		gp_json_text(json, i > 0 || document->facts.count > 0 ? ", " : "");
		write_section(&document->sections[i], json);
	}
}

int gp_document_write(const struct gp_document *document, FILE *out)
{
	struct gp_json json;
	int result = gp_json_open(&json, out);

	if (result < 0)
		return result;
	gp_json_text(&json, "{");
	gp_document_write_json(document, &json);
	gp_json_text(&json, "}\n");
	result = gp_json_close(&json);
	return result;
}

/* ---- text ---- */

static void print_sentence(const char *text, const char *command, size_t columns, FILE *out)
{
	const char *colon = *command ? ": " : "";
	char *sentence = NULL;

	fprintf(out, "%*s", INDENT, "");
	if (INDENT + strlen(text) + strlen(colon) + strlen(command) <= columns) {
		fprintf(out, "%s%s%s\n", text, colon, command);
		return;
	}
	if (*command)
		asprintf(&sentence, "%s:", text);
	gp_paragraph_wrap(out, sentence ? sentence : text, INDENT, NEXT_INDENT, columns);
	if (*command)
		fprintf(out, "%*s%s\n", NEXT_INDENT, "", command);
	free(sentence);
}

void gp_document_print_text(const struct gp_section *section, size_t columns, FILE *out)
{
	for (uint32_t i = 0; section && i < section->count; i++)
		print_sentence(gp_fields_text(&section->rows[i], "text"),
			       gp_fields_text(&section->rows[i], "command"), columns, out);
}

#include "report/document/document.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/memstream.h"

static void free_fields(struct gp_fields *fields)
{
	for (uint32_t i = 0; i < fields->count; i++)
		if (fields->fields[i].value.kind == GP_VALUE_TEXT)
			free((char *)fields->fields[i].value.text);
	free(fields->fields);
}

void gp_document_free(struct gp_document *document)
{
	for (uint32_t i = 0; i < document->count; i++) {
		for (uint32_t k = 0; k < document->sections[i].count; k++)
			free_fields(&document->sections[i].rows[k]);
		free(document->sections[i].rows);
	}
	free(document->sections);
	free_fields(&document->facts);
	*document = (struct gp_document){0};
}

/* Make room for one more element; a failure is kept in document->error. */
static bool grow(struct gp_document *document, void *array, uint32_t *capacity, uint32_t count,
		 size_t element_bytes)
{
	gp_array_grow(array, capacity, count, element_bytes);
	return document->error == 0;
}

void gp_document_add_section(struct gp_document *document, const char *id)
{
	grow(document, &document->sections, &document->capacity, document->count,
	     sizeof(*document->sections));
	document->sections[document->count++] = (struct gp_section){.id = id};
}

static struct gp_section *last_section(struct gp_document *document)
{
	return document->count > 0 ? &document->sections[document->count - 1] : NULL;
}

void gp_document_add_row(struct gp_document *document)
{
	struct gp_section *section = last_section(document);

	if (section) {
		grow(document, &section->rows, &section->capacity, section->count,
		     sizeof(*section->rows));
		section->rows[section->count++] = (struct gp_fields){0};
	}
}

static struct gp_fields *last_fields(struct gp_document *document)
{
	struct gp_section *section = last_section(document);

	return section && section->count > 0 ? &section->rows[section->count - 1]
					     : &document->facts;
}

static void add(struct gp_document *document, const char *id, enum gp_unit unit,
		struct gp_value value)
{
	struct gp_fields *fields = last_fields(document);

	grow(document, &fields->fields, &fields->capacity, fields->count, sizeof(*fields->fields));
	if (value.kind == GP_VALUE_TEXT)
		value.text = strdup(value.text);
	fields->fields[fields->count++] = (struct gp_document_field){id, unit, value};
}

void gp_document_add(struct gp_document *document, const char *id, enum gp_unit unit,
		     struct gp_value value)
{
	if (value.kind != GP_VALUE_NONE)
		add(document, id, unit, value);
}

void gp_document_add_unknown(struct gp_document *document, const char *id)
{
	add(document, id, GP_UNIT_NUMBER, gp_value_none());
}

void gp_document_add_number(struct gp_document *document, const char *id, enum gp_unit unit,
			    uint64_t number)
{
	gp_document_add(document, id, unit, gp_value_whole(number));
}

void gp_document_add_flag(struct gp_document *document, const char *id, bool is_so)
{
	gp_document_add(document, id, GP_UNIT_FLAG, gp_value_whole(is_so));
}

void gp_document_add_text(struct gp_document *document, const char *id, const char *text)
{
	if (text)
		gp_document_add(document, id, GP_UNIT_TEXT, gp_value_text(text));
}

void gp_document_add_words(struct gp_document *document, const char *id, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	vasprintf(&text, format, arguments);
	va_end(arguments);
	gp_document_add_text(document, id, text);
	free(text);
}

void gp_document_add_printed(struct gp_document *document, const char *id, gp_document_print *print,
			     const void *context)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	print(out, context);
	gp_memstream_close(out, &text);
	gp_document_add_text(document, id, text);
	free(text);
}

const struct gp_section *gp_document_section(const struct gp_document *document, const char *id)
{
	for (uint32_t i = 0; i < document->count; i++)
		if (strcmp(document->sections[i].id, id) == 0)
			return &document->sections[i];
	return NULL;
}

const struct gp_value *gp_fields_value(const struct gp_fields *fields, const char *id)
{
	for (uint32_t i = 0; i < fields->count; i++)
		if (strcmp(fields->fields[i].id, id) == 0)
			return &fields->fields[i].value;
	return NULL;
}

const char *gp_fields_text(const struct gp_fields *fields, const char *id)
{
	const struct gp_value *value = gp_fields_value(fields, id);

	return value && value->kind == GP_VALUE_TEXT ? value->text : "";
}

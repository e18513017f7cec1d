#include "report/advice/sentence.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/memstream.h"

static const struct gp_document_field *find(const struct gp_fields *fields, const char *id,
					    size_t length)
{
	for (uint32_t i = 0; i < fields->count; i++)
		if (strncmp(fields->fields[i].id, id, length) == 0 &&
		    fields->fields[i].id[length] == '\0')
			return &fields->fields[i];
	return NULL;
}

static bool is_set(const struct gp_document_field *field)
{
	if (field->value.kind == GP_VALUE_TEXT)
		return *field->value.text != '\0';
	if (field->value.kind == GP_VALUE_REAL)
		return field->value.real != 0;
	return field->value.whole != 0 || field->unit == GP_UNIT_NUMBER;
}

static bool is_equal(const struct gp_value *value, const char *text, size_t length)
{
	struct gp_value_number number;
	const char *own = value->text;

	if (value->kind != GP_VALUE_TEXT) {
		number = gp_value_number(value);
		own = number.text;
	}
	return strlen(own) == length && strncmp(own, text, length) == 0;
}

/* Whether the field of "id" or "id=value" is as that asks. */
static bool is_met(const struct gp_fields *fields, const char *condition, size_t length)
{
	const char *equals = memchr(condition, '=', length);
	size_t id_length = equals ? (size_t)(equals - condition) : length;
	const struct gp_document_field *field = find(fields, condition, id_length);

	if (!field)
		return false;
	return equals ? is_equal(&field->value, equals + 1, length - id_length - 1) : is_set(field);
}

static void put_value(FILE *out, const struct gp_fields *fields, const char *id, size_t length)
{
	const struct gp_document_field *field = find(fields, id, length);
	char *figure = field ? gp_value_figure(&field->value, field->unit) : NULL;

	if (figure)
		fputs(figure, out);
	free(figure);
}

/* From behind a brace to behind its end; out NULL: only whether it holds is asked. */
static const char *put_field(FILE *out, const char *at, const struct gp_fields *fields, bool *holds)
{
	size_t length = strcspn(at, "}");

	if (*at == '?' || *at == '!')
		*holds &= is_met(fields, at + 1, length - 1) == (*at == '?');
	else
		*holds &= is_met(fields, at, length);
	if (out && *at != '?' && *at != '!')
		put_value(out, fields, at, length);
	return at + length + (at[length] != '\0');
}

static const char *put_choice(FILE *out, const char *at, const struct gp_fields *fields);

/* Up to the end of the part, which is returned. */
static const char *put_part(FILE *out, const char *at, const struct gp_fields *fields, bool *holds)
{
	*holds = true;
	while (*at != '\0' && *at != '|' && *at != ']') {
		size_t length = strcspn(at, "[]{|");

		if (out)
			fprintf(out, "%.*s", (int)length, at);
		at += length;
		if (*at == '[')
			at = put_choice(out, at + 1, fields);
		else if (*at == '{')
			at = put_field(out, at + 1, fields, holds);
	}
	return at;
}

/* From behind a bracket to behind its end. */
static const char *put_choice(FILE *out, const char *at, const struct gp_fields *fields)
{
	const char *part = at;
	bool holds;

	for (;; part = at + 1) {
		at = put_part(NULL, part, fields, &holds);
		if (holds && out) {
			put_part(out, part, fields, &holds);
			out = NULL;
		}
		if (*at != '|')
			return at + (*at == ']');
	}
}

void gp_sentence_print(FILE *out, const char *sentence, const struct gp_fields *fields)
{
	bool holds;

	put_part(out, sentence, fields, &holds);
}

char *gp_sentence_text(const char *sentence, const struct gp_fields *fields)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	gp_sentence_print(out, sentence, fields);
	gp_memstream_close(out, &text);
	return text;
}

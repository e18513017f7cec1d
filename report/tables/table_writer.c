#include "report/tables/table_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/format.h"
#include "report/base/text/text.h"

static const struct gp_table_format *const formats[] = {
	&gp_table_text,
	&gp_table_csv,
	&gp_table_json,
	&gp_table_markdown,
};

static const char *const unit_names[GP_UNITS] = {
	[GP_UNIT_TEXT] = "text",      [GP_UNIT_COUNT] = "count",   [GP_UNIT_NUMBER] = "number",
	[GP_UNIT_NS] = "ns",          [GP_UNIT_BYTES] = "bytes",   [GP_UNIT_PERCENT] = "percent",
	[GP_UNIT_CHANGE] = "percent", [GP_UNIT_GB_PER_S] = "GB/s", [GP_UNIT_ADDRESS] = "address",
	[GP_UNIT_MOMENT] = "ns",
};

const struct gp_table_format *gp_table_format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	return NULL;
}

void gp_table_format_near(struct gp_did_you_mean *nearest)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		gp_did_you_mean_try(nearest, formats[i]->name);
}

const char *gp_table_unit_name(enum gp_unit unit)
{
	return unit_names[unit];
}

/* 1234.500 as 1234.5: no digits that say nothing. */
static void trim_zeros(char *text)
{
	char *end = text + strlen(text);

	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}

struct gp_table_number gp_table_number(const struct gp_value *value)
{
	struct gp_table_number number = {"0"};

	if (value->kind == GP_VALUE_WHOLE) {
		snprintf(number.text, sizeof(number.text), "%" PRIu64, value->whole);
	} else if (isfinite(value->real)) {
		/* of what is less, enough not to read as nothing */
		snprintf(number.text, sizeof(number.text),
			 fabs(value->real) < 0.001 ? "%.9f" : "%.3f", value->real);
		trim_zeros(number.text);
	}
	return number;
}

static struct gp_figure plain(const struct gp_value *value)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.31s", gp_table_number(value).text);
	return figure;
}

static struct gp_figure address_of(const struct gp_value *value)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "0x%" PRIx64, value->whole);
	return figure;
}

static struct gp_figure whole_figure(const struct gp_value *value, enum gp_unit unit)
{
	switch (unit) {
	case GP_UNIT_NS:
		return gp_format_ns(value->whole);
	case GP_UNIT_MOMENT:
		return gp_format_moment_exactly(value->whole);
	case GP_UNIT_BYTES:
		return gp_format_bytes(value->whole);
	case GP_UNIT_COUNT:
		return gp_format_count(value->whole);
	case GP_UNIT_ADDRESS:
		return address_of(value);
	default:
		return plain(value);
	}
}

static struct gp_figure real_figure(const struct gp_value *value, enum gp_unit unit)
{
	switch (unit) {
	case GP_UNIT_NS:
		return gp_format_ns_mean(value->real);
	case GP_UNIT_BYTES:
		return gp_format_bytes((uint64_t)(value->real + 0.5));
	case GP_UNIT_PERCENT:
		return gp_format_percent(value->real, 100);
	case GP_UNIT_GB_PER_S:
		return gp_format_rate(value->real);
	default:
		return plain(value);
	}
}

/* A change: the figure of its size, with a minus. */
static char *negative_figure(double size, enum gp_unit unit)
{
	const struct gp_value real = gp_value_real(size);
	bool is_whole = size == floor(size) && size < 0x1p63;
	const struct gp_value whole = gp_value_whole(is_whole ? (uint64_t)size : 0);
	char *figure;

	if (asprintf(&figure, "-%s",
		     is_whole ? whole_figure(&whole, unit).text : real_figure(&real, unit).text) <
	    0)
		return NULL;
	return figure;
}

char *gp_table_figure(const struct gp_value *value, enum gp_unit unit)
{
	if (value->kind == GP_VALUE_NONE)
		return strdup("-");
	if (value->kind == GP_VALUE_TEXT)
		return gp_text_escape(value->text);
	/* a negative share is what one differs by from another */
	if (unit == GP_UNIT_CHANGE ||
	    (unit == GP_UNIT_PERCENT && value->kind == GP_VALUE_REAL && value->real < 0))
		return strdup(gp_format_change(value->kind == GP_VALUE_WHOLE ? (double)value->whole
									     : value->real)
				      .text);
	if (value->kind == GP_VALUE_REAL && value->real < 0)
		return negative_figure(-value->real, unit);
	return strdup(value->kind == GP_VALUE_WHOLE ? whole_figure(value, unit).text
						    : real_figure(value, unit).text);
}

void gp_table_writer_open(struct gp_table_writer *writer, const struct gp_table_format *format,
			  FILE *out, bool several)
{
	*writer = (struct gp_table_writer){.format = format, .out = out, .several = several};
	if (format->open)
		format->open(writer);
}

void gp_table_writer_begin(struct gp_table_writer *writer, const struct gp_table_head *head)
{
	writer->head = head;
	writer->rows = 0;
	writer->format->begin(writer);
	writer->sheets++;
}

void gp_table_writer_row(struct gp_table_writer *writer, const struct gp_value *values)
{
	writer->format->row(writer, values);
	writer->rows++;
}

void gp_table_writer_end(struct gp_table_writer *writer)
{
	writer->format->end(writer);
}

int gp_table_writer_close(struct gp_table_writer *writer)
{
	if (writer->format->close)
		writer->format->close(writer);
	if (writer->error == 0 && (fflush(writer->out) != 0 || ferror(writer->out)))
		writer->error = -EIO;
	return writer->error;
}

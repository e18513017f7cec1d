#include "report/document/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/format.h"
#include "report/base/text/text.h"

static const char *const unit_names[GP_UNITS] = {
	[GP_UNIT_TEXT] = "text",      [GP_UNIT_COUNT] = "count",   [GP_UNIT_NUMBER] = "number",
	[GP_UNIT_NS] = "ns",          [GP_UNIT_BYTES] = "bytes",   [GP_UNIT_PERCENT] = "percent",
	[GP_UNIT_CHANGE] = "percent", [GP_UNIT_GB_PER_S] = "GB/s", [GP_UNIT_ADDRESS] = "address",
	[GP_UNIT_MOMENT] = "ns",      [GP_UNIT_OFFSET] = "ns",     [GP_UNIT_RATIO] = "ratio",
	[GP_UNIT_FLAG] = "flag",      [GP_UNIT_REAL] = "number",   [GP_UNIT_WATTS] = "W",
	[GP_UNIT_JOULES] = "J",
};

const char *gp_unit_name(enum gp_unit unit)
{
	return unit_names[unit];
}

struct gp_value gp_value_percent(double part, double whole)
{
	return whole > 0 ? gp_value_real(100 * part / whole) : gp_value_none();
}

struct gp_value gp_value_rate(uint64_t bytes, uint64_t ns)
{
	return ns > 0 ? gp_value_real((double)bytes / (double)ns) : gp_value_none();
}

struct gp_value gp_value_ratio(uint64_t part, uint64_t whole)
{
	uint64_t millionths = whole > 0 ? (uint64_t)((unsigned __int128)part * 1000000 / whole) : 0;

	return gp_value_real((double)millionths / 1e6);
}

/* 1234.500 becomes 1234.5. */
static void trim_zeros(char *text)
{
	char *end = text + strlen(text);

	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}

struct gp_value_number gp_value_number(const struct gp_value *value)
{
	struct gp_value_number number = {"0"};

	if (value->kind == GP_VALUE_WHOLE) {
		snprintf(number.text, sizeof(number.text), "%" PRIu64, value->whole);
	} else if (isfinite(value->real)) {
		/* smaller values: enough digits not to read as 0 */
		snprintf(number.text, sizeof(number.text),
			 fabs(value->real) < 0.001 ? "%.9f" : "%.3f", value->real);
		trim_zeros(number.text);
	}
	return number;
}

static struct gp_figure plain(const struct gp_value *value)
{
	struct gp_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%.31s", gp_value_number(value).text);
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
	case GP_UNIT_WATTS:
	case GP_UNIT_JOULES:
		return gp_format_rate(value->real);
	default:
		return plain(value);
	}
}

/* A negative change: the figure of its size, with a minus. */
static char *negative_figure(double size, enum gp_unit unit)
{
	const struct gp_value real = gp_value_real(size);
	bool is_whole = size == floor(size) && size < 0x1p63;
	const struct gp_value whole = gp_value_whole(is_whole ? (uint64_t)size : 0);
	char *figure;

	asprintf(&figure, "-%s",
		 is_whole ? whole_figure(&whole, unit).text : real_figure(&real, unit).text);
	return figure;
}

char *gp_value_figure(const struct gp_value *value, enum gp_unit unit)
{
	if (value->kind == GP_VALUE_NONE)
		return strdup("-");
	if (value->kind == GP_VALUE_TEXT)
		return gp_text_escape(value->text);
	/* a negative share is a difference of two shares */
	if (unit == GP_UNIT_CHANGE ||
	    (unit == GP_UNIT_PERCENT && value->kind == GP_VALUE_REAL && value->real < 0))
		return strdup(gp_format_change(value->kind == GP_VALUE_WHOLE ? (double)value->whole
									     : value->real)
				      .text);
	if (unit == GP_UNIT_OFFSET)
		return strdup(gp_format_moment(value->kind == GP_VALUE_WHOLE ? (int64_t)value->whole
									     : (int64_t)value->real)
				      .text);
	if (value->kind == GP_VALUE_REAL && value->real < 0)
		return negative_figure(-value->real, unit);
	return strdup(value->kind == GP_VALUE_WHOLE ? whole_figure(value, unit).text
						    : real_figure(value, unit).text);
}

/*
 * value: a typed value of a report, and its formatting.  A value keeps its unit (ns, bytes) in all
 * formats.
 */
#ifndef REPORT_DOCUMENT_VALUE_H
#define REPORT_DOCUMENT_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gp_unit {
	GP_UNIT_TEXT,
	GP_UNIT_COUNT,  /* of things */
	GP_UNIT_NUMBER, /* an identifier (a pid): never grouped or scaled */
	GP_UNIT_NS,
	GP_UNIT_MOMENT, /* ns relative to a start common to all rows */
	GP_UNIT_OFFSET, /* the same, shown as a distance: +1.5ms */
	GP_UNIT_BYTES,
	GP_UNIT_PERCENT,
	GP_UNIT_CHANGE,   /* percent more or less of something */
	GP_UNIT_GB_PER_S, /* 10^9 bytes per second */
	GP_UNIT_WATTS,
	GP_UNIT_JOULES,
	GP_UNIT_ADDRESS,
	GP_UNIT_RATIO, /* part of 1, to a millionth */
	GP_UNIT_REAL,  /* with all digits */
	GP_UNIT_FLAG,  /* 1 or 0 */
	GP_UNITS
};

enum gp_value_kind { GP_VALUE_NONE, GP_VALUE_WHOLE, GP_VALUE_REAL, GP_VALUE_TEXT };

struct gp_value {
	enum gp_value_kind kind;
	union {
		uint64_t whole;
		double real;
		const char *text;
	};
};

static inline struct gp_value gp_value_none(void)
{
	return (struct gp_value){.kind = GP_VALUE_NONE};
}

static inline struct gp_value gp_value_whole(uint64_t whole)
{
	return (struct gp_value){.kind = GP_VALUE_WHOLE, .whole = whole};
}

static inline struct gp_value gp_value_real(double real)
{
	return (struct gp_value){.kind = GP_VALUE_REAL, .real = real};
}

static inline struct gp_value gp_value_text(const char *text)
{
	return (struct gp_value){.kind = GP_VALUE_TEXT, .text = text};
}

static inline struct gp_value gp_value_text_or_none(const char *text)
{
	return *text ? gp_value_text(text) : gp_value_none();
}

/* A moment relative to another one; negative if before it. */
static inline struct gp_value gp_value_moment(int64_t ns)
{
	return ns < 0 ? gp_value_real((double)ns) : gp_value_whole((uint64_t)ns);
}

/* part of whole in percent; none if whole is 0. */
struct gp_value gp_value_percent(double part, double whole);

/* 10^9 bytes per second; none if ns is 0. */
struct gp_value gp_value_rate(uint64_t bytes, uint64_t ns);

/* To a millionth, rounded down; 0 if whole is 0. */
struct gp_value gp_value_ratio(uint64_t part, uint64_t whole);

/*
 * A value formatted for text and markdown; free it.  Text is escaped for a terminal.  NULL: no
 * memory.
 */
char *gp_value_figure(const struct gp_value *value, enum gp_unit unit);

/* A number formatted for CSV and JSON: all digits, at most three decimals. */
struct gp_value_number {
	char text[40];
};
struct gp_value_number gp_value_number(const struct gp_value *value);

/* "ns", "bytes", "percent", ...; "" for values without a unit. */
const char *gp_unit_name(enum gp_unit unit);

#endif

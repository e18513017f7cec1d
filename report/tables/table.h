/*
 * sheet: a report's rows with their raw values, and what the columns mean.
 *
 * Values keep their unit (ns, bytes) whatever they are printed as; how that is,
 * report/tables/table_writer.h knows.  Cells are given one after the other, row by row; text is
 * copied, as the program wrote it.
 */
#ifndef REPORT_TABLES_TABLE_H
#define REPORT_TABLES_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum gp_unit {
	GP_UNIT_TEXT,
	GP_UNIT_COUNT,  /* of things */
	GP_UNIT_NUMBER, /* a name that is a number (a pid): never grouped or scaled */
	GP_UNIT_NS,
	GP_UNIT_MOMENT, /* ns from a time that all rows count from */
	GP_UNIT_BYTES,
	GP_UNIT_PERCENT,
	GP_UNIT_CHANGE,   /* percent that there is more, or less, of something */
	GP_UNIT_GB_PER_S, /* 10^9 bytes per second */
	GP_UNIT_ADDRESS,
	GP_UNITS
};

struct gp_table_column {
	const char *title; /* unique in its sheet; without the unit, but for "Time %" and "GB/s" */
	enum gp_unit unit;
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

/* A moment, counted from another one: before that, negative. */
static inline struct gp_value gp_value_moment(int64_t ns)
{
	return ns < 0 ? gp_value_real((double)ns) : gp_value_whole((uint64_t)ns);
}

/* part of whole in percent; none of nothing. */
struct gp_value gp_value_percent(double part, double whole);

/* 10^9 bytes a second; none where no time passed. */
struct gp_value gp_value_rate(uint64_t bytes, uint64_t ns);

/* What a sheet is, apart from its rows. */
struct gp_table_head {
	const char *name;  /* one word, for programs that read it */
	const char *title; /* one line, for people */
	const struct gp_table_column *columns;
	size_t column_count;
};

struct gp_table {
	const struct gp_table_head *head;
	struct gp_value *cells;
	uint32_t cell_count, capacity;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

/* head must outlive the sheet. */
void gp_table_open(struct gp_table *sheet, const struct gp_table_head *head);
void gp_table_close(struct gp_table *sheet);

/* Append one cell.  A failure is remembered in error. */
void gp_table_cell(struct gp_table *sheet, struct gp_value value);

size_t gp_table_rows(const struct gp_table *sheet);
const struct gp_value *gp_table_row(const struct gp_table *sheet, size_t row);

/* The column of that title, in any case of its letters; column_count if there is none. */
size_t gp_table_find_column(const struct gp_table_head *head, const char *title);

#define GP_TABLE_AS_ADDED SIZE_MAX

/*
 * Order the rows by a column: numbers from the largest down, text from A on, absent values last;
 * equal ones by the other columns from the last to the first.  Nothing is done where the column is
 * GP_TABLE_AS_ADDED.  Returns 0 or -ENOMEM.
 */
int gp_table_sort(struct gp_table *sheet, size_t column);

#endif

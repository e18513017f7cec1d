/*
 * table: rows of raw values, and the titles and units of the columns.  Values keep their unit (ns,
 * bytes); report/document/table_writer.h formats them.  Cells are added row by row.  Text is copied
 * unchanged.
 */
#ifndef REPORT_DOCUMENT_TABLE_H
#define REPORT_DOCUMENT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "report/document/value.h"

struct gp_table_column {
	const char *title; /* unique in its table; without the unit, except "Time %" and "GB/s" */
	enum gp_unit unit;
};

/* A table without its rows. */
struct gp_table_head {
	const char *name;  /* one word, for programs that read it */
	const char *title; /* one line, for people; NULL = printed elsewhere */
	const struct gp_table_column *columns;
	size_t column_count;
};

struct gp_table {
	const struct gp_table_head *head;
	struct gp_table_head *own_head; /* that head, if a column was changed; else NULL */
	struct gp_value *cells;
	uint32_t cell_count, capacity;
	int error; /* 0 or the first -errno: -ENOMEM, -EOVERFLOW */
};

/* Open an empty table; head must outlive it. */
void gp_table_open(struct gp_table *table, const struct gp_table_head *head);
void gp_table_close(struct gp_table *table);

/* Append one cell.  A failure is remembered in error. */
void gp_table_cell(struct gp_table *table, struct gp_value value);

void gp_table_put_whole(struct gp_table *table, uint64_t whole);

/* Absent if it is not finite. */
void gp_table_put_real(struct gp_table *table, double real);

/* Append a text; an absent value if it is NULL or "". */
void gp_table_put_text(struct gp_table *table, const char *text);

/* Append a formatted text of at most 1,023 bytes. */
__attribute__((format(printf, 2, 3))) void gp_table_put_words(struct gp_table *table,
							      const char *format, ...);

/*
 * Gives a column another title and unit, or removes it with its cells.  Returns 0 or -ENOMEM.
 */
int gp_table_set_column(struct gp_table *table, size_t at, const struct gp_table_column *column);
int gp_table_remove_column(struct gp_table *table, size_t at);

size_t gp_table_rows(const struct gp_table *table);
const struct gp_value *gp_table_row(const struct gp_table *table, size_t row);

/* The column of that title, ignoring case; column_count if there is none. */
size_t gp_table_find_column(const struct gp_table_head *head, const char *title);

#define GP_TABLE_AS_ADDED SIZE_MAX

/*
 * Sort the rows by a column: numbers in descending order, text in ascending order, absent values
 * last; equal rows by the other columns, from the last to the first.  GP_TABLE_AS_ADDED: keep the
 * order.  Returns 0 or -ENOMEM.
 */
int gp_table_sort(struct gp_table *table, size_t column);

#endif

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

#include "report/document/value.h"

struct gp_table_column {
	const char *title; /* unique in its sheet; without the unit, but for "Time %" and "GB/s" */
	enum gp_unit unit;
};

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

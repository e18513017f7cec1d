/*
 * table: rows of text in aligned columns.
 *
 * Cells are given one after the other, row by row, already escaped; the columns are as wide as
 * their widest cell. The last column takes what is left of the line and is cut in its middle where
 * a limit is given, so that cells which differ still do (report/base/text/elide.h); or lines that
 * would be longer than that are folded, and nothing is cut.
 */
#ifndef REPORT_BASE_TEXT_TEXT_TABLE_H
#define REPORT_BASE_TEXT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/base/text/format.h"

struct gp_column {
	const char *title;
	bool left; /* aligned to the left; numbers go to the right */
};

struct gp_text_table;

/* columns must outlive the table. NULL if there is no memory. */
struct gp_text_table *gp_text_table_new(const struct gp_column *columns, size_t column_count);
void gp_text_table_free(struct gp_text_table *table);

/*
 * Before the first print: a row whose columns before the last one, and 24 of that, do not fit into
 * so many columns takes several lines, and so do the titles: the second begins with column `before`
 * where that takes no more of them (0 = they are about equally long).  The last column is whole,
 * however long it is.
 */
void gp_text_table_fold(struct gp_text_table *table, size_t max_columns, size_t before);

/* Append one cell. A failure is remembered and reported by gp_text_table_print(). */
void gp_text_table_cell(struct gp_text_table *table, const char *text);
void gp_text_table_figure(struct gp_text_table *table, struct gp_figure figure);

/*
 * Print the titles and the complete rows, indented by two columns. No line gets longer than
 * max_columns (0 = no limit, as where they are folded) as long as that leaves the last column 24.
 * Returns 0 or -ENOMEM.
 *
 * A long table may be printed in parts: the rows are gone then, and the next ones are printed below
 * them without titles, in columns that are at least as wide.
 */
int gp_text_table_print(struct gp_text_table *table, FILE *out, size_t max_columns);

#endif

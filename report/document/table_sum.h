/*
 * table_sum: the rows of a table of many processes, of which one at a time is in memory.
 *
 * Rows with equal texts and numbers become one: counts, times and bytes are added, a median is the
 * median of the processes' medians, and other values stay if all processes have the same.  Memory
 * grows with the rows, and with the processes that have a median of a row.
 */
#ifndef REPORT_DOCUMENT_TABLE_SUM_H
#define REPORT_DOCUMENT_TABLE_SUM_H

#include "report/base/group_by.h"
#include "report/document/table.h"

/* Zeroed = without processes. */
struct gp_table_sum {
	struct gp_table table; /* head NULL: there was no process */
	struct gp_groups rows; /* by what tells them apart, with the processes' medians */
};

/* Adds the rows of a process.  All processes have the same columns. */
void gp_table_sum_add(struct gp_table_sum *sum, const struct gp_table *process);

/* Sets medians and shares, after the last process. */
void gp_table_sum_end(struct gp_table_sum *sum);
void gp_table_sum_free(struct gp_table_sum *sum);

#endif

/*
 * compare: what differs between two runs, or two sets of repeated runs, A and B, as tables: counts,
 * bytes, times, kernels, other operations, API functions.  Rows are in the order of their effect,
 * the largest first.
 *
 * Values are medians over the runs.  What a change is worth, the column Differs tells: "yes" where
 * a count is the same in all runs of A and another in all of B, or a rank test finds that A and B
 * differ (5 %), "no" where it does not, "-" where there are too few runs to tell.  Of what has a
 * name, Is is "changed" where its number or occupancy differs or its time surely does, "time" where
 * nothing but its time does, perhaps by chance.
 */
#ifndef REPORT_DIFF_COMPARE_H
#define REPORT_DIFF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/diff/run_set.h"
#include "report/document/table_writer.h"

struct gp_compare_options {
	bool full_names;
	bool in_words; /* metrics, for people: else by their names */
	size_t top;    /* rows of a table; 0 = all, those of next to no effect too */
};

/*
 * Of next to no effect: a time of less than a thousandth of the larger wall time, or of the sum of
 * its table, where nothing else differs.
 */
#define GP_COMPARE_LEAST 0.001

/* The same of what Python did, where fewer looks found it in either. */
#define GP_COMPARE_LOOKS 5

struct gp_compare_result {
	size_t rows, hidden; /* written, and left out by top or for next to no effect */
};

/* Tables without a difference are left out.  Returns 0 or -ENOMEM. */
int gp_compare_write(struct gp_table_writer *writer, const struct gp_run_set *a,
		     const struct gp_run_set *b, const struct gp_compare_options *options,
		     struct gp_compare_result *result);

/*
 * What else is not the same in A and B, or is missing in one of them, and so has a part in what the
 * tables show: say() gets a line for each, without a full stop.  Returns 0 or -ENOMEM.
 */
int gp_compare_doubts(const struct gp_run_set *a, const struct gp_run_set *b,
		      void (*say)(void *context, const char *line), void *context);

#endif

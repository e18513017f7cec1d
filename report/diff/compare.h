/*
 * compare: the differences between two runs, or two sets of repeated runs, A and B, as tables:
 * counts, bytes, times, energy, kernels, other operations, API functions.  Rows are sorted by effect, the
 * largest first.
 *
 * Values are medians over the runs.  Differs says whether a change is certain: "yes" if a count has
 * one value in all runs of A and another in all runs of B, or a rank test (5 %) finds a difference;
 * "no" if it does not; "-" if there are too few runs.  For rows with a name, Is is "changed" if the
 * count or occupancy differs or the time certainly does; "time" if only the time differs, perhaps by
 * chance.
 */
#ifndef REPORT_DIFF_COMPARE_H
#define REPORT_DIFF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/diff/run_set.h"
#include "report/document/table_writer.h"

struct gp_compare_options {
	bool full_names;
	bool in_words; /* metrics by their words, for people; else by their names */
	size_t top;    /* rows of a table; 0 = all, including negligible ones */
};

/*
 * A change of time is negligible below this share of the larger wall time, or of the sum of its
 * table, if nothing else differs.
 */
#define GP_COMPARE_LEAST 0.001

/* Rows of Python code are negligible below this many samples in both A and B. */
#define GP_COMPARE_LOOKS 5

struct gp_compare_result {
	size_t rows, hidden; /* written; left out by top or as negligible */
};

/* Writes no table without a difference.  Returns 0 or -ENOMEM. */
int gp_compare_write(struct gp_table_writer *writer, const struct gp_run_set *a,
		     const struct gp_run_set *b, const struct gp_compare_options *options,
		     struct gp_compare_result *result);

/*
 * Other reasons for differences: partial runs, clocks that were lowered differently, another
 * machine, other options.  Calls say() with a line for each, without a full stop.
 */
void gp_compare_doubts(const struct gp_run_set *a, const struct gp_run_set *b,
		       void (*say)(void *context, const char *line), void *context);

#endif

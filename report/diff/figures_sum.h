/*
 * figures_sum: the figures of a run of many processes, of which one at a time is in memory.
 *
 * They are those of gp_figures_of(), but for what needs the processes together: a median is the
 * median of the processes' medians, a GPU that several of them use counts for each, and the share of
 * lowered clocks is the mean.
 */
#ifndef REPORT_DIFF_FIGURES_SUM_H
#define REPORT_DIFF_FIGURES_SUM_H

#include "report/base/group_by.h"
#include "report/diff/figures.h"

/* Zeroed = without processes. */
struct gp_figures_sum {
	double values[GP_METRICS];
	uint32_t process_count;
	struct gp_figures_extent extent; /* of all */
	double extents_ns;               /* of each process, for each of its GPUs */
	struct gp_figures main;          /* of the process with the longest main loop */
	struct gp_named_sum {
		struct gp_groups names; /* with the processes' medians as durations */
		struct gp_named_figure *rows;
		uint32_t capacity;
	} named[GP_NAMED_KINDS];
};

/* Adds a process, and frees its figures.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_figures_sum_add(struct gp_figures_sum *sum, struct gp_figures *process);

/* The figures of the run.  Returns 0 or -ENOMEM; call gp_figures_free() in either case. */
int gp_figures_sum_end(struct gp_figures_sum *sum, struct gp_figures *figures);
void gp_figures_sum_free(struct gp_figures_sum *sum);

#endif

/*
 * sampled_totals: what processes did in all, estimated from the windows of --sample.
 *
 * The estimates are of the time from the first window to the end of a process: the startup before
 * is not like the windows.  A window stands for the time around it, up to the middle of the pauses:
 * pauses after windows with many calls are longer (inject/sample_budget.h), so such windows are
 * rarer.  An operation counts for the window in which it was launched, with all of its time.
 */
#ifndef REPORT_MODEL_SUMS_SAMPLED_TOTALS_H
#define REPORT_MODEL_SUMS_SAMPLED_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "report/base/ratio_estimate.h"
#include "report/model/model.h"

enum gp_sampled_total {
	GP_SAMPLED_LAUNCHES, /* of kernels and of graphs */
	GP_SAMPLED_OPERATIONS,
	GP_SAMPLED_GPU_NS, /* of all operations, one after the other */
	GP_SAMPLED_COPIED_BYTES,
	GP_SAMPLED_WAIT_NS, /* calls that wait for the device */
	GP_SAMPLED_TOTALS
};

struct gp_sampled_extent {
	uint32_t windows;
	uint64_t recorded_ns, whole_ns; /* sums over the processes */
	uint64_t before_ns;             /* the longest time of a process before its first window */
};

/* Of the sampled ones among the models. */
struct gp_sampled_extent gp_sampled_extent_of(struct gp_model *const *models, size_t model_count);

struct gp_sampled_totals {
	struct gp_sampled_extent extent;
	struct gp_estimate totals[GP_SAMPLED_TOTALS]; /* without a window: unknown */
};

/* The same, of models that have all events.  Returns 0 or -ENOMEM. */
int gp_sampled_totals_of(struct gp_sampled_totals *totals, struct gp_model *const *models,
			 size_t model_count);

/*
 * The GPU time of the rows of a table in the whole run, in the same way: what a row has in each
 * window, 0 in most.  NULL: no memory.
 */
struct gp_sampled_rows *gp_sampled_rows_new(struct gp_model *const *models, size_t model_count);
void gp_sampled_rows_free(struct gp_sampled_rows *rows);

/* An operation of that model belongs to a row, counted from 0.  Returns 0 or -ENOMEM. */
int gp_sampled_rows_add(struct gp_sampled_rows *rows, size_t model, const struct gp_op *op,
			uint32_t row);

/* After all operations; both unknown if none of the row's processes was sampled. */
struct gp_estimate gp_sampled_rows_estimate(struct gp_sampled_rows *rows, uint32_t row);

#endif

/*
 * bounds: when iterations begin and end.
 *
 * The first operation's start is late for that: the call that copies, or that waits before it
 * launches, would be of the iteration before, and that of the first iteration of none.  One begins
 * when the host began it, with its range or with the call of its first operation, but not before
 * the GPU was done with all that it had begun to do until then: of a program that runs ahead this
 * is as late as the operation.  One that is a range lasts to the range's end, or to that of its
 * last operation where this is later.  Neither goes beyond the time that was recorded, which begins
 * with the first call.
 */
#ifndef REPORT_ANALYSIS_LOOP_BOUNDS_H
#define REPORT_ANALYSIS_LOOP_BOUNDS_H

#include "report/analysis/loop/iterations.h"
#include "report/model/model.h"

/* The call of its first operation, an index in calls; GP_NONE: by range, or not recorded. */
uint32_t gp_bounds_call(const struct gp_model *model, const struct gp_iteration *row);

/* When the host began it, which may be long before the device did. */
uint64_t gp_bounds_begun_ns(const struct gp_model *model, const struct gp_iteration *row);

/*
 * The same iterations as the host saw them: each from when the host began it to the next one; the
 * last of a stretch, and one after which recording paused, to the end of its range, if it is one.
 * Call gp_iterations_free().
 */
void gp_bounds_on_host(struct gp_iterations *host, const struct gp_iterations *iterations,
		       const struct gp_model *model);

/*
 * Of rows in the order of their starts, each from its first operation's start to its last one's
 * end.
 */
void gp_bounds_set(struct gp_iterations *iterations, const struct gp_model *model);

#endif

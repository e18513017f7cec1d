/*
 * step_change: how the step time changed from one set of runs to another, in a clause that a person
 * understands at first reading.
 */
#ifndef REPORT_DIFF_STEP_CHANGE_H
#define REPORT_DIFF_STEP_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/diff/run_set.h"

/*
 * "The step takes 25.12ms (the middle half of the steps spans 312.4us), 22.80ms before (240.1us):
 * 10.2 % slower; forward changed most: 10.30ms, 8.35ms before".  The phase only if both sets have
 * phases.  If the step time of some run is unknown, the clause says so; "" if that of all is.
 * Returns 0 or -ENOMEM.
 */
int gp_step_change_say(const struct gp_run_set *before, const struct gp_run_set *now, char *text,
		       size_t bytes);

/* Whether a step is another part of the run in each set, so that nothing of a step compares. */
void gp_step_change_is_other_work(const struct gp_run_set *before, const struct gp_run_set *now,
				  bool *is_other);

#endif

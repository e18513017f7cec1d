/*
 * lacking: the data that the runs of one side lack, because their traces do not record it. It is
 * not compared: missing data is no change of the program.
 */
#ifndef REPORT_DIFF_LACKING_H
#define REPORT_DIFF_LACKING_H

#include "report/diff/run_set.h"

/*
 * "only A has data on call stacks, memory; only B has data on energy and clocks: they are not
 * compared", or "". Free it; NULL: no memory.
 */
char *gp_lacking_tell(const struct gp_run_set *a, const struct gp_run_set *b);

/* Whether one of two numbers is unknown, and the other one is not. */
bool gp_lacking_one(double a, double b);

/* Whether the rows of that kind come from data that a trace may lack as a whole. */
bool gp_lacking_may_be(enum gp_named_kind kind);

#endif

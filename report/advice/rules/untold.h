/*
 * untold: idle time that is much of a run and of which no finding speaks: what is left of each
 * cause, where in the run it was, and in how many times.
 */
#ifndef REPORT_ADVICE_RULES_UNTOLD_H
#define REPORT_ADVICE_RULES_UNTOLD_H

#include "report/advice/advice.h"
#include "report/advice/rules/advisor.h"

/*
 * Of that device, of each cause of which a quarter of its time, and 20 ms, is told by no finding;
 * the findings are made, and the basis's idle_gaps say which they explain.  What was before the
 * first operation, or after the last, is told where a rule of these speaks.  Returns 0 or -ENOMEM.
 */
int gp_untold_find(const struct gp_advisor *advisor, size_t device, struct gp_advice *advice);

#endif

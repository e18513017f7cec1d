/* unexplained: idle time that is much of a run and that no finding explains, by cause. */
#ifndef REPORT_ADVICE_RULES_UNEXPLAINED_H
#define REPORT_ADVICE_RULES_UNEXPLAINED_H

#include "report/advice/advice.h"
#include "report/advice/rules/advisor.h"

/*
 * Puts the causes with at least a quarter of the device's time and 20 ms into advice, after its
 * findings.  The time before the first and after the last operation is explained by any finding of
 * a rule for these.
 */
void gp_unexplained_find(const struct gp_advisor *advisor, size_t device, struct gp_advice *advice);

#endif

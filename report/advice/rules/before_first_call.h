/* before_first_call: the time before the recorded time, as a one-time cost. */
#ifndef REPORT_ADVICE_RULES_BEFORE_FIRST_CALL_H
#define REPORT_ADVICE_RULES_BEFORE_FIRST_CALL_H

#include "report/advice/advice.h"
#include "report/advice/rules/advisor.h"

/*
 * Put the longest time from the start of a process to its first call into advice->before, if it is
 * notable and larger than each one-time cost of the findings.  Nothing if there is none of these.
 */
void gp_before_first_call_find(const struct gp_advisor *advisor, struct gp_advice *advice);

#endif

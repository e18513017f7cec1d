/* largest_line: the line with most GPU time of the steps, for a loop that no rule explains. */
#ifndef REPORT_ADVICE_RULES_LARGEST_LINE_H
#define REPORT_ADVICE_RULES_LARGEST_LINE_H

#include "report/advice/advice.h"
#include "report/advice/rules/advisor.h"

/*
 * Put the line of the user's code with most GPU time into advice->largest: in the steps of the
 * present process after their warm-up, with the backward pass of the line.  Nothing if none has a
 * quarter.
 */
void gp_largest_line_find(struct gp_advisor *advisor, struct gp_advice *advice);

#endif

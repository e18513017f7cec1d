/* idle_explain: the causes of idle time in words, and the means against each. */
#ifndef REPORT_ANALYSIS_IDLE_IDLE_EXPLAIN_H
#define REPORT_ANALYSIS_IDLE_IDLE_EXPLAIN_H

#include <stdio.h>

#include "report/analysis/idle/idle_cause.h"

/* The cause of that name, or GP_IDLE_CAUSES. */
enum gp_idle_cause gp_idle_cause_find(const char *name);

/* Like a rule of advice (report/advice/advice_print.h). */
void gp_idle_cause_explain(FILE *out, enum gp_idle_cause cause);

/* One a line. */
void gp_idle_causes_list(FILE *out);

#endif

/* dependency: idle times in which the next operation had been launched, but did not begin: what a user can do about them. */
#ifndef REPORT_RULES_DEPENDENCY_H
#define REPORT_RULES_DEPENDENCY_H

#include <stdio.h>

#include "report/rules/advisor.h"

/* Of a case whose idle times are mostly such: a sentence, without its end. */
void gp_dependency_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);

#endif

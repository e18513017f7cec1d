/*
 * dependency: idle times in which the next operation had been launched, but did not begin: what a
 * user can do about them.
 */
#ifndef REPORT_ADVICE_RULES_DEPENDENCY_H
#define REPORT_ADVICE_RULES_DEPENDENCY_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

/*
 * Whether a process has nothing of its own that could hold an operation back while its GPU has
 * nothing to do: each of its operations is recorded, it has one GPU, on which an event that another
 * stream waits for comes as soon as the work before it is done, and no host functions, values in
 * memory, or other processes' events that streams wait for, nor does it move managed memory, which
 * has no records by default.  Then other programs have the GPU.
 */
bool gp_dependency_is_outside(const struct gp_model *model);

/* Of a case whose idle times are mostly such: a sentence, without its end. */
void gp_dependency_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);

#endif

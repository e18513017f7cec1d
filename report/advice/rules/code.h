/* code: what the rules on loading and compiling code ask of calls. */
#ifndef REPORT_ADVICE_RULES_CODE_H
#define REPORT_ADVICE_RULES_CODE_H

#include <stdbool.h>

#include "report/advice/rules/advisor.h"

/*
 * Whether the driver compiled something during the call: of one that loads code, as there is one
 * inside a kernel's first launch.
 */
bool gp_call_compiles(const struct gp_model *model, const struct gp_call *call);

#endif

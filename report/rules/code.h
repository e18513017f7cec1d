/* code: what the rules on loading and compiling code ask of calls. */
#ifndef REPORT_RULES_CODE_H
#define REPORT_RULES_CODE_H

#include <stdbool.h>

#include "report/rules/advisor.h"

/*
 * Whether a call loads code: launches do, when their kernel is used first; then a call of that
 * class is inside.
 */
bool gp_call_loads_code(const struct gp_advisor *advisor, const struct gp_call *call);

/* Whether the driver compiled something during the call. */
bool gp_call_compiles(const struct gp_model *model, const struct gp_call *call);

#endif

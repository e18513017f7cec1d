/* code: calls that load and compile code. */
#ifndef REPORT_ADVICE_RULES_CODE_H
#define REPORT_ADVICE_RULES_CODE_H

#include <stdbool.h>

#include "report/advice/rules/advisor.h"

/* Whether the driver compiled during the call, which can be a load within a first launch. */
bool gp_call_compiles(const struct gp_model *model, const struct gp_call *call);

#endif

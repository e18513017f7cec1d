/* few_threads: kernels that need few threads by design, so that low occupancy is no defect. */
#ifndef REPORT_ADVICE_RULES_FEW_THREADS_H
#define REPORT_ADVICE_RULES_FEW_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/advice/rules/advisor.h"

/* Whether kernels of that kind keep their data in registers and shared memory. */
bool gp_kind_needs_few_threads(const struct gp_advisor *advisor, uint32_t kind);

#endif

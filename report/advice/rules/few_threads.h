/*
 * few_threads: which kernels are made so that few threads do their work, and whose occupancy says
 * nothing of them.
 */
#ifndef REPORT_ADVICE_RULES_FEW_THREADS_H
#define REPORT_ADVICE_RULES_FEW_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/advice/rules/advisor.h"

/*
 * With so many of an SM's threads most kernels hide what they wait for: more of them save no more.
 */
#define GP_ENOUGH_THREADS 0.5

/*
 * Whether kernels of that kind keep their data in registers and shared memory, and few threads
 * busy.
 */
bool gp_kind_needs_few_threads(const struct gp_advisor *advisor, uint32_t kind);

#endif

/*
 * other_programs: other programs on a GPU.  At the end of a process the driver reports how much memory of
 * each GPU is in use, by any program.
 */
#ifndef REPORT_ADVICE_RULES_OTHER_PROGRAMS_H
#define REPORT_ADVICE_RULES_OTHER_PROGRAMS_H

#include <stdint.h>

#include "report/advice/rules/advisor.h"

/*
 * The memory in use at the end of a case's process beyond the maximum of all traced processes; 0: it
 * is not more than their contexts and code can take.
 */
uint64_t gp_other_programs_bytes(const struct gp_advisor *advisor, const struct gp_case *found);

#endif

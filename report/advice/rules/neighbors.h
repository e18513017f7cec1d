/*
 * neighbors: other programs that had a GPU at the same time, as far as a trace tells: the driver
 * says at a process's end how much of each GPU's memory was in use, by whomever.
 */
#ifndef REPORT_ADVICE_RULES_NEIGHBOURS_H
#define REPORT_ADVICE_RULES_NEIGHBOURS_H

#include <stdint.h>

#include "report/advice/rules/advisor.h"

/*
 * So much of a GPU's memory was in use at the end of a case's process beyond the most that all
 * processes of the traces ever held; 0: no more than contexts, and the code in them, can take.
 */
uint64_t gp_neighbors_bytes(const struct gp_advisor *advisor, const struct gp_case *found);

#endif

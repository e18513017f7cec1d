/*
 * growth: memory that grows with the iterations of a loop until the end.
 *
 * Consecutive blocks of a call site that nobody frees, without a kernel launch in between, belong to
 * one iteration.  The memory grows if there are GP_GROWTH_ITERATIONS or more, nine in ten with the
 * same number of blocks, spread over all launches of the thread, and if few launches follow the last
 * one.  A cache that becomes full does not grow, nor does memory allocated before the work.
 *
 * Blocks are made at once if there are GP_ONCE_BLOCKS or more without a launch of any thread in
 * between, and launches follow.
 */
#ifndef REPORT_ADVICE_RULES_GROWTH_H
#define REPORT_ADVICE_RULES_GROWTH_H

#include <stdint.h>

#include "report/advice/rules/limits.h"
#include "report/model/model.h"
#include "report/symbols/call_site.h"

struct gp_growth {
	uint32_t site;   /* for gp_call_sites_at() */
	uint8_t kind;    /* enum gp_memory_kind */
	uint64_t passes; /* iterations; 1: it does not grow, but is made at once */
	uint64_t blocks; /* of an iteration */
	uint64_t bytes;  /* of all of them */
};

/* All such memory of a process that ended and whose frees are all known. Free *growths. */
void gp_growths_of(struct gp_call_sites *sites, const struct gp_model *model,
		   struct gp_growth **growths, uint32_t *count);

#endif

/*
 * growth: memory that becomes more with the passes of a loop, until the end.
 *
 * Blocks that one call site allocated and nobody freed, kernels launched between them: what was
 * allocated without one in between is of one pass; passes of the program's loop without such a
 * block are not told from others.  It grows if that was so in GP_GROWTH_PASSES passes or more, nine
 * in ten of them with the same number of blocks, spread over all the kernels that the thread
 * launched until its last, and no thread launched more kernels after them than come in two passes.
 * So a cache that is full at some time does not grow, nor does what is made before the work begins,
 * whichever threads do the one and the other.
 *
 * That is at once: GP_GROWTH_ONCE blocks or more of a call site, no kernel launched between them by
 * any thread, but some afterwards.
 */
#ifndef REPORT_ADVICE_RULES_GROWTH_H
#define REPORT_ADVICE_RULES_GROWTH_H

#include <stdint.h>

#include "report/symbols/call_site.h"
#include "report/model/model.h"

#define GP_GROWTH_PASSES 20u
#define GP_GROWTH_ONCE   16u

struct gp_growth {
	uint32_t site;   /* for gp_call_sites_at() */
	uint8_t kind;    /* enum gp_memory_kind */
	uint64_t passes; /* 1: it does not grow, it is made at once */
	uint64_t blocks; /* of a pass */
	uint64_t bytes;  /* of all of them */
};

/*
 * What grows, and what is made at once, in a process that ended, all of whose frees are known.
 * Returns 0 or -ENOMEM; *growths is to be freed in either case.
 */
int gp_growths_of(struct gp_call_sites *sites, const struct gp_model *model,
		  struct gp_growth **growths, uint32_t *count);

#endif

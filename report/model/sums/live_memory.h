/*
 * live_memory: what a running program has allocated, kept up to date from its calls.
 *
 * What is kept grows with the allocations that are in use, not with those that ever were.
 */
#ifndef REPORT_MODEL_SUMS_LIVE_MEMORY_H
#define REPORT_MODEL_SUMS_LIVE_MEMORY_H

#include <stdint.h>

#include "gpuprof/record.h"
#include "report/model/handles.h"
#include "report/model/memory_ledger.h"

/* Zeroed = nothing yet. */
struct gp_live_memory {
	struct gp_memory_ledger ledger; /* its devices are ids, its times ticks */
	void *blocks;                   /* tree: what is allocated */
	struct gp_handles handles;
	struct gp_live_memory_event *events; /* since it was settled last */
	uint32_t event_count, event_capacity;
	uint64_t unknown_frees; /* of what nobody allocated, as far as that was noted */
};

void gp_live_memory_free(struct gp_live_memory *memory);

/* Note a call, or that a context was destroyed; in any order.  Return 0, -ENOMEM or -EOVERFLOW. */
int gp_live_memory_take(struct gp_live_memory *memory, const struct gp_record_memory *record);
int gp_live_memory_end_context(struct gp_live_memory *memory,
			       const struct gp_record_context_end *record);

/*
 * Bring the rows up to date with what was noted, in the order of time.  A free whose allocation has
 * not been noted yet waits for the next time: another thread may have made it, and its records may
 * come later.  Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_live_memory_settle(struct gp_live_memory *memory);

#endif

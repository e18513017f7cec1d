/*
 * live_memory: the allocations of a running program, from its calls.
 *
 * Memory grows with the blocks in use, not with all that ever were.
 */
#ifndef REPORT_MODEL_SUMS_LIVE_MEMORY_H
#define REPORT_MODEL_SUMS_LIVE_MEMORY_H

#include <stdint.h>

#include "gpuprof/record.h"
#include "report/base/hash_map.h"
#include "report/model/handles.h"
#include "report/model/memory_ledger.h"

/* Zeroed = nothing yet. */
struct gp_live_memory {
	struct gp_memory_ledger ledger;   /* its devices are ids, its times ticks */
	void *blocks;                     /* tree: the blocks in use */
	struct gp_live_context *contexts; /* that have owned blocks */
	uint32_t context_count, context_capacity;
	struct gp_hash_map context_index; /* by id */
	struct gp_handles handles;
	struct gp_live_memory_event *events; /* since it was settled last */
	uint32_t event_count, event_capacity;
	uint64_t unknown_frees; /* without a known allocation */
};

void gp_live_memory_free(struct gp_live_memory *memory);

/* Note a call, or that a context was destroyed; in any order.  Return 0, -ENOMEM or -EOVERFLOW. */
int gp_live_memory_take(struct gp_live_memory *memory, const struct gp_record_memory *record);
int gp_live_memory_end_context(struct gp_live_memory *memory,
			       const struct gp_record_context_end *record);

/*
 * Applies the events in the order of time. A free without its allocation waits for the next call:
 * the allocation's record may come later, from another thread. Returns 0, -ENOMEM or -EOVERFLOW.
 */
int gp_live_memory_settle(struct gp_live_memory *memory);

#endif

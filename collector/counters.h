/*
 * count: the process-wide part of the counters (gp_count(), gp_count_set() of
 * collector/collector.h).  What happens in every callback is counted in the ring headers instead;
 * gp_counters_total() adds both.
 */
#ifndef COLLECTOR_COUNT_H
#define COLLECTOR_COUNT_H

#include <stdint.h>

#include "collector/arena.h"
#include "gpuprof/counter.h"

/* All counters, with what the rings' headers add. */
void gp_counters_total(const struct gp_arena *arena, uint64_t totals[GP_COUNTERS]);

/* Writer: into the first ring, so that they outlive the process. */
void gp_counters_save(const struct gp_arena *arena);

/* All to zero: in a forked child, they are its parent's. */
void gp_counters_reset(void);

#endif

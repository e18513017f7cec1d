/*
 * counters: the process-wide part of the counters (gp_count(), gp_count_set() of
 * collector/collector.h).
 *
 * Ring headers hold the counts of events in every callback instead; gp_counters_total() adds both.
 */
#ifndef COLLECTOR_COUNTERS_H
#define COLLECTOR_COUNTERS_H

#include <stdint.h>

#include "collector/arena.h"
#include "gpuprof/counter.h"

/* All counters, including the counts in the rings' headers. */
void gp_counters_total(const struct gp_arena *arena, uint64_t totals[GP_COUNTERS]);

/* GP_COUNTER_HOOKS alone. */
uint64_t gp_counters_hooks(const struct gp_arena *arena);

/* Writer: store them in the first ring, so that they outlive the process. */
void gp_counters_save(const struct gp_arena *arena);

/* Reset all to zero: in a forked child, the values are its parent's. */
void gp_counters_reset(void);

#endif

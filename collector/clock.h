/*
 * clock: the host clock of the hooks (collector/collector.h: gp_clock_ticks() and its companions)
 * and the anchors that tie it to the wall clock and to CUPTI's.
 *
 * The TSC is used where the CPU says that it is invariant and the kernel itself keeps time by it;
 * else CLOCK_MONOTONIC in ns.  The choice is made at the first use and never changes.
 */
#ifndef COLLECTOR_CLOCK_H
#define COLLECTOR_CLOCK_H

#include <stdbool.h>

#include "gpuprof/record.h"

bool gp_clock_is_tsc(void);

/* Begin to measure the rate; then wait until enough time has gone by for a useful first estimate
 * (about 1 ms). */
void gp_clock_start(void);
void gp_clock_settle(void);

/* In a forked child: never ask the parent's CUPTI. */
void gp_clock_reset(void);

/* Read all clocks: the closest of a few tries.  Writer thread only; refines
 * gp_clock_ticks_per_second(). */
void gp_clock_read_anchor(struct gp_record_anchor *anchor);

#endif

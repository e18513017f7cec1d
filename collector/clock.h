/*
 * clock: the host clock of the hooks (collector/collector.h: gp_clock_ticks() and similar) and the
 * anchors that relate it to the wall clock and to CUPTI's.
 *
 * The clock is the CPU's counter (x86-64: the TSC, if the CPU reports it as invariant; aarch64:
 * CNTVCT_EL0) if the kernel uses it for its own time; else CLOCK_MONOTONIC in ns.  The choice is
 * made at the first use and never changes.
 */
#ifndef COLLECTOR_CLOCK_H
#define COLLECTOR_CLOCK_H

#include <stdbool.h>

#include "gpuprof/record.h"

/* "monotonic", or the kernel's name of the counter: "tsc", "arch_sys_counter". */
const char *gp_clock_name(void);

/* Begin to measure the rate; then wait until a useful first estimate is possible (about 1 ms). */
void gp_clock_start(void);
void gp_clock_settle(void);

/* In a forked child: never call the parent's CUPTI. */
void gp_clock_reset(void);

/*
 * Read all clocks: the closest of a few attempts.  Writer thread only; refines
 * gp_clock_ticks_per_second().
 */
void gp_clock_read_anchor(struct gp_record_anchor *anchor);

#endif

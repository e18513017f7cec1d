/*
 * clock_sync: converts the clocks of a trace to one timeline, using its anchors (gpuprof/record.h).
 *
 * The timeline is CLOCK_MONOTONIC in ns from the first anchor; earlier times are negative. Clocks
 * run evenly between two anchors, and at their mean rate before the first and after the last. CUPTI's
 * clock, which follows the wall clock, there runs as the timeline if the error of the anchors may
 * explain a difference. If it was set between two anchors, each side keeps its own offset. Coarse
 * anchors are left out.
 */
#ifndef REPORT_TRACE_CLOCK_SYNC_H
#define REPORT_TRACE_CLOCK_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

struct gp_clock_sync;

/*
 * Builds a timeline from the anchors in file order. ticks_per_second is used if there is only one
 * anchor (less than 1 = 1e9). count is at least 1; the anchors are not kept. Returns NULL if there
 * is no memory.
 */
struct gp_clock_sync *gp_clock_sync_new(const struct gp_record_anchor *anchors, uint32_t count,
					double ticks_per_second);
void gp_clock_sync_free(struct gp_clock_sync *timeline);

/* Converts host ticks to ns on the timeline. */
int64_t gp_clock_sync_from_ticks(struct gp_clock_sync *timeline, uint64_t ticks);

/*
 * Converts CUPTI's ns to ns on the timeline. anchors_before: the number of anchors that precede the
 * record in the file; if the clock was set back, so that a time occurs twice, it decides which one
 * is meant. UINT32_MAX = unknown.
 */
int64_t gp_clock_sync_from_cupti(struct gp_clock_sync *timeline, uint64_t cupti_ns,
				 uint32_t anchors_before);

/* Unix time of 0 on the timeline. */
uint64_t gp_clock_sync_base_unix_ns(const struct gp_clock_sync *timeline);

/*
 * The number of readings in which the host's ticks contradict the monotonic clock: they went back,
 * or an interval differs from the others by 1 ms and 0.1 %. This happens if a virtual machine moves
 * to another host, or if the counters of two sockets differ.
 */
uint32_t gp_clock_sync_misfits(const struct gp_clock_sync *timeline);

/*
 * Whether no clock was set or went wrong, so that a clock's earlier time is always earlier on the
 * timeline.
 */
bool gp_clock_sync_is_even(const struct gp_clock_sync *timeline);

/* Mean ns per tick. */
double gp_clock_sync_ns_per_tick(const struct gp_clock_sync *timeline);

#endif

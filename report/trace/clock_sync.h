/*
 * timeline: the clocks of a trace brought onto one, through its anchors (gpuprof/record.h).
 *
 * The timeline is CLOCK_MONOTONIC, counted in ns from the first anchor; times before it are
 * negative. Between two anchors a clock is taken to run evenly; before the first and after the last
 * at its mean rate. Where CUPTI's clock, which follows the wall clock, was set between two anchors,
 * each side keeps its own offset.
 */
#ifndef REPORT_TRACE_CLOCK_SYNC_H
#define REPORT_TRACE_CLOCK_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

struct gp_timeline;

/*
 * Build a timeline from the anchors as they came; ticks_per_second is used where there is but one
 * (less than 1 = 1e9). count must be at least 1; the anchors are not kept. NULL: no memory.
 */
struct gp_timeline *gp_timeline_new(const struct gp_record_anchor *anchors, uint32_t count,
				    double ticks_per_second);
void gp_timeline_free(struct gp_timeline *timeline);

/* Host ticks to ns on the timeline. */
int64_t gp_timeline_from_ticks(struct gp_timeline *timeline, uint64_t ticks);

/*
 * CUPTI's ns to ns on the timeline.  anchors_before: how many anchors came before the record that
 * has this time; where the clock was set back, so that a time occurs twice, this tells which is
 * meant.  UINT32_MAX = not known.
 */
int64_t gp_timeline_from_cupti(struct gp_timeline *timeline, uint64_t cupti_ns,
			       uint32_t anchors_before);

/* Unix time of the timeline's 0. */
uint64_t gp_timeline_base_unix_ns(const struct gp_timeline *timeline);

/*
 * How many readings of the host's ticks contradict the monotonic clock: they went back, or an
 * interval is longer or shorter than the others by 1 ms and 0.1 %, as where a virtual machine moves
 * to another host, or the counters of two sockets differ.
 */
uint32_t gp_timeline_misfits(const struct gp_timeline *timeline);

/*
 * Whether neither clock was set or went astray: then an earlier time of a clock is an earlier one
 * on the timeline.
 */
bool gp_timeline_is_even(const struct gp_timeline *timeline);

/* Mean length of a tick. */
double gp_timeline_ns_per_tick(const struct gp_timeline *timeline);

#endif

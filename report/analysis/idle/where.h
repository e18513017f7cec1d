/*
 * where: the use of each device's time: computing, communicating, copying, any of these together,
 * or idle and its causes; and its longest gaps.
 *
 * The one source of these figures for all reports. busy and idle are those of gp_busy_of(): idle is
 * the sum of the causes, busy of the rest. If operations are missing from a trace
 * (gp_recorded_why_not_all()), idle is an upper bound, and each output says so.
 */
#ifndef REPORT_ANALYSIS_IDLE_WHERE_H
#define REPORT_ANALYSIS_IDLE_WHERE_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/idle/gpu_sweep.h"

struct gp_where {
	uint64_t state_ns[GP_STATES]; /* how long in each state; [0] is 0 */
	uint64_t edge_ns;             /* of idle: before the first operation and after the last */
	uint64_t cause_count[GP_IDLE_CAUSES]; /* gaps by their cause */
	struct gp_gap *gaps;                  /* the longest, longest first */
	size_t gaps_kept, gaps_capacity;
	uint64_t gaps_least_ns; /* shorter ones are not among them */
};

struct gp_wheres {
	struct gp_where *devices; /* parallel to the list of devices */
	size_t count;
	size_t gap_limit;
};

/*
 * Of so many devices, with the gap_limit longest gaps of each: filled by a sweep with this taker.
 * Call gp_wheres_finish() after the sweep, and gp_wheres_free() at the end.
 */
void gp_wheres_open(struct gp_wheres *wheres, size_t device_count, size_t gap_limit,
		    struct gp_sweep_taker *taker);
void gp_wheres_finish(struct gp_wheres *wheres);
void gp_wheres_free(struct gp_wheres *wheres);

/* ---- sums of a state_ns[GP_STATES], of a device's or a part's ---- */

uint64_t gp_state_busy_ns(const uint64_t state_ns[GP_STATES]);
uint64_t gp_state_idle_ns(const uint64_t state_ns[GP_STATES]);
static inline uint64_t gp_state_wall_ns(const uint64_t state_ns[GP_STATES])
{
	return gp_state_busy_ns(state_ns) + gp_state_idle_ns(state_ns);
}

/*
 * While at least one of these ran; while all of these did; while these did and nothing else (bits
 * of GP_STATE_BUSY).
 */
uint64_t gp_state_any_ns(const uint64_t state_ns[GP_STATES], unsigned classes);
uint64_t gp_state_all_ns(const uint64_t state_ns[GP_STATES], unsigned classes);
static inline uint64_t gp_state_only_ns(const uint64_t state_ns[GP_STATES], unsigned classes)
{
	return state_ns[classes];
}

/* The cause with most of the idle time. */
enum gp_idle_cause gp_state_top_cause(const uint64_t state_ns[GP_STATES]);

#endif

/*
 * idle_gaps: the idle gaps of each GPU, between its first operation and its last, of any process:
 * the gaps of the sweep, kept in order, so that rules of advice can ask about any moment, and mark
 * the gaps that they have explained.
 *
 * A GPU takes up to a microsecond from one operation to the next: so short a gap is none. Devices
 * are those of the list by their index; times are Unix ns.
 */
#ifndef REPORT_ANALYSIS_IDLE_IDLE_GAPS_H
#define REPORT_ANALYSIS_IDLE_IDLE_GAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/idle/gpu_sweep.h"

/* A gap.  That at the beginning or the end of the processes has no operation before or after it. */
struct gp_idle_gap {
	uint64_t start_ns, end_ns;
	struct gp_op_at before, after;
	uint32_t told;     /* the case of advice that explains it, or GP_NONE */
	uint32_t taker;    /* the rule that took of it last, and so much: */
	uint64_t taken_ns; /* threads that wait together save it once */
	uint16_t device;
	uint8_t cause;                       /* with most of it: enum gp_idle_cause */
	uint8_t cause_share[GP_IDLE_CAUSES]; /* of its time, in 255ths */
};

/* Gaps of a block, whose longest one is kept: a search for long gaps skips blocks. */
#define GP_IDLE_GAPS_BLOCK 64u

/* The idle_gaps of a device in order; idle_ns[i] = the lengths of the first i of them. */
struct gp_device_idle_gaps {
	struct gp_idle_gap *idle_gaps;
	uint64_t *idle_ns;
	uint32_t count, capacity;
	uint64_t first_ns, last_ns; /* of its operations; 0, 0 = it had none */
};

/*
 * Gaps between two operations that end with one of the process's, by device and in order, so that
 * each of a hundred processes visits its own alone; longest_ns[i] = the longest of block i.
 */
struct gp_process_idle_gaps {
	struct gp_idle_gap **idle_gaps;
	uint64_t *longest_ns;
	uint32_t count;
};

struct gp_idle_gaps {
	struct gp_device_idle_gaps *devices;
	struct gp_process_idle_gaps *processes; /* in the order of the models */
	size_t device_count, process_count;
};

/*
 * By a sweep over the whole time of the models: opens before it, and finishes after it.
 * gp_idle_gaps_finish() returns 0, -ENOMEM or -EOVERFLOW; call gp_idle_gaps_free() in either case.
 */
void gp_idle_gaps_open(struct gp_idle_gaps *idle_gaps, size_t device_count, size_t process_count,
		       struct gp_sweep_taker *taker);
void gp_idle_gaps_finish(struct gp_idle_gaps *idle_gaps);
void gp_idle_gaps_free(struct gp_idle_gaps *idle_gaps);

/* For how long the device was at work within that time. */
uint64_t gp_idle_gaps_busy_ns(const struct gp_idle_gaps *idle_gaps, size_t device,
			      uint64_t start_ns, uint64_t end_ns);

/*
 * The idle_gap between two operations in which the device was at that moment, or that began or
 * ended within 5 us of it, by which clocks may differ; NULL = it was at work, or may have been
 * (GP_IDLE_UNKNOWN).
 */
struct gp_idle_gap *gp_idle_gaps_at(const struct gp_idle_gaps *idle_gaps, size_t device,
				    uint64_t time_ns);

/* Whether a process had work before it and after it. */
static inline bool gp_idle_gap_is_between(const struct gp_idle_gap *idle_gap)
{
	return idle_gap->before.op != GP_NONE && idle_gap->after.op != GP_NONE;
}

/*
 * Whether it lies before a process's first operation, or else after its last one; time in which no
 * process used the device may be neither.
 */
static inline bool gp_idle_gap_is_at_start(const struct gp_device_idle_gaps *device,
					   const struct gp_idle_gap *idle_gap)
{
	return idle_gap->before.op == GP_NONE &&
	       (idle_gap->after.op != GP_NONE || idle_gap->end_ns <= device->first_ns);
}

static inline bool gp_idle_gap_is_at_end(const struct gp_device_idle_gaps *device,
					 const struct gp_idle_gap *idle_gap)
{
	return idle_gap->after.op == GP_NONE &&
	       (idle_gap->before.op != GP_NONE || idle_gap->start_ns >= device->last_ns);
}

static inline uint64_t gp_idle_gap_ns(const struct gp_idle_gap *idle_gap)
{
	return idle_gap->end_ns - idle_gap->start_ns;
}

static inline uint64_t gp_idle_gap_cause_ns(const struct gp_idle_gap *idle_gap,
					    enum gp_idle_cause cause)
{
	return (uint64_t)((double)gp_idle_gap_ns(idle_gap) * idle_gap->cause_share[cause] / 255);
}

#endif

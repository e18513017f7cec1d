/*
 * launch_sampler: which launches, copies, memsets and waits of a thread get a call stack by
 * --stacks=sample: the first of each kind, those that are captured into a graph, and from then on
 * one in N at random.
 *
 * N follows the thread, so that the samples take at most one in GP_LAUNCH_SAMPLER_REST of its time:
 * it is the mean time of a capture, times that rest, divided by the mean time between two calls.
 * The gap between two samples is random, because a fixed one would always meet the same lines of a
 * loop.  No lock, no allocation, no system call.
 */
#ifndef INJECT_LAUNCH_SAMPLER_H
#define INJECT_LAUNCH_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/atomic.h"

/* Captures take one in so many parts of a thread's time: 0.5 %. */
#define GP_LAUNCH_SAMPLER_REST 200u
/* Calls a sample, at most: a line that runs ten thousand times still gets samples. */
#define GP_LAUNCH_SAMPLER_MOST_GAP 4096u
/*
 * So many samples of a process have a mean gap of at most START_GAP calls, whatever they cost, so
 * that a short program has enough of them: once, about 0.25 ms.
 */
#define GP_LAUNCH_SAMPLER_START     512u
#define GP_LAUNCH_SAMPLER_START_GAP 4u
/* Ticks of a capture, until captures have been measured: about 0.4 us. */
#define GP_LAUNCH_SAMPLER_COST_AT_START 1024u
/* A capture counts as so many mean ones at most: the thread may have been descheduled. */
#define GP_LAUNCH_SAMPLER_COST_STEP 4u
/*
 * Kinds of calls, over all threads: 500 for each of 32 threads.  If the table is full, calls of
 * further kinds wait for their turn, so that a program whose kinds never end costs no more.
 */
#define GP_LAUNCH_SAMPLER_KINDS 16384u

/*
 * Captured launches of a thread, after which they are sampled as others.  One captured launch stands
 * for all replays of its node; a program that captures again and again costs no more.
 */
#define GP_LAUNCH_SAMPLER_CAPTURED 16384u

/* Of a thread; all zero at its start. */
struct gp_launch_sampler {
	uint32_t left;     /* calls until the next sample; 0 = this one was due */
	uint32_t gap;      /* the drawn number of calls */
	uint32_t random;   /* state of the generator; 0 = not begun */
	uint32_t thread;   /* tells kinds of this thread from those of others */
	uint32_t captured; /* so many were taken for that */
	uint64_t last_ticks;
	uint64_t cost_ticks;     /* mean of the captures */
	uint64_t interval_ticks; /* mean time between calls; 0 = not known */
};

extern uint32_t gp_launch_sampler_kinds[GP_LAUNCH_SAMPLER_KINDS]
	__attribute__((visibility("hidden")));

/* Whether a kind that is not at its first place is new; notes it then. */
bool gp_launch_sampler_is_new(uint32_t kind);

/*
 * Whether to capture the stack of a call.  kind: a hash of what it launches.  is_captured: it became
 * a node of a graph.  If true, gp_launch_sampler_took() has to follow.
 */
static inline bool gp_launch_sampler_takes(struct gp_launch_sampler *sampler, uint64_t kind,
					   bool is_captured)
{
	uint32_t tag = (uint32_t)(kind ^ kind >> 32) ^ sampler->thread;
	bool is_due = sampler->left == 0 || --sampler->left == 0;

	if (gp_load32(&gp_launch_sampler_kinds[tag % GP_LAUNCH_SAMPLER_KINDS]) != tag)
		is_due |= gp_launch_sampler_is_new(tag);
	if (is_captured && sampler->captured < GP_LAUNCH_SAMPLER_CAPTURED) {
		sampler->captured++;
		is_due = true;
	}
	return is_due;
}

/* The capture took from began_ticks to ended_ticks.  Draws the next gap if the call was due. */
void gp_launch_sampler_took(struct gp_launch_sampler *sampler, uint64_t began_ticks,
			    uint64_t ended_ticks);

#endif

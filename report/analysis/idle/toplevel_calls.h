/*
 * toplevel_calls: the calls of a process that no other call of their thread made, found by thread,
 * by start and by end. For a path back in time over many threads: a question costs as much as the
 * calls in its time, whatever the number of threads.
 */
#ifndef REPORT_ANALYSIS_IDLE_TOPLEVEL_CALLS_H
#define REPORT_ANALYSIS_IDLE_TOPLEVEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

/* From its first call's start to its last one's end. */
struct gp_outer_thread {
	uint64_t start_ns, end_ns;
	uint32_t id, last; /* the number of its last call */
	/* the question, by its end, that the next members answer: the thread's calls in its time */
	uint64_t seen_ns;
	uint64_t first_ns, until_ns;
};

struct gp_toplevel_calls {
	const struct gp_call *calls; /* the model's */
	uint32_t *by_thread;         /* their numbers, by thread and start */
	uint32_t *by_start, *by_end;
	struct gp_outer_thread *threads; /* by id */
	uint32_t *threads_by_end;        /* places in threads */
	uint32_t count, thread_count, thread_capacity;
	/* so many of by_end ended by the end of the time that was asked about last */
	uint32_t asked;
	uint64_t later_started_ns; /* when the first of the others began */
};

/* Call gp_toplevel_calls_free(). */
void gp_toplevel_calls_of(struct gp_toplevel_calls *outer, const struct gp_model *model);
void gp_toplevel_calls_free(struct gp_toplevel_calls *outer);

/* How many in by_thread come before the first of that thread that begins at that time or later. */
uint32_t gp_outer_before(const struct gp_toplevel_calls *outer, uint32_t thread_id,
			 uint64_t time_ns);

/*
 * The last call that began before that time, of that thread or of any (of several the thread with
 * the lowest number); NULL: there is none.
 */
const struct gp_call *gp_outer_last_of(const struct gp_toplevel_calls *outer, uint32_t thread_id,
				       uint64_t time_ns);
const struct gp_call *gp_outer_last(const struct gp_toplevel_calls *outer, uint64_t time_ns);

/*
 * The last call of that thread which was done last, of those that began and ended all their calls
 * in that time; NULL: there is none.
 */
const struct gp_call *gp_outer_last_within(const struct gp_toplevel_calls *outer, uint64_t from_ns,
					   uint64_t to_ns);

/*
 * Whether a thread made calls for so much of that time, which is longer than 0, from its first
 * one's start to its last one's end.  To be asked about times that do not overlap, the last one
 * first.
 */
bool gp_outer_is_busy(struct gp_toplevel_calls *outer, uint64_t from_ns, uint64_t to_ns,
		      uint64_t least_ns);

#endif

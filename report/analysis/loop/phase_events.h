/*
 * phase_events: the calls and stack samples of the threads that do a loop's work, in the order of
 * time, each with its phase.
 *
 * The threads are the one with most calls in the loop, and those of PyTorch's backward pass, for
 * which it waits. The phase of a call is, by the first of these that tells:
 *
 *   the innermost range of its thread that names one (phase_ranges.h)
 *   its stack, by the marks of its frames; an estimated one tells forward from evaluation only
 *     together with the others of its batch
 *   what it does: a copy from the host is host-to-device; one of a few bytes to the host reads a
 *     value, for logging; a thread of the backward pass does that
 *   the user's line: where four of five calls whose phases are known belong to one phase
 *   of a wait, the call before it
 *   its neighbors: between two of one phase, that one; after a copy from the host, beside forward
 *     and before backward, forward; after backward, work on gradients, or the optimizer if it has no
 *     stack; else other
 *
 * So a training whose launches have no stacks is divided, too, less finely.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_EVENTS_H
#define REPORT_ANALYSIS_LOOP_PHASE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/iterations.h"
#include "report/analysis/loop/phase_marks.h"
#include "report/model/model.h"

/* In the order of events at one time. */
enum gp_phase_edge { GP_PHASE_ENDS, GP_PHASE_BEGINS, GP_PHASE_NO_EDGE };

struct gp_phase_event {
	uint64_t start_ns, end_ns;
	uint32_t call; /* index in calls; GP_NONE: an edge */
	uint8_t phase; /* enum gp_phase_kind, not NONE */
	uint8_t edge;  /* enum gp_phase_edge: of a range that names the phase */
};

struct gp_phase_sample {
	uint64_t time_ns;
	/* it may be at any other time between these: it is of a run of equal samples */
	uint64_t least_ns, most_ns;
	uint32_t stack;
	uint8_t phase; /* NONE: its stack does not tell */
};

struct gp_phase_events {
	struct gp_phase_event *rows; /* by start, in the stretches of the loop */
	uint32_t count, capacity;
	struct gp_phase_sample *samples; /* of the thread with most calls, by time */
	uint32_t sample_count, sample_capacity;
	uint8_t *of_calls; /* by index in calls: enum gp_phase_kind; NONE: it is no event */
	uint32_t launches, with_stack; /* of the events' threads: in the loop, and those with one */
	uint32_t thread_id;            /* the one with most calls */
	bool is_training; /* a stack or thread tells forward, backward, gradients or optimizer */
};

/* The rules of a training, or those for programs of any kind, which have stacks alone. */
enum gp_phase_rules { GP_PHASE_RULES_TRAINING, GP_PHASE_RULES_STACKS };

/* marks: by index in frames, as of gp_phase_marks_of(). Call gp_phase_events_free(). */
void gp_phase_events_of(struct gp_phase_events *events, const struct gp_model *model,
			const struct gp_iterations *iterations, const uint8_t *marks,
			enum gp_phase_rules rules);
void gp_phase_events_free(struct gp_phase_events *events);

#endif

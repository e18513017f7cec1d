/*
 * step_calls: what a thread did longer in a step than in usual steps, as far as its calls tell: each
 * API function by call site, and the time from call to call.  Without samples these are the reason of
 * a slow step: a call that every step makes for as long is none.
 */
#ifndef REPORT_ADVICE_RULES_STEP_CALLS_H
#define REPORT_ADVICE_RULES_STEP_CALLS_H

#include "report/advice/rules/advisor.h"
#include "report/base/interval.h"

/* A step of the present process: the thread that runs the loop, and when. */
struct gp_step_time {
	uint32_t thread;
	struct gp_interval step; /* on the model's timeline */
};

/* Usual steps; zeroed = none.  Free calls with gp_tally_free(). */
struct gp_usual_calls {
	struct gp_tally calls;
	uint64_t steps;
};

void gp_usual_calls_add(struct gp_usual_calls *usual, struct gp_advisor *advisor,
			const struct gp_step_time *time);

/* After the last one: takes the median of each call and pause; a step without it has 0. */
void gp_usual_calls_end(struct gp_usual_calls *usual);

/* A call site's function, or the time between two of them. */
struct gp_longer_call {
	const struct gp_call *call;  /* the longest of them, or the call before the longest pause */
	const struct gp_call *after; /* the call after that pause; NULL: it is a call */
	uint64_t longest_ns;
	uint64_t more_ns; /* beyond a usual step */
};

/*
 * Calls take for each that takes longer in a step than in usual ones.  Nested calls are a part of the
 * one around them.
 */
typedef void gp_longer_call_take(struct gp_advisor *advisor, const struct gp_longer_call *longer,
				 void *context);
void gp_longer_calls_each(struct gp_advisor *advisor, struct gp_usual_calls *usual,
			  const struct gp_step_time *time, gp_longer_call_take *take,
			  void *context);

/* Of the longest pause of a case's steps, and their longest call: texts and sites. */
struct gp_step_calls {
	uint64_t pause_ns, before, after;
	uint32_t before_site, after_site;
	uint64_t call_ns, call;
	uint32_t call_site;
};

/*
 * Keeps the call or pause of a step that takes longest beyond a usual step, if that is least_ns or
 * more, and votes for its place.
 */
void gp_step_calls_keep(struct gp_step_calls *calls, struct gp_advisor *advisor,
			struct gp_case *found, struct gp_usual_calls *usual,
			const struct gp_step_time *time, uint64_t least_ns);

/* pause_ns, before, before_place, after, after_place; or call_ns, call, call_place. */
void gp_step_calls_add_values(const struct gp_step_calls *calls, const struct gp_advisor *advisor,
			      struct gp_document *values);
/* clang-format off */
#define GP_STEP_CALLS_FOUND \
	"; the host was in no recorded call for {pause_ns}[{!count=1} at most], from {before}[ at {before_place}] to {after}[ at {after_place}]" \
	"|; {call} took {call_ns} of [{?count=1}it|the longest][ at {call_place}]"
/* clang-format on */

#endif

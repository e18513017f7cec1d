/*
 * step_calls: what the calls of a slow step tell of its reason, if there are no samples: nothing that
 * is recorded, between two calls, or one call that took long.
 */
#ifndef REPORT_ADVICE_RULES_STEP_CALLS_H
#define REPORT_ADVICE_RULES_STEP_CALLS_H

#include "report/advice/rules/advisor.h"
#include "report/base/interval.h"

/* Of the longest pause of a case's steps, and their longest call: texts and sites. */
struct gp_step_calls {
	uint64_t pause_ns, before, after;
	uint32_t before_site, after_site;
	uint64_t call_ns, call;
	uint32_t call_site;
};

struct gp_step_time {
	uint32_t thread;           /* that runs the loop */
	struct gp_interval step;   /* on the model's timeline */
	struct gp_interval longer; /* the part that usual steps do not have, or all of it */
	uint64_t least_ns;         /* a shorter pause or call is not the reason */
};

/* Keeps the pause or call of a step of the present process, and votes for its place. */
void gp_step_calls_keep(struct gp_step_calls *calls, struct gp_advisor *advisor,
			struct gp_case *found, const struct gp_step_time *time);

/* pause_ns, before, before_place, after, after_place; or call_ns, call, call_place. */
void gp_step_calls_add_values(const struct gp_step_calls *calls, const struct gp_advisor *advisor,
			      struct gp_document *values);
/* clang-format off */
#define GP_STEP_CALLS_FOUND \
	"; the host was in no recorded call for {pause_ns}[{!count=1} at most], from {before}[ at {before_place}] to {after}[ at {after_place}]" \
	"|; {call} took {call_ns} of [{?count=1}it|the longest][ at {call_place}]"
/* clang-format on */

/* Takes the calls of a thread of the present process; nested ones are a part of the one around them. */
typedef void gp_step_calls_take(struct gp_advisor *advisor, const struct gp_call *call,
				void *context);
void gp_step_calls_each(struct gp_advisor *advisor, uint32_t thread, const struct gp_interval *time,
			gp_step_calls_take *take, void *context);

#endif

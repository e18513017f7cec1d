/* waits: calls that wait for the GPU, within loops (sync-in-loop) and outside (sync-calls). */
#ifndef REPORT_ADVICE_RULES_WAITS_H
#define REPORT_ADVICE_RULES_WAITS_H

#include "report/advice/rules/next_wait.h"

struct gp_waits {
	struct gp_next_wait next;
	uint64_t ahead_ns;  /* by so much the host would be ahead, after the waits so far */
	uint32_t last;      /* the last one, in gp_advisor_calls() ... */
	uint32_t thread_id; /* ... and its thread */
	uint64_t places;    /* the text of the places that wait; "": nearly all is of one */
};

/*
 * Make the cases of calls in loops, by API function and the user's functions, whatever their lines:
 * of two waits in one loop the first change alone saves little.  Or those of all others, by API
 * function.
 */
void gp_waits_look(struct gp_advisor *advisor, bool in_loop);

/* clang-format off */
#define GP_WAITS_FOUND \
	"{function} waits for the GPU [{?step_count}{step_count} time[{!step_count=1}s] in each step, for {step_time_ns}|{count} times, for {time_ns} in all]" GP_NEXT_WAIT_FOUND \
	"; then the GPU is idle until the host launches again[; {places}]"
/* clang-format on */
void gp_waits_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			 struct gp_document *values);

#endif

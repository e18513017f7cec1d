/* waits: calls that wait for the GPU, within loops (sync-in-loop) and outside (sync-calls). */
#ifndef REPORT_ADVICE_RULES_WAITS_H
#define REPORT_ADVICE_RULES_WAITS_H

#include "report/advice/rules/next_wait.h"

struct gp_waits {
	uint64_t most_ns; /* the largest saving of one call: the case's site is that call's */
	struct gp_next_wait next;
	uint64_t ahead_ns;  /* by so much the host would be ahead, after the waits so far */
	uint32_t last;      /* the last one, in gp_advisor_calls() ... */
	uint32_t thread_id; /* ... and its thread */
};

/*
 * Make the cases of calls in loops, by site and function; or of all others, by function, with the
 * site of the largest saving.
 */
void gp_waits_look(struct gp_advisor *advisor, bool in_loop);

/* clang-format off */
#define GP_WAITS_FOUND \
	"{function} waits[{?is_spread} at several places] for the GPU {count} times, for {time_ns} in all" GP_NEXT_WAIT_FOUND \
	"; after each wait the GPU is idle until the host launches again"
/* clang-format on */
void gp_waits_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			 struct gp_document *values);

#endif

/* waits: calls that wait for the GPU, those of a loop and others. */
#ifndef REPORT_ADVICE_RULES_WAITS_H
#define REPORT_ADVICE_RULES_WAITS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/next_wait.h"

/* From so many calls of one site, function and thread on it is a loop. */
#define GP_LOOP_CALLS 16u

/* What such a rule keeps of a case. */
struct gp_waits {
	uint64_t most_ns; /* that the call at the case's site could save */
	struct gp_next_wait next;
};

/*
 * Put the waits of loops, or the others, into cases: of loops by site and function; of others by
 * function, with the site that could save most at once.
 */
void gp_waits_look(struct gp_advisor *advisor, bool in_loop);

/* What was found, in words; and what goes before that which helps. */
void gp_waits_tell(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);
void gp_waits_advise(const struct gp_advisor *advisor, const struct gp_case *found, FILE *out);

#endif

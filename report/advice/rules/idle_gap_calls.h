/*
 * idle_gap_calls: in which calls the host was while a GPU had nothing to do: of many idle times,
 * the function with most of that, and its place.
 *
 * The host is the thread that made the call after each.
 */
#ifndef REPORT_ADVICE_RULES_IDLE_GAP_CALLS_H
#define REPORT_ADVICE_RULES_IDLE_GAP_CALLS_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

/* Zeroed = none. */
struct gp_idle_gap_calls {
	struct gp_tally functions; /* by number: how many calls, and in their sum for how long */
	struct gp_tally places;    /* the same by number and site */
};

typedef bool gp_idle_gap_calls_filter(const struct gp_advisor *advisor,
				      const struct gp_idle_gap *idle_gap,
				      const struct gp_call *call);

/*
 * Of one idle time of the present process, which a known call ended, those calls that count.
 * Returns for how long.
 */
uint64_t gp_idle_gap_calls_add(struct gp_advisor *advisor, struct gp_idle_gap_calls *calls,
			       const struct gp_idle_gap *idle_gap,
			       gp_idle_gap_calls_filter *counts);
void gp_idle_gap_calls_free(struct gp_idle_gap_calls *calls);

/* The function with most of the time. */
struct gp_most_called {
	uint64_t function;      /* its text, ... */
	uint16_t api;           /* ... and its number in the model */
	uint64_t calls, places; /* so many, at so many places */
	uint64_t ns;            /* they took; 0 = there is none with a tenth of all */
	uint32_t site;          /* the place with most, if it has a tenth of it; else GP_NO_SITE */
};

struct gp_most_called gp_idle_gap_calls_most(struct gp_advisor *advisor,
					     const struct gp_idle_gap_calls *calls,
					     uint64_t all_ns);

/* "; 95.3 % of that is cudaMalloc, in 10,419 calls at 3 places, the most of it here" */
void gp_most_called_tell(const struct gp_advisor *advisor, const struct gp_most_called *most,
			 uint64_t all_ns, FILE *out);

#endif

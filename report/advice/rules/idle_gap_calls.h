/*
 * idle_gap_calls: the calls that the host was in during the idle gaps of a case, and the function
 * with most of that time.  The host is the thread of the call after each gap.
 */
#ifndef REPORT_ADVICE_RULES_IDLE_GAP_CALLS_H
#define REPORT_ADVICE_RULES_IDLE_GAP_CALLS_H

#include "report/advice/rules/advisor.h"

/* Zeroed = none. */
struct gp_idle_gap_calls {
	struct gp_tally functions; /* calls and their time, by number */
	struct gp_tally places;    /* the same, by number and site */
};

typedef bool gp_idle_gap_calls_filter(const struct gp_advisor *advisor,
				      const struct gp_idle_gap *idle_gap,
				      const struct gp_call *call);

/* Add the calls that count of a gap that a known call ended.  Returns their time. */
uint64_t gp_idle_gap_calls_add(struct gp_advisor *advisor, struct gp_idle_gap_calls *calls,
			       const struct gp_idle_gap *idle_gap,
			       gp_idle_gap_calls_filter *counts);
void gp_idle_gap_calls_free(struct gp_idle_gap_calls *calls);

/* The function with most of the time. */
struct gp_most_called {
	uint64_t function;      /* the text of its name ... */
	uint16_t api;           /* ... and its number in the model */
	uint64_t calls, places; /* their number, and that of their places */
	uint64_t ns;            /* their time; 0 = no function has enough */
	uint32_t site;          /* the place with most, if that is enough; else GP_NO_SITE */
};

struct gp_most_called gp_idle_gap_calls_most(struct gp_advisor *advisor,
					     const struct gp_idle_gap_calls *calls,
					     uint64_t all_ns);

/* function_percent, function, call_count, place_count and has_main_place, if there is one. */
void gp_most_called_add_values(const struct gp_advisor *advisor, const struct gp_most_called *most,
			       uint64_t all_ns, struct gp_document *values);
/* clang-format off */
#define GP_MOST_CALLED_FOUND \
	"[; {function_percent} % of that is {function}, in {call_count} call[{!call_count=1}s][ at {place_count} places[{?has_main_place}, most of it here]]]"
/* clang-format on */

#endif

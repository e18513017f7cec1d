/*
 * launch_places: the places of the launches that a GPU waits for.  Often these are many lines of one
 * loop: then it is the innermost function with most of them, and its range of lines.
 */
#ifndef REPORT_ADVICE_RULES_LAUNCH_PLACES_H
#define REPORT_ADVICE_RULES_LAUNCH_PLACES_H

#include "report/advice/rules/advisor.h"

/* Time by the number of the site.  Zeroed = empty. */
struct gp_launch_places {
	uint64_t *site_ns;
	uint32_t count, capacity;
};

/* Add time of launches at a site.  advisor->error tells of errors. */
void gp_launch_places_add(struct gp_launch_places *places, uint32_t site, uint64_t ns);

void gp_launch_places_free(struct gp_launch_places *places);

/*
 * Make the case's site the one with nearly all of the time; else a new one for the innermost
 * function with most of it, as "step (train.py:40-58)"; if there is none, it stays.  If no place has
 * nearly all, the text becomes "37 places WHAT: forward (model.py:12) 31 %, ...", else "".
 */
void gp_launch_places_put(struct gp_advisor *advisor, struct gp_launch_places *places,
			  struct gp_case *found, const char *what, uint64_t *places_text);

/*
 * The text, for gp_advisor_text_of(), of a site's function and of those that call it, without lines:
 * "solve (a.cu) < main (a.cu)".
 */
uint64_t gp_launch_places_functions(struct gp_advisor *advisor, uint32_t site);

#endif

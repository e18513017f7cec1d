/*
 * launch_places: where the launches that a GPU waits for are made, which are mostly many lines of
 * one loop: the function that nearly all of them come from, with its lines that they do, and the
 * places with most of the time.
 */
#ifndef REPORT_ADVICE_RULES_LAUNCH_PLACES_H
#define REPORT_ADVICE_RULES_LAUNCH_PLACES_H

#include "report/advice/rules/advisor.h"

/* So much of the time is of launches at that site.  advisor->error tells of errors. */
void gp_launch_places_add(struct gp_advisor *advisor, struct gp_launch_places *places,
			  uint32_t site, uint64_t ns);

void gp_launch_places_free(struct gp_launch_places *places);

#define GP_LAUNCH_PLACES_BYTES 1024

/*
 * The site to show: that with nearly all of the time; else one for what nearly all of it comes
 * from, as "step (train.py:40-58)"; else that of the place with most, which the text begins with.
 * Where no place has nearly all, text gets "37 places launch them: forward (model.py:12) 31 %,
 * ...", else "".  GP_NO_SITE: no launch has a stack.
 */
uint32_t gp_launch_places_sum(struct gp_advisor *advisor, struct gp_launch_places *places,
			      char text[GP_LAUNCH_PLACES_BYTES]);

#endif

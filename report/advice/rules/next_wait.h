/*
 * next_wait: a wait that another wait follows.  If a thread waits for the GPU twice without a launch
 * or copy in between, then without the first wait the second one waits for the same work: the
 * saving needs both changes.
 */
#ifndef REPORT_ADVICE_RULES_NEXT_WAIT_H
#define REPORT_ADVICE_RULES_NEXT_WAIT_H

#include "report/advice/rules/advisor.h"

struct gp_next_wait {
	uint64_t ns;             /* the saving that also needs the second change */
	uint64_t site, votes_ns; /* of the second call with most of that ... */
	uint64_t api;            /* ... and the text of its function */
};

/* One more call with that saving. */
void gp_next_wait_add(struct gp_advisor *advisor, struct gp_next_wait *own,
		      const struct gp_call *call, uint64_t saves_ns);

/* next_wait and next_wait_place, if half of the case's saving or more needs the second change. */
#define GP_NEXT_WAIT_FOUND                                                                         \
	"[ (without [{?count=1}it|them], {next_wait} waits[ at {next_wait_place}])]"
#define GP_NEXT_WAIT_CHANGE "[remove {next_wait} there, too; ]"
void gp_next_wait_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			     const struct gp_next_wait *own, struct gp_document *values);

/* Whether a call was mostly such a wait, so that nothing is saved without it alone. */
bool gp_next_wait_follows(const struct gp_advisor *advisor, const struct gp_call *call);

/*
 * When the thread next waits for a busy GPU after a call, UINT64_MAX: it does not soon.  Until then a
 * delay of the host can leave the GPU idle; the wait would only be longer without it.
 */
uint64_t gp_next_wait_after_ns(const struct gp_advisor *advisor, const struct gp_call *call);

#endif

/*
 * fillers: threads that have nothing done by a GPU themselves, and may fill buffers which another
 * one copies: a loader's.  Ranges of theirs tell, and looks at Python's stacks; what a thread
 * without either does is not known.
 */
#ifndef REPORT_ADVICE_RULES_FILLERS_H
#define REPORT_ADVICE_RULES_FILLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/advice/rules/advisor.h"

/* Of a process.  Zeroed = none. */
struct gp_fillers {
	uint64_t *turns_ns; /* when they began or ended a range, sorted */
	uint32_t turn_count;
};

/* Returns 0 or -ENOMEM; gp_fillers_free() in either case. */
int gp_fillers_find(struct gp_fillers *fillers, const struct gp_model *model);
void gp_fillers_free(struct gp_fillers *fillers);

/* Whether one of their ranges began or ended in that time. */
bool gp_fillers_turn(const struct gp_fillers *fillers, uint64_t from_ns, uint64_t to_ns);

/*
 * Whether looks found them at work, and not waiting, in that time of the present process, for so
 * long or longer.  The case is the one that it is asked for.
 */
bool gp_fillers_work(struct gp_advisor *advisor, const struct gp_case *found, uint64_t start_ns,
		     uint64_t end_ns, uint64_t least_ns);

#endif

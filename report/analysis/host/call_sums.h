/*
 * call_sums: the time that a thread spent in calls of each cause, and in none, from one of its
 * calls to another: in time that does not grow with them.
 */
#ifndef REPORT_ANALYSIS_HOST_CALL_SUMS_H
#define REPORT_ANALYSIS_HOST_CALL_SUMS_H

#include "report/analysis/idle/call_cause.h"

struct gp_call_sums {
	const struct gp_model *model;
	struct gp_call_sum_block *blocks; /* 2.75 bytes a call */
};

/* Free them with gp_call_sums_free(). */
void gp_call_sums_of(struct gp_call_sums *sums, const struct gp_model *model);
void gp_call_sums_free(struct gp_call_sums *sums);

/*
 * Adds to cause_ns, by enum gp_idle_cause, the time from the end of the call before `first`, of the
 * same thread, to the end of the one before `end`. Of nested calls the outer one counts. Returns
 * the length; 0, with nothing added, if the thread was in a call even before that one.
 */
uint64_t gp_call_sums_add(const struct gp_call_sums *sums, uint32_t first, uint32_t end,
			  uint64_t cause_ns[GP_IDLE_CAUSES]);

#endif

/*
 * own_cost: what recording cost the program's own threads, estimated.
 *
 * Hooks measure themselves now and then; what CUPTI takes around them and for its GPU records
 * cannot be measured from within, so that calibrated figures stand for it: one table in own_cost.c.
 *
 * Threads that launch at once wait for each other in the driver, which makes its records one at a time, and more of a wait becomes
 * of every wait that is there anyway. That part is in proportion to the time that calls which start operations are inside at the
 * same time: the sum of their durations without the time that at least one is inside.
 */
#ifndef REPORT_OWN_COST_H
#define REPORT_OWN_COST_H

#include <stddef.h>

#include "report/model.h"

struct gp_own_cost {
	double hooks_ns; /* inside gpuprof's callbacks, from the sampled ones; of what is kept */
	double callbacks_ns; /* CUPTI around them */
	double records_ns;   /* CUPTI for kernel, copy and set records */
	bool hooks_unknown;  /* there were some, but none was sampled in a process */
	double waiting_ns;   /* of threads for each other's records, beyond the above */
};

struct gp_own_cost gp_own_cost_of(struct gp_model *const *models, size_t model_count);
double gp_own_cost_total_ns(const struct gp_own_cost *cost);

#endif

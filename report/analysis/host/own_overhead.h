/*
 * own_cost: what recording cost the program's own threads, estimated.
 *
 * Hooks measure themselves now and then; what CUPTI takes around them and for its GPU records
 * cannot be measured from within, so that calibrated figures stand for it: one table in own_cost.c.
 * CUPTI takes longer where memory is slow (other programs use it, too; the program's own data are
 * larger than the processor's caches), and where threads launch at once, which it makes wait for
 * each other.  Both is seen in the trace: by how much longer than usual the middle call of a kind
 * takes.
 */
#ifndef REPORT_ANALYSIS_HOST_OWN_OVERHEAD_H
#define REPORT_ANALYSIS_HOST_OWN_OVERHEAD_H

#include <stddef.h>

#include "report/model/model.h"

struct gp_own_overhead {
	double hooks_ns; /* inside gpuprof's callbacks, from the sampled ones; of what is kept */
	double callbacks_ns; /* CUPTI around them */
	double records_ns;   /* CUPTI for kernel, copy and set records */
	bool hooks_unknown;  /* there were some, but none was sampled in a process */
};

struct gp_own_overhead gp_own_overhead_of(struct gp_model *const *models, size_t model_count);
double gp_own_overhead_total_ns(const struct gp_own_overhead *cost);

#endif

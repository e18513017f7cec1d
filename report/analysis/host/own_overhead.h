/*
 * own_overhead: the cost of recording for the program's own threads, estimated.
 *
 * Hooks measure themselves now and then. CUPTI's time around them and for its GPU records cannot be
 * measured from within: calibrated figures stand for it, in one table of own_overhead.c. CUPTI
 * takes longer if memory is slow (other programs use it, or the program's data exceed the
 * processor's caches), and if threads launch at the same time, as they wait for each other then.
 * The trace shows both: the median call of a kind takes longer than usual.
 */
#ifndef REPORT_ANALYSIS_HOST_OWN_OVERHEAD_H
#define REPORT_ANALYSIS_HOST_OWN_OVERHEAD_H

#include <stddef.h>

#include "report/model/model.h"

struct gp_own_overhead {
	double hooks_ns; /* inside gpuprof's callbacks, from the sampled ones; of the kept part */
	double callbacks_ns; /* CUPTI around them */
	double records_ns;   /* CUPTI for kernel, copy and memset records */
	double setup_ns;     /* waiting until hardware counters could be read */
	bool hooks_unknown;  /* there were some, but none was sampled in a process */
};

/*
 * The estimate was between these parts of the measured time, in loops of one call and in training
 * steps (docs/design/performance.md, "gpuprof's own cost").
 */
#define GP_OWN_OVERHEAD_LEAST_PART 0.5
#define GP_OWN_OVERHEAD_MOST_PART  1.5

struct gp_own_overhead gp_own_overhead_of(struct gp_model *const *models, size_t model_count);
double gp_own_overhead_total_ns(const struct gp_own_overhead *cost);

#endif

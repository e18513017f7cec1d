/* wheres_of: the states of devices by a sweep of their own. */
#ifndef TESTS_REPORT_WHERES_OF_H
#define TESTS_REPORT_WHERES_OF_H

#include "report/analysis/idle/gpu_sweep.h"
#include "report/analysis/idle/where.h"

static inline void wheres_of(struct gp_wheres *wheres, struct gp_model *const *models,
			     size_t model_count, struct gp_window window,
			     struct gp_device_list *devices, const struct gp_kinds *kinds,
			     size_t gap_limit)
{
	struct gp_sweep_taker taker;

	gp_wheres_open(wheres, devices->count, gap_limit, &taker);
	gp_gpu_sweep(models, model_count, window, devices, kinds, &taker, 1);
	gp_wheres_finish(wheres);
}

#endif

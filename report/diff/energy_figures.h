/*
 * energy_figures: the metrics of the energy samples (--energy), and whether the clocks of two sets
 * of runs were lowered differently.
 */
#ifndef REPORT_DIFF_ENERGY_FIGURES_H
#define REPORT_DIFF_ENERGY_FIGURES_H

#include "report/analysis/analysis.h"
#include "report/analysis/idle/busy.h"
#include "report/diff/run_set.h"

/*
 * A difference of so many percent of the time is reported: at half the clock, as with a power
 * cap, it makes kernels 2.5 % slower, half of what `gpuprof check` tolerates
 * (GP_THRESHOLD_SHARE).  Held by tests/report/diff/energy_figures_test.c.
 */
#define GP_CLOCKS_DIFFER_PERCENT 5.0

/* Sets the metrics of energy, NAN if they are not known.  busy: by device. */
void gp_energy_figures(struct gp_figures *figures, struct gp_model *const *models,
		       size_t model_count, const struct gp_device_list *devices,
		       const struct gp_analysis *basis, const struct gp_busy *busy);

/* Follows the two values. */
#define GP_LOWERED_CLOCKS                                                                          \
	": times may differ for that reason alone; why the GPU held them down: gpuprof summary --by energy"

/* How long the clocks were lowered, percent of the time: the medians of two sets. */
struct gp_lowered_clocks {
	bool differ;
	double a, b;
};

void gp_lowered_clocks_of(const struct gp_run_set *a, const struct gp_run_set *b,
			  struct gp_lowered_clocks *clocks);

#endif

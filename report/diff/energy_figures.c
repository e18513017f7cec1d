#include "report/diff/energy_figures.h"

#include <math.h>
#include <stdlib.h>

#include "gpuprof/count.h"
#include "report/analysis/device/energy.h"

/* ---- figures ---- */

/* If several processes use a GPU, its energy of a step is not known, and neither is the sum. */
static void add_step(double *values, const struct gp_gpu_energy *gpu,
		     const struct gp_analysis *basis, struct gp_model *const *models)
{
	struct gp_step_energy step = gp_step_energy_of(gpu, basis, models);

	values[GP_METRIC_STEP_ENERGY] += step.steps > 0 ? step.joules : (double)NAN;
	values[GP_METRIC_STEP_ENERGY_ERROR] += step.steps > 0 ? step.error : (double)NAN;
}

static void take_all(double *values, const struct gp_energies *energies,
		     struct gp_model *const *models, const struct gp_analysis *basis,
		     const struct gp_busy *busy)
{
	uint64_t lowered_ns = 0, covered_ns = 0, used = 0;

	for (size_t i = 0; i < energies->count; i++) {
		const struct gp_gpu_energy *gpu = &energies->gpus[i];

		values[GP_METRIC_ENERGY] += gpu->joules;
		lowered_ns += gpu->lowered_ns;
		covered_ns += gpu->covered_ns;
		if (busy[gpu->device].operations == 0)
			continue;
		used++;
		add_step(values, gpu, basis, models);
	}
	values[GP_METRIC_CLOCKS_LOWERED] = 100 * (double)lowered_ns / (double)covered_ns;
	if (used == 0)
		values[GP_METRIC_STEP_ENERGY] = values[GP_METRIC_STEP_ENERGY_ERROR] = (double)NAN;
}

void gp_energy_figures(struct gp_figures *figures, struct gp_model *const *models,
		       size_t model_count, const struct gp_device_list *devices,
		       const struct gp_analysis *basis, const struct gp_busy *busy)
{
	static const enum gp_metric metrics[] = {GP_METRIC_ENERGY, GP_METRIC_STEP_ENERGY,
						 GP_METRIC_STEP_ENERGY_ERROR,
						 GP_METRIC_CLOCKS_LOWERED};
	struct gp_energies energies;

	gp_energies_of(&energies, models, model_count, devices);
	for (size_t i = 0; i < COUNT(metrics); i++)
		figures->values[metrics[i]] = energies.count > 0 ? 0 : (double)NAN;
	if (energies.count > 0)
		take_all(figures->values, &energies, models, basis, busy);
	gp_energies_free(&energies);
}

/* ---- lowered clocks of two sets ---- */

static double median_of(const struct gp_run_set *set, double *values)
{
	gp_run_set_metric(set, GP_METRIC_CLOCKS_LOWERED, values);
	return gp_median(values, set->count);
}

void gp_lowered_clocks_of(const struct gp_run_set *a, const struct gp_run_set *b,
			  struct gp_lowered_clocks *clocks)
{
	double *values = calloc((size_t)a->count + b->count + 1, sizeof(*values));

	*clocks = (struct gp_lowered_clocks){0};
	clocks->a = median_of(a, values);
	clocks->b = median_of(b, values);
	clocks->differ = fabs(clocks->a - clocks->b) >= GP_CLOCKS_DIFFER_PERCENT;
	free(values);
}

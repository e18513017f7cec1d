#include "report/analysis/device/hw_metrics.h"

#include <math.h>

#define MOST_LEVEL 1e18 /* a damaged trace may say any value */

const struct gp_hw_metric_row gp_hw_metrics[GP_HW_METRICS] = {
#define GP_HW_METRIC(name, id, unit, track, series)                                                \
	[GP_HW_##name] = {id, GP_HW_UNIT_##unit, track, series},
#include "gpuprof/hw_metric.def"
#undef GP_HW_METRIC
};

const struct gp_hw_unit_row gp_hw_units[] = {[GP_HW_UNIT_PERCENT] = {"%", 1000},
					     [GP_HW_UNIT_BYTES] = {"GB/s", 1000000000},
					     [GP_HW_UNIT_HERTZ] = {"MHz", 1000000}};

bool gp_hw_any(struct gp_model *const *models, size_t model_count)
{
	for (size_t i = 0; i < model_count; i++)
		if (models[i]->hw_sample_count > 0)
			return true;
	return false;
}

bool gp_hw_has(const struct gp_record_hw_sample *sample, uint32_t metric)
{
	return (sample->absent >> metric & 1) == 0;
}

uint64_t gp_hw_level(const struct gp_record_hw_sample *sample, uint32_t metric)
{
	uint64_t ns = sample->end_ns - sample->start_ns;

	if (gp_hw_metrics[metric].unit != GP_HW_UNIT_BYTES)
		return sample->value[metric];
	return ns > 0 ? (uint64_t)fmin((double)sample->value[metric] / (double)ns * 1e9, MOST_LEVEL)
		      : 0;
}

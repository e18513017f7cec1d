/* hw_metric: the metrics of gpuprof/hw_metric.def, for the recorder and the readers. */
#ifndef GPUPROF_HW_METRIC_H
#define GPUPROF_HW_METRIC_H

enum gp_hw_metric {
#define GP_HW_METRIC(name, id, unit, track, series) GP_HW_##name,
#include "gpuprof/hw_metric.def"
#undef GP_HW_METRIC
	GP_HW_METRICS
};

enum gp_hw_unit { GP_HW_UNIT_PERCENT, GP_HW_UNIT_BYTES, GP_HW_UNIT_HERTZ };

#endif

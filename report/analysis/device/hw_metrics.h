/*
 * hw_metrics: the samples of --hw-timeline (gpuprof/hw_metric.def) as levels.
 *
 * A level is a value that does not depend on the length of the sample: thousandths of a percent,
 * bytes per second, or Hz.
 */
#ifndef REPORT_ANALYSIS_DEVICE_HW_METRICS_H
#define REPORT_ANALYSIS_DEVICE_HW_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/hw_metric.h"
#include "report/model/model.h"

struct gp_hw_metric_row {
	const char *id;
	enum gp_hw_unit unit;
	const char *track;
	const char *series; /* within the track */
};

extern const struct gp_hw_metric_row gp_hw_metrics[GP_HW_METRICS];

/* How levels are shown: divided, with this word. */
struct gp_hw_unit_row {
	const char *word;
	unsigned divisor;
};

/* By enum gp_hw_unit. */
extern const struct gp_hw_unit_row gp_hw_units[];

#define GP_HW_ALL 100000.0 /* a level of 100 % */

/* Whether any of the models has samples. */
bool gp_hw_any(struct gp_model *const *models, size_t model_count);

/* False: the GPU has no such unit. */
bool gp_hw_has(const struct gp_record_hw_sample *sample, uint32_t metric);

uint64_t gp_hw_level(const struct gp_record_hw_sample *sample, uint32_t metric);

#endif

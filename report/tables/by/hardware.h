/* hardware: the levels of a device's hardware samples, for the summary and the tables. */
#ifndef REPORT_TABLES_BY_HARDWARE_H
#define REPORT_TABLES_BY_HARDWARE_H

#include "report/analysis/device/hw_metrics.h"
#include "report/tables/breakdown_scope.h"

/* The samples of one device; they are adjacent in the model. */
struct gp_hw_run {
	const struct gp_model *model;
	const struct gp_record_hw_sample *samples;
	uint32_t count;
	uint32_t device;                  /* the output's number */
	uint64_t interval_ns, covered_ns; /* the median length; the sum */
};

/* Levels as of gp_hw_level(); NAN: not known. */
struct gp_hw_levels {
	double average[GP_HW_METRICS];
	/* of the samples in which kernels ran nearly all the time */
	double in_kernels[GP_HW_METRICS];
	double p95[GP_HW_METRICS], highest[GP_HW_METRICS];
};

/* Calls take for each device that has samples.  Returns 0, -ENOMEM, or what take returned. */
int gp_hw_each_run(struct gp_scope *scope, int (*take)(void *context, const struct gp_hw_run *run),
		   void *context);

/* Returns 0 or -ENOMEM. */
int gp_hw_levels_of(struct gp_scope *scope, const struct gp_hw_run *run,
		    struct gp_hw_levels *levels);

#endif

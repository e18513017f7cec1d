/* hardware: the levels of a device's hardware samples, for the summary and the tables. */
#ifndef REPORT_TABLES_BY_HARDWARE_H
#define REPORT_TABLES_BY_HARDWARE_H

#include "report/analysis/device/hw_fit.h"
#include "report/analysis/device/hw_metrics.h"
#include "report/tables/breakdown_scope.h"

/* The samples of one device; they are adjacent in the model. */
struct gp_hw_run {
	const struct gp_model *model; /* not used by gp_hw_fill_kernels() */
	const struct gp_record_hw_sample *samples;
	uint32_t count;
	uint32_t device;                  /* the output's number */
	uint64_t base_unix_ns;            /* is added to the times of the samples */
	uint64_t interval_ns, covered_ns; /* the median length; the sum */
};

/* Levels as of gp_hw_level(); NAN: not known. */
struct gp_hw_levels {
	double average[GP_HW_METRICS];
	/* of the samples in which kernels ran nearly all the time */
	double in_kernels[GP_HW_METRICS];
	double p95[GP_HW_METRICS], highest[GP_HW_METRICS];
};

/* Percent, GB/s or MHz; none for NAN. */
struct gp_value gp_hw_value_of(uint32_t metric, double level);

/* Calls take for each device that has samples.  Returns 0, -ENOMEM, or what take returned. */
int gp_hw_each_run(struct gp_scope *scope, int (*take)(void *context, const struct gp_hw_run *run),
		   void *context);

void gp_hw_levels_of(struct gp_scope *scope, const struct gp_hw_run *run,
		     struct gp_hw_levels *levels);

/* Puts the cells of a kind of work: a row of a tally by name, with its time in sums 0. */
typedef void gp_hw_put_kernel(struct gp_scope *scope, struct gp_table *table,
			      const struct gp_hw_run *run, const struct gp_tally_row *row,
			      double total, const struct gp_hw_estimate *estimate);

/* Estimates the levels of each kind of work on the device.  Returns 0 or -ENOMEM. */
int gp_hw_fill_kernels(struct gp_scope *scope, struct gp_table *table, const struct gp_hw_run *run,
		       gp_hw_put_kernel *put);

/* The last cell: the name of a kind of work. */
void gp_hw_put_kernel_name(struct gp_scope *scope, struct gp_table *table,
			   const struct gp_tally_row *row);

#endif

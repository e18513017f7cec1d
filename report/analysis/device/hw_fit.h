/*
 * hw_fit: how active the hardware is while each kind of work runs, from the samples of
 * --hw-timeline, which see all work of their interval together.
 *
 * A sample's level is taken as the sum, over the labels of work, of the share of the interval that
 * each ran and of the label's own level, plus a level of the idle GPU.  Least squares give the own
 * levels and their standard errors: labels that always run together, or too seldom, have large
 * ones.  Work that runs at the same time on several streams adds up less than this assumes, which
 * also shows in the errors.
 */
#ifndef REPORT_ANALYSIS_DEVICE_HW_FIT_H
#define REPORT_ANALYSIS_DEVICE_HW_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/hw_metrics.h"

struct gp_hw_work {
	uint64_t start_ns, end_ns;
	uint32_t label;
};

/* Units as those of gp_hw_level(). */
struct gp_hw_estimate {
	double level[GP_HW_METRICS]; /* NAN: not known, because the error is too large */
	double error[GP_HW_METRICS]; /* one standard deviation */
};

/*
 * samples: of one device, by time; offset_ns is added to their times.  work: by start, the labels
 * from 0 on.  Fills in estimates[labels].  Returns 0 or -ENOMEM.
 */
int gp_hw_fit(const struct gp_record_hw_sample *samples, uint32_t count, uint64_t offset_ns,
	      const struct gp_hw_work *work, size_t work_count, uint32_t labels,
	      struct gp_hw_estimate *estimates);

#endif

/*
 * hw_fit: estimates how active the hardware is while each kind of work runs.  A sample of
 * --hw-timeline covers all work in its interval together.
 *
 * The level of a sample is modeled as the level of the idle GPU, plus the sum over all labels of
 * work of the label's level times the share of the interval in which it ran.  Least squares give
 * the levels and their standard errors.  Labels that always run together, or too seldom, have large
 * errors.  Work that runs at the same time on several streams adds up to less than the model
 * assumes.  So samples in which much work did count for nothing, and labels that have no others are
 * not known.
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

/* Units: as of gp_hw_level(). */
struct gp_hw_estimate {
	double level[GP_HW_METRICS]; /* NAN: not known, because the error is too large */
	double error[GP_HW_METRICS]; /* one standard deviation */
};

/*
 * samples: of one device, sorted by time; offset_ns is added to their times.  work: sorted by
 * start, with labels from 0 on.  Fills in estimates[labels].
 */
void gp_hw_fit(const struct gp_record_hw_sample *samples, uint32_t count, uint64_t offset_ns,
	       const struct gp_hw_work *work, size_t work_count, uint32_t labels,
	       struct gp_hw_estimate *estimates);

#endif

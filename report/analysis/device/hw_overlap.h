/*
 * hw_overlap: how active the hardware was during some times, from the samples of --hw-timeline.
 *
 * Each sample counts with the part of it that lies within the times.  How the activity is spread
 * within a sample is not known: if a time ends inside a sample, all of its activity may lie inside
 * or outside, as far as a level of 100 % allows.  The error is the sum over all such samples, so the
 * average is wrong by at most the error.  Adjoining times cut no sample.
 */
#ifndef REPORT_ANALYSIS_DEVICE_HW_OVERLAP_H
#define REPORT_ANALYSIS_DEVICE_HW_OVERLAP_H

#include <stddef.h>
#include <stdint.h>

#include "report/analysis/device/hw_metrics.h"
#include "report/base/interval.h"

/* Units: as of gp_hw_level(). */
struct gp_hw_average {
	double level[GP_HW_METRICS]; /* NAN: no sample within the times has it */
	double error[GP_HW_METRICS]; /* at most */
	uint64_t covered_ns;         /* of the times, by samples */
};

/*
 * samples: of one device, sorted by time, without overlap; offset_ns is added to their times.
 * times: disjoint, in order, as of gp_interval_join().
 */
struct gp_hw_average gp_hw_average_of(const struct gp_record_hw_sample *samples, uint32_t count,
				      uint64_t offset_ns, const struct gp_interval *times,
				      size_t time_count);

#endif

/*
 * calibrate: how much the metrics vary from run to run of the same program on this machine, and
 * thresholds that suit that.
 *
 * Noise is the standard deviation over the runs, raised by what so few runs may have missed of it
 * (the upper bound of 95 %, as for a normal distribution).
 */
#ifndef REPORT_DIFF_CALIBRATE_H
#define REPORT_DIFF_CALIBRATE_H

#include <stdint.h>
#include <stdio.h>

#include "report/diff/run_set.h"

#define GP_CALIBRATE_RUNS 5u /* at least */

/* A threshold is so many times the noise, but never below that share and that time. */
#define GP_CALIBRATE_FACTOR 2.0
#define GP_CALIBRATE_SHARE  0.005
#define GP_CALIBRATE_NS     10000.0

/* A threshold of more than that finds next to nothing. */
#define GP_CALIBRATE_USELESS 0.5

/* Of what was proposed. */
struct gp_calibration {
	uint32_t thresholds, useless;
};

/* In the unit of the values; count >= 2. */
double gp_noise_of(const double *values, uint32_t count);

/*
 * Print a file for gp_thresholds_read(), with the noise in its comments, which also say what of it
 * is useless and what to do about that.  Returns 0 or -ENOMEM.
 */
int gp_calibrate(FILE *out, const struct gp_run_set *set, struct gp_calibration *calibration);

#endif

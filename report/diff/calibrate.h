/*
 * calibrate: measures the noise of each metric over runs of the same program on one machine, and
 * proposes thresholds for it.
 *
 * Noise is the upper bound (95 %, for a normal distribution) of the standard deviation from run to
 * run: few runs underestimate it.
 */
#ifndef REPORT_DIFF_CALIBRATE_H
#define REPORT_DIFF_CALIBRATE_H

#include <stdint.h>
#include <stdio.h>

#include "report/diff/run_set.h"

#define GP_CALIBRATE_RUNS 5u /* the fewest runs */

/* A threshold is GP_CALIBRATE_FACTOR times the noise, but at least that share and that time. */
#define GP_CALIBRATE_FACTOR 2.0
#define GP_CALIBRATE_SHARE  0.005
#define GP_CALIBRATE_NS     10000.0

/* A threshold above this share finds hardly any regression. */
#define GP_CALIBRATE_USELESS 0.5

/* Numbers of proposed thresholds. */
struct gp_calibration {
	uint32_t thresholds, useless;
};

/* The noise, in the unit of the values; count >= 2. */
double gp_noise_of(const double *values, uint32_t count);

/*
 * Print a file for gp_thresholds_read().  Its comments have the noise, mark useless thresholds and
 * say how to reduce the noise.
 */
void gp_calibrate(FILE *out, const struct gp_run_set *set, struct gp_calibration *calibration);

#endif

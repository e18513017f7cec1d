/* series: the values of one metric in the runs of a baseline and in new runs, and their tests. */
#ifndef REPORT_DIFF_SERIES_H
#define REPORT_DIFF_SERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/diff/check.h"
#include "report/diff/rank.h"

struct gp_series {
	double baseline[GP_RANK_MOST], now[GP_RANK_MOST];
	uint32_t baseline_count, now_count;
};

/*
 * Whether all values are known; whether those of the baseline are all equal; whether they are all
 * 0.
 */
bool gp_series_is_known(const struct gp_series *series);
bool gp_series_is_steady(const struct gp_series *series);
bool gp_series_is_zero(const struct gp_series *series);

/* Store the medians of both sides in the finding. */
void gp_series_medians(const struct gp_series *series, struct gp_check_finding *finding);

/* Compare directly, without a rank test, and store the verdict. */
void gp_series_compare(const struct gp_series *series, struct gp_check_finding *finding);

/* The rank tests for finding->margin: stores all but verdict and low. */
void gp_series_test(const struct gp_series *series, struct gp_rank *rank,
		    struct gp_check_finding *finding);

/* Store low: the change is above it, with that probability of error. */
void gp_series_bound(const struct gp_series *series, struct gp_rank *rank, double chance,
		     struct gp_check_finding *finding);

/* Whether the median of the new runs exceeds the tolerance. */
bool gp_series_is_worse(const struct gp_check_finding *finding);

/* Estimate the runs that a verdict needs if that many metrics are tested. */
void gp_series_plan(const struct gp_series *series, uint32_t tested,
		    struct gp_check_finding *finding);

#endif

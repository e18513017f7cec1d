/*
 * series: one metric's values in the runs of a baseline and in other runs, and what they say of a
 * change.
 */
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
 * Whether all values are known; whether those of the baseline are all the same; whether they are
 * all 0.
 */
bool gp_series_is_known(const struct gp_series *series);
bool gp_series_is_steady(const struct gp_series *series);
bool gp_series_is_zero(const struct gp_series *series);

/* Medians of both sides into the finding. */
void gp_series_medians(const struct gp_series *series, struct gp_finding *finding);

/* Compared as it is: the verdict is made. */
void gp_series_compare(const struct gp_series *series, struct gp_finding *finding);

/* The rank tests with finding->margin: all but the verdict and low.  Returns 0 or -ENOMEM. */
int gp_series_test(const struct gp_series *series, struct gp_rank *rank,
		   struct gp_finding *finding);

/* low: what the change is more than, but for that chance.  Returns 0 or -ENOMEM. */
int gp_series_bound(const struct gp_series *series, struct gp_rank *rank, double chance,
		    struct gp_finding *finding);

/* Whether the runs' median is beyond what is tolerated. */
bool gp_series_is_worse(const struct gp_finding *finding);

/* How many runs would probably tell, where that many metrics are tested. */
void gp_series_plan(const struct gp_series *series, uint32_t tested, struct gp_finding *finding);

#endif

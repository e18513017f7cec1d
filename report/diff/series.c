#include "report/diff/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POWER_SIGMAS 0.84 /* so that 80 % of checks with that many runs have a verdict */

bool gp_series_is_known(const struct gp_series *series)
{
	for (uint32_t i = 0; i < series->baseline_count; i++)
		if (isnan(series->baseline[i]))
			return false;
	for (uint32_t i = 0; i < series->now_count; i++)
		if (isnan(series->now[i]))
			return false;
	return true;
}

bool gp_series_is_steady(const struct gp_series *series)
{
	for (uint32_t i = 1; i < series->baseline_count; i++)
		if (series->baseline[i] != series->baseline[0])
			return false;
	return true;
}

bool gp_series_is_zero(const struct gp_series *series)
{
	return gp_series_is_steady(series) && series->baseline[0] == 0;
}

void gp_series_medians(const struct gp_series *series, struct gp_check_finding *finding)
{
	double values[GP_RANK_MOST];

	memcpy(values, series->baseline, sizeof(values));
	finding->baseline = gp_median(values, series->baseline_count);
	memcpy(values, series->now, sizeof(values));
	finding->now = gp_median(values, series->now_count);
}

void gp_series_compare(const struct gp_series *series, struct gp_check_finding *finding)
{
	double limit = series->baseline[0] + finding->margin;
	uint32_t less = 0;

	finding->exact = true;
	for (uint32_t i = 0; i < series->now_count; i++) {
		finding->beyond += series->now[i] > limit;
		less += series->now[i] < series->baseline[0];
	}
	finding->improved = less == series->now_count;
	if (finding->beyond == series->now_count) {
		finding->verdict = GP_VERDICT_REGRESSION;
	} else if (finding->beyond > 0) {
		finding->verdict = GP_VERDICT_INCONCLUSIVE;
		finding->doubt = GP_DOUBT_VARIES;
	}
}

/* ---- rank tests ---- */

/* The differences of each new run and each run of the baseline, sorted. */
static double *make_differences(const struct gp_series *series, uint32_t *count)
{
	double *differences;

	*count = series->now_count * series->baseline_count;
	differences = malloc((*count + 1) * sizeof(*differences));
	for (uint32_t i = 0; i < *count; i++)
		differences[i] = series->now[i / series->baseline_count] -
				 series->baseline[i % series->baseline_count];
	gp_sort_doubles(differences, *count);
	return differences;
}

static uint32_t count_below(const double *differences, uint32_t count, double limit)
{
	uint32_t below = 0;

	while (below < count && differences[below] < limit)
		below++;
	return below;
}

static uint32_t count_above(const double *differences, uint32_t count, double limit)
{
	uint32_t above = 0;

	while (above < count && differences[count - 1 - above] > limit)
		above++;
	return above;
}

void gp_series_test(const struct gp_series *series, struct gp_rank *rank,
		    struct gp_check_finding *finding)
{
	uint32_t count, needed;
	double *differences = make_differences(series, &count);

	gp_rank_set(rank, series->now_count, series->baseline_count);
	needed = gp_rank_needed(rank, GP_CHECK_DOUBT);
	finding->high = needed <= count ? differences[needed - 1] : (double)INFINITY;
	finding->chance = gp_rank_tail(rank, count_above(differences, count, finding->margin));
	finding->excluded = gp_rank_tail(rank, count_below(differences, count, finding->margin));
	finding->improved = finding->high < 0 && finding->now < finding->baseline - finding->margin;
	free(differences);
}

void gp_series_bound(const struct gp_series *series, struct gp_rank *rank, double chance,
		     struct gp_check_finding *finding)
{
	uint32_t count, needed;
	double *differences = make_differences(series, &count);

	gp_rank_set(rank, series->now_count, series->baseline_count);
	needed = gp_rank_needed(rank, chance);
	/*
		 * differences to the longest run of the baseline may be below -median; a value cannot
		 * decrease by more than the median
		 */
	finding->low = needed <= count ? fmax(differences[count - needed], -finding->baseline)
				       : (double)-INFINITY;
	free(differences);
}

bool gp_series_is_worse(const struct gp_check_finding *finding)
{
	return finding->now > finding->baseline + finding->margin;
}

/* ---- number of runs for a verdict ---- */

/* The standard normal value that is exceeded with that probability. */
static double sigmas_of(double probability)
{
	double low = 0, high = 10;

	for (int i = 0; i < 50; i++) {
		double middle = (low + high) / 2;

		*(erfc(middle / sqrt(2)) / 2 > probability ? &low : &high) = middle;
	}
	return low;
}

/*
 * The shares of pairs whose difference is above and below the margin: pairs of a new run and one of
 * the baseline, or of two of the baseline if there are fewer than 3 new runs that do not seem worse.
 */
struct lean {
	double above, below;
};

static struct lean lean_of(const struct gp_series *series, const struct gp_check_finding *finding)
{
	bool few = series->now_count < 3 && !gp_series_is_worse(finding);
	const double *runs = few ? series->baseline : series->now;
	uint32_t run_count = few ? series->baseline_count : series->now_count;
	double above = 0, below = 0, pairs = 0;

	for (uint32_t i = 0; i < run_count; i++)
		for (uint32_t k = 0; k < series->baseline_count; k++) {
			double difference = runs[i] - series->baseline[k];

			if (few && i == k)
				continue;
			pairs++;
			above += difference > finding->margin;
			below += difference < finding->margin;
		}
	/* pairs + 1: a finite number of pairs is never certain */
	return (struct lean){above / (pairs + 1), below / (pairs + 1)};
}

/* Whether that many runs would probably show, at that level, a difference with this share of pairs. */
static bool would_tell(double part, uint32_t runs, uint32_t baseline, double level, double sigmas)
{
	double pairs = (double)runs * baseline;
	double deviation = sqrt(pairs * (runs + baseline + 1) / 12);

	return gp_rank_least(runs, baseline) <= level &&
	       (part - 0.5) * pairs >=
		       deviation * (sigmas + POWER_SIGMAS * 2 * sqrt(fmax(part * (1 - part), 0)));
}

void gp_series_plan(const struct gp_series *series, uint32_t tested,
		    struct gp_check_finding *finding)
{
	struct lean lean = lean_of(series, finding);
	bool is_worse = lean.above > lean.below;
	double part = is_worse ? lean.above : lean.below;
	double level = is_worse ? GP_CHECK_ALARMS / tested : GP_CHECK_DOUBT;
	double sigmas = sigmas_of(level);

	for (uint32_t baseline = series->baseline_count; baseline <= GP_RANK_MOST; baseline++) {
		uint32_t first = baseline == series->baseline_count ? 1 : baseline;
		uint32_t last = baseline == series->baseline_count ? GP_RANK_MOST : baseline;

		for (uint32_t runs = first; runs <= last; runs++)
			if ((runs > series->now_count || baseline > series->baseline_count) &&
			    would_tell(part, runs, baseline, level, sigmas)) {
				finding->runs_needed = runs;
				finding->baseline_needed = baseline;
				return;
			}
	}
}

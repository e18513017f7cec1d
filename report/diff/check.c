#include "report/diff/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/diff/series.h"
#include "report/symbols/names.h"
#include "report/base/spill_memory.h"

/* The threshold of counts that vary in the baseline, if none is given. */
#define VARYING_SHARE 0.05

struct judging {
	const struct gp_run_set *baseline, *now; /* without partial runs */
	const struct gp_thresholds *thresholds;
	struct gp_check *check;
	struct gp_series *series; /* parallel to the findings */
	uint32_t series_capacity;
	struct gp_rank rank;
	struct gp_names *names;
	double kernel_ns; /* of the baseline */
};

const char *gp_check_verdict_name(enum gp_check_verdict verdict)
{
	static const char *const names[] = {
		[GP_VERDICT_PASS] = "pass",
		[GP_VERDICT_INCONCLUSIVE] = "inconclusive",
		[GP_VERDICT_REGRESSION] = "regression",
	};

	return names[verdict];
}

/* ---- one finding ---- */

/* Each run's energy of a step may be wrong by its error: a change within both shows nothing. */
static double error_of(const struct judging *j, const struct gp_check_finding *finding)
{
	double baseline[GP_RANK_MOST], now[GP_RANK_MOST];

	if (finding->metric != GP_METRIC_STEP_ENERGY)
		return 0;
	gp_run_set_metric(j->baseline, GP_METRIC_STEP_ENERGY_ERROR, baseline);
	gp_run_set_metric(j->now, GP_METRIC_STEP_ENERGY_ERROR, now);
	return gp_median(baseline, j->baseline->count) + gp_median(now, j->now->count);
}

static double margin_of(const struct gp_threshold *threshold,
			const struct gp_check_finding *finding, const struct gp_series *series)
{
	bool is_exact = finding->metric < GP_METRICS &&
			gp_metric_rows[finding->metric].kind == GP_METRIC_EXACT;

	if (is_exact && !threshold->given && !gp_series_is_steady(series))
		return fmax(VARYING_SHARE * finding->baseline, 1);
	return gp_threshold_margin(threshold, finding->baseline);
}

static void judge(struct judging *j, struct gp_check_finding *finding,
		  const struct gp_series *series, const struct gp_threshold *threshold)
{
	bool is_exact = finding->metric < GP_METRICS &&
			gp_metric_rows[finding->metric].kind == GP_METRIC_EXACT;

	finding->exact = true;
	if (!gp_series_is_known(series)) {
		finding->verdict = GP_VERDICT_INCONCLUSIVE;
		finding->doubt = GP_DOUBT_UNKNOWN;
		return;
	}
	finding->margin = fmax(margin_of(threshold, finding, series), error_of(j, finding));
	if (gp_series_is_zero(series) || (is_exact && gp_series_is_steady(series))) {
		gp_series_compare(series, finding);
		return;
	}
	finding->exact = false;
	j->check->tested++;
	gp_series_test(series, &j->rank, finding);
}

static void add(struct judging *j, struct gp_check_finding finding, const struct gp_series *series,
		const struct gp_threshold *threshold)
{
	struct gp_check *check = j->check;

	gp_array_grow(&check->findings, &check->capacity, check->count, sizeof(finding));
	gp_array_grow(&j->series, &j->series_capacity, check->count, sizeof(*series));
	gp_series_medians(series, &finding);
	judge(j, &finding, series, threshold);
	j->series[check->count] = *series;
	check->findings[check->count++] = finding;
}

/* ---- new kernels ---- */

static bool occurs(const struct gp_run_set *set, const char *name)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (gp_named_find(&set->runs[i].figures.named[GP_NAMED_KERNEL], name))
			return true;
	return false;
}

/* Names of kernels that only the first set has. */
static void list_missing(const struct gp_run_set *set, const struct gp_run_set *other,
			 const char ***names, uint32_t *count)
{
	uint32_t all;

	gp_run_set_names(set, NULL, GP_NAMED_KERNEL, names, &all);
	*count = 0;
	for (uint32_t i = 0; i < all; i++)
		if (!occurs(other, (*names)[i]))
			(*names)[(*count)++] = (*names)[i];
}

/* New kernels that replace others do not count. */
static void count_new_kernels(struct judging *j, struct gp_series *series)
{
	struct gp_check *check = j->check;

	list_missing(j->now, j->baseline, &check->new_kernels, &check->new_count);
	list_missing(j->baseline, j->now, &check->gone_kernels, &check->gone_count);
	memset(series->baseline, 0, sizeof(series->baseline));
	for (uint32_t i = 0; i < j->now->count; i++) {
		const struct gp_named_list *kernels =
			&j->now->runs[i].figures.named[GP_NAMED_KERNEL];
		uint32_t found = 0;

		for (uint32_t k = 0; k < check->new_count; k++)
			found += gp_named_find(kernels, check->new_kernels[k]) != NULL;
		series->now[i] = found > check->gone_count ? found - check->gone_count : 0;
	}
}

/* ---- all findings ---- */

static bool knows_none(const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!isnan(values[i]))
			return false;
	return true;
}

/* A metric that neither side recorded is left out. */
static void take_metric(struct judging *j, enum gp_metric metric)
{
	const struct gp_threshold *threshold = &j->thresholds->metrics[metric];
	struct gp_check_finding finding = {.metric = metric, .unit = gp_metric_rows[metric].unit};
	struct gp_series series = {.baseline_count = j->baseline->count,
				   .now_count = j->now->count};

	if (threshold->off) {
		if (gp_metric_rows[metric].gated)
			j->check->off[j->check->off_count++] = metric;
		return;
	}
	gp_run_set_metric(j->baseline, metric, series.baseline);
	gp_run_set_metric(j->now, metric, series.now);
	if (metric == GP_METRIC_NEW_KERNELS && gp_machine_is_sampled(&j->now->machine))
		return; /* a window has not each kernel */
	if (metric == GP_METRIC_NEW_KERNELS)
		count_new_kernels(j, &series);
	if (knows_none(series.baseline, series.baseline_count) &&
	    knows_none(series.now, series.now_count))
		return;
	add(j, finding, &series, threshold);
}

static void take_metrics(struct judging *j, enum gp_metric_kind kind)
{
	for (int metric = 0; metric < GP_METRICS; metric++)
		if (gp_metric_rows[metric].kind == kind)
			take_metric(j, (enum gp_metric)metric);
}

struct candidate {
	const char *name;
	double total_ns; /* median of the baseline */
};

static int compare_totals(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	return (left->total_ns < right->total_ns) - (left->total_ns > right->total_ns);
}

static void take_kernel(struct judging *j, const struct candidate *candidate, uint32_t place)
{
	const struct gp_threshold *threshold =
		gp_thresholds_of_kernel(j->thresholds, gp_names_full(j->names, candidate->name));
	bool is_named = threshold != &j->thresholds->kernel;
	bool is_long = place < GP_CHECK_KERNELS &&
		       candidate->total_ns >= GP_CHECK_KERNEL_SHARE * j->kernel_ns;
	struct gp_check_finding finding = {
		.metric = GP_METRICS, .kernel = candidate->name, .unit = GP_UNIT_NS};
	struct gp_series series = {.baseline_count = j->baseline->count,
				   .now_count = j->now->count};

	if (threshold->off && is_long)
		j->check->kernels_off[j->check->kernels_off_count++] = candidate->name;
	if (threshold->off || (!is_named && !is_long))
		return;
	gp_run_set_named(j->baseline, GP_NAMED_KERNEL, candidate->name, GP_NAMED_TOTAL,
			 series.baseline);
	gp_run_set_named(j->now, GP_NAMED_KERNEL, candidate->name, GP_NAMED_TOTAL, series.now);
	add(j, finding, &series, threshold);
}

static void take_kernels(struct judging *j)
{
	double values[GP_RANK_MOST];
	struct candidate *candidates = NULL;
	const char **names;
	uint32_t count;

	gp_run_set_names(j->baseline, NULL, GP_NAMED_KERNEL, &names, &count);
	gp_run_set_metric(j->baseline, GP_METRIC_KERNEL_TIME, values);
	j->kernel_ns = gp_median(values, j->baseline->count);
	candidates = calloc((size_t)count + 1, sizeof(*candidates));
	for (uint32_t i = 0; i < count; i++) {
		gp_run_set_named(j->baseline, GP_NAMED_KERNEL, names[i], GP_NAMED_TOTAL, values);
		candidates[i] = (struct candidate){names[i], gp_median(values, j->baseline->count)};
	}
	qsort(candidates, count, sizeof(*candidates), compare_totals);
	for (uint32_t i = 0; i < count; i++)
		take_kernel(j, &candidates[i], i);
	free(candidates);
	free(names);
}

/* ---- verdicts of the rank tests, all together ---- */

GP_COMPARE_BY(compare_chances, struct gp_check_finding, chance)

/* left: the number of tests that did not show a regression. */
static enum gp_doubt doubt_of(const struct gp_check *check, const struct gp_check_finding *finding,
			      uint32_t left)
{
	double least = gp_rank_least(check->runs, check->baseline_runs);

	if (least > GP_CHECK_DOUBT)
		return GP_DOUBT_FEW;
	if (gp_series_is_worse(finding) && least > GP_CHECK_ALARMS / left)
		return GP_DOUBT_UNSHOWN;
	return finding->chance <= GP_CHECK_DOUBT ? GP_DOUBT_TOGETHER : GP_DOUBT_NOISE;
}

static void decide(struct judging *j, uint32_t at, uint32_t left)
{
	struct gp_check_finding *finding = &j->check->findings[at];

	if (finding->verdict == GP_VERDICT_REGRESSION || finding->excluded <= GP_CHECK_DOUBT)
		return;
	finding->verdict = GP_VERDICT_INCONCLUSIVE;
	finding->doubt = doubt_of(j->check, finding, left);
	gp_series_plan(&j->series[at], j->check->tested, finding);
}

/*
 * The runs that all inconclusive findings need; 0 if no number of runs is enough for one of them, as
 * for a count that varies although it did not in the baseline.
 */
static void plan_all(struct gp_check *check)
{
	for (uint32_t i = 0; i < check->count; i++) {
		const struct gp_check_finding *finding = &check->findings[i];

		if (finding->verdict != GP_VERDICT_INCONCLUSIVE)
			continue;
		if (finding->runs_needed == 0) {
			check->runs_needed = check->baseline_needed = 0;
			return;
		}
		if (finding->runs_needed > check->runs_needed)
			check->runs_needed = finding->runs_needed;
		if (finding->baseline_needed > check->baseline_needed)
			check->baseline_needed = finding->baseline_needed;
	}
}

/* Holm: the k-th smallest chance, from k = 0 on, may be at most ALARMS / (tests - k). */
static void decide_all(struct judging *j)
{
	struct gp_check *check = j->check;
	uint32_t *order = gp_array_order(check->findings, check->count, sizeof(*check->findings),
					 compare_chances, NULL);
	uint32_t left = check->tested;

	for (uint32_t i = 0; i < check->count; i++) {
		struct gp_check_finding *finding = &check->findings[order[i]];

		if (finding->exact)
			continue;
		if (finding->chance > GP_CHECK_ALARMS / left)
			break;
		finding->verdict = GP_VERDICT_REGRESSION;
		left--;
	}
	gp_spill_free(order);
	for (uint32_t i = 0; i < check->count; i++) {

		if (check->findings[i].exact)
			continue;
		gp_series_bound(&j->series[i], &j->rank, GP_CHECK_ALARMS / (left > 0 ? left : 1),
				&check->findings[i]);
		decide(j, i, left);
	}
	plan_all(check);
}

static void sum_up(struct gp_check *check, bool is_partial)
{
	check->verdict = is_partial || check->runs == 0 ? GP_VERDICT_INCONCLUSIVE : GP_VERDICT_PASS;
	for (uint32_t i = 0; i < check->count; i++)
		if (check->findings[i].verdict > check->verdict)
			check->verdict = check->findings[i].verdict;
}

/* A view of the runs that are not partial. */
static void view(struct gp_run_set *whole, const struct gp_run_set *now)
{
	*whole = (struct gp_run_set){.runs = calloc((size_t)now->count + 1, sizeof(*now->runs))};
	for (uint32_t i = 0; i < now->count; i++)
		if (!now->runs[i].partial)
			whole->runs[whole->count++] = now->runs[i];
}

void gp_check_judge(const struct gp_run_set *baseline, const struct gp_run_set *now,
		    const struct gp_thresholds *thresholds, struct gp_check *check)
{
	struct judging j = {.baseline = baseline,
			    .now = &check->compared,
			    .thresholds = thresholds,
			    .check = check,
			    .names = gp_names_new()};

	*check = (struct gp_check){.baseline_runs = baseline->count};
	view(&check->compared, now);
	check->runs = check->compared.count;
	if (check->runs > 0 && check->baseline_runs > 0) {
		take_metrics(&j, GP_METRIC_EXACT);
		take_metrics(&j, GP_METRIC_TIME);
		take_kernels(&j);
		decide_all(&j);
	}
	sum_up(check, check->runs < now->count);
	gp_names_free(j.names);
	gp_rank_free(&j.rank);
	free(j.series);
}

void gp_check_close(struct gp_check *check)
{
	free(check->findings);
	free(check->compared.runs);
	free(check->new_kernels);
	free(check->gone_kernels);
	*check = (struct gp_check){0};
}

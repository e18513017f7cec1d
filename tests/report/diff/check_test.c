#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff/check.h"
#include "run_builder.h"

#define BASELINE 20u
#define RUNS     7u

struct scene {
	struct gp_run_set baseline, now;
	struct gp_thresholds thresholds;
	struct gp_check check;
};

static struct scene scene_make(uint32_t baseline_runs, uint32_t runs)
{
	struct scene scene = {.baseline = runs_make(baseline_runs, 2), .now = runs_make(runs, 2)};

	gp_thresholds_open(&scene.thresholds);
	return scene;
}

/* What is said of a change never contradicts the verdict. */
static void check_bounds(const struct gp_check *check)
{
	for (uint32_t i = 0; i < check->count; i++) {
		const struct gp_check_finding *finding = &check->findings[i];

		if (finding->exact)
			continue;
		assert_int_equal(finding->low > finding->margin,
				 finding->verdict == GP_VERDICT_REGRESSION);
		assert_int_equal(finding->high < finding->margin,
				 finding->verdict == GP_VERDICT_PASS);
		assert_true(finding->low <= finding->high);
	}
}

static void judge(struct scene *scene)
{
	gp_check_close(&scene->check);
	gp_check_judge(&scene->baseline, &scene->now, &scene->thresholds, &scene->check);
	check_bounds(&scene->check);
}

static void scene_end(struct scene *scene)
{
	gp_check_close(&scene->check);
	gp_thresholds_close(&scene->thresholds);
	gp_run_set_free(&scene->baseline);
	gp_run_set_free(&scene->now);
}

static const struct gp_check_finding *find(const struct scene *scene, enum gp_metric metric)
{
	for (uint32_t i = 0; i < scene->check.count; i++)
		if (scene->check.findings[i].metric == metric)
			return &scene->check.findings[i];
	return NULL;
}

static void set_both(struct scene *scene, enum gp_metric metric, double baseline, double now)
{
	runs_set(&scene->baseline, metric, baseline);
	runs_set(&scene->now, metric, now);
}

/* Times that vary by 1 %: of each run another. */
static void vary(struct gp_run_set *set, enum gp_metric metric, double mean)
{
	for (uint32_t i = 0; i < set->count; i++)
		set->runs[i].figures.values[metric] =
			mean * (1 + 0.002 * ((int)((i * 7 + 3) % 11) - 5) + 1e-9 * i);
}

static void one_count_more_is_a_regression(void **state)
{
	struct scene scene = scene_make(3, 1);

	set_both(&scene, GP_METRIC_LAUNCHES, 100, 101);
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_REGRESSION);
	assert_int_equal(find(&scene, GP_METRIC_LAUNCHES)->verdict, GP_VERDICT_REGRESSION);
	assert_int_equal(find(&scene, GP_METRIC_LAUNCHES)->beyond, 1);
	assert_int_equal(find(&scene, GP_METRIC_COPIES)->verdict, GP_VERDICT_PASS);
	scene.thresholds.metrics[GP_METRIC_LAUNCHES].amount = 1;
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	scene_end(&scene);
}

static void less_never_fails(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);

	set_both(&scene, GP_METRIC_BYTES_PEAK, 1 << 30, 1 << 20);
	vary(&scene.baseline, GP_METRIC_WALL, 1e9);
	vary(&scene.now, GP_METRIC_WALL, 5e8);
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	assert_true(find(&scene, GP_METRIC_BYTES_PEAK)->improved);
	assert_true(find(&scene, GP_METRIC_WALL)->improved);
	scene_end(&scene);
}

static void a_count_that_some_runs_exceed_is_inconclusive(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);

	set_both(&scene, GP_METRIC_SYNCS, 5, 5);
	scene.now.runs[2].figures.values[GP_METRIC_SYNCS] = 6;
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(find(&scene, GP_METRIC_SYNCS)->doubt, GP_DOUBT_VARIES);
	assert_int_equal(find(&scene, GP_METRIC_SYNCS)->beyond, 1);
	/* where the baseline varies as much, that is nothing */
	scene.baseline.runs[9].figures.values[GP_METRIC_SYNCS] = 6;
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	assert_false(find(&scene, GP_METRIC_SYNCS)->exact);
	scene_end(&scene);
}

static void a_slower_time_needs_share_and_amount(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);

	vary(&scene.baseline, GP_METRIC_WALL, 1e9);
	vary(&scene.now, GP_METRIC_WALL, 1.03e9);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->verdict, GP_VERDICT_PASS);
	vary(&scene.now, GP_METRIC_WALL, 1.09e9);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->verdict, GP_VERDICT_REGRESSION);
	assert_true(find(&scene, GP_METRIC_WALL)->low > 0.07e9);
	assert_true(find(&scene, GP_METRIC_WALL)->high < 0.11e9);
	scene.thresholds.metrics[GP_METRIC_WALL].amount = 0.15e9;
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->verdict, GP_VERDICT_PASS);
	scene.thresholds.metrics[GP_METRIC_WALL].off = true;
	judge(&scene);
	assert_null(find(&scene, GP_METRIC_WALL));
	scene_end(&scene);
}

static void too_few_runs_say_how_many_would_tell(void **state)
{
	struct scene scene = scene_make(BASELINE, 1);
	const struct gp_check_finding *wall;

	vary(&scene.baseline, GP_METRIC_WALL, 1e9);
	vary(&scene.now, GP_METRIC_WALL, 2e9);
	judge(&scene);
	wall = find(&scene, GP_METRIC_WALL);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(wall->verdict, GP_VERDICT_INCONCLUSIVE);
	assert_true(wall->runs_needed > 1 && wall->runs_needed <= RUNS);
	assert_int_equal(wall->baseline_needed, BASELINE);
	scene_end(&scene);
	/* of a baseline of one run, more of both */
	scene = scene_make(1, RUNS);
	vary(&scene.baseline, GP_METRIC_WALL, 1e9);
	vary(&scene.now, GP_METRIC_WALL, 1e9);
	judge(&scene);
	wall = find(&scene, GP_METRIC_WALL);
	assert_int_equal(wall->doubt, GP_DOUBT_FEW);
	assert_true(wall->baseline_needed > 1);
	assert_true(isinf(wall->low) && isinf(wall->high));
	scene_end(&scene);
}

/* Twice as slow in both runs: nothing varies, but two of them cannot show it. */
/* Against the longest run of the baseline, each run is shorter by more than the median. */
static void nothing_shrinks_by_more_than_all_of_it(void **state)
{
	struct scene scene = scene_make(6, 1);
	const struct gp_check_finding *wall;

	vary(&scene.baseline, GP_METRIC_WALL, 1e8);
	for (uint32_t i = 0; i < 2; i++)
		scene.baseline.runs[i].figures.values[GP_METRIC_WALL] = 4e8;
	vary(&scene.now, GP_METRIC_WALL, 1e8);
	judge(&scene);
	wall = find(&scene, GP_METRIC_WALL);
	assert_true(isinf(wall->low)); /* so few: nothing is known of it */
	scene_end(&scene);

	scene = scene_make(6, 4);
	vary(&scene.baseline, GP_METRIC_WALL, 1e8);
	for (uint32_t i = 0; i < 2; i++)
		scene.baseline.runs[i].figures.values[GP_METRIC_WALL] = 4e8 + i;
	vary(&scene.now, GP_METRIC_WALL, 1e8);
	judge(&scene);
	wall = find(&scene, GP_METRIC_WALL);
	assert_true(wall->low == -wall->baseline);
	scene_end(&scene);
}

static void too_few_runs_to_show_a_regression_are_no_noise(void **state)
{
	struct scene scene = scene_make(BASELINE, 2);
	const struct gp_check_finding *wall;
	uint32_t needed;

	for (enum gp_metric metric = 0; metric < GP_METRICS; metric++)
		if (gp_metric_rows[metric].kind == GP_METRIC_TIME) {
			vary(&scene.baseline, metric, 1e9);
			vary(&scene.now, metric, metric == GP_METRIC_WALL ? 2e9 : 1e9);
		}
	judge(&scene);
	wall = find(&scene, GP_METRIC_WALL);
	assert_int_equal(wall->verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(wall->doubt, GP_DOUBT_UNSHOWN);
	needed = wall->runs_needed;
	assert_true(needed > 2 && needed <= RUNS);
	scene_end(&scene);
	scene = scene_make(BASELINE, needed);
	for (enum gp_metric metric = 0; metric < GP_METRICS; metric++)
		if (gp_metric_rows[metric].kind == GP_METRIC_TIME) {
			vary(&scene.baseline, metric, 1e9);
			vary(&scene.now, metric, metric == GP_METRIC_WALL ? 2e9 : 1e9);
		}
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->verdict, GP_VERDICT_REGRESSION);
	scene_end(&scene);
}

static void partial_runs_are_left_out_and_leave_doubt(void **state)
{
	struct scene scene = scene_make(3, 3);

	set_both(&scene, GP_METRIC_LAUNCHES, 100, 100);
	scene.now.runs[1].figures.values[GP_METRIC_LAUNCHES] = 50;
	scene.now.runs[1].partial = strdup("its process was killed");
	judge(&scene);
	assert_int_equal(scene.check.runs, 2);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(find(&scene, GP_METRIC_LAUNCHES)->verdict, GP_VERDICT_PASS);
	assert_false(find(&scene, GP_METRIC_LAUNCHES)->improved);
	/* what the others show is shown */
	runs_set(&scene.now, GP_METRIC_LAUNCHES, 101);
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_REGRESSION);
	for (uint32_t i = 0; i < scene.now.count; i++)
		if (!scene.now.runs[i].partial)
			scene.now.runs[i].partial = strdup("so was this");
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(scene.check.count, 0);
	scene_end(&scene);
}

static void what_one_side_lacks_is_inconclusive_what_both_lack_is_nothing(void **state)
{
	struct scene scene = scene_make(3, 3);

	set_both(&scene, GP_METRIC_BYTES_LEAKED, (double)NAN, (double)NAN);
	judge(&scene);
	assert_null(find(&scene, GP_METRIC_BYTES_LEAKED));
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	runs_set(&scene.baseline, GP_METRIC_BYTES_LEAKED, 0);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_BYTES_LEAKED)->doubt, GP_DOUBT_UNKNOWN);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	scene_end(&scene);
}

/* Of a baseline that was written before gpuprof knew the metric. */
static void what_an_older_baseline_lacks_is_no_regression(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);

	set_both(&scene, GP_METRIC_IDLE_DEPENDENCY, (double)NAN, 1e9);
	judge(&scene);
	assert_null(find(&scene, GP_METRIC_IDLE_DEPENDENCY));
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	scene.thresholds.metrics[GP_METRIC_IDLE_DEPENDENCY] =
		(struct gp_threshold){.given = true, .share = 0.05};
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_IDLE_DEPENDENCY)->doubt, GP_DOUBT_UNKNOWN);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	scene_end(&scene);
}

static void rename_kernel(struct gp_run_set *set, uint32_t kernel, const char *name)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct gp_named_list *kernels = &set->runs[i].figures.named[GP_NAMED_KERNEL];

		free(kernels->rows[kernel].name);
		kernels->rows[kernel].name = strdup(name);
		gp_named_sort(kernels);
	}
}

static void a_new_kernel_is_a_regression_unless_it_replaces_one(void **state)
{
	struct scene scene = scene_make(3, 3);
	struct gp_run_set more = runs_make(3, 3);

	rename_kernel(&scene.now, 1, "other");
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	assert_int_equal(scene.check.new_count, 1);
	assert_string_equal(scene.check.new_kernels[0], "other");
	assert_int_equal(scene.check.gone_count, 1);
	assert_string_equal(scene.check.gone_kernels[0], "kernel_01");
	gp_run_set_free(&scene.now);
	scene.now = more;
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_NEW_KERNELS)->verdict, GP_VERDICT_REGRESSION);
	assert_string_equal(scene.check.new_kernels[0], "kernel_02");
	scene_end(&scene);
}

static void set_kernel(struct gp_run_set *set, uint32_t kernel, double total_ns)
{
	for (uint32_t i = 0; i < set->count; i++)
		set->runs[i].figures.named[GP_NAMED_KERNEL].rows[kernel].total_ns =
			total_ns * (1 + 0.001 * (i % 7));
}

static void kernels_are_judged_by_their_share_or_by_name(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);
	char message[256];
	const struct gp_check_finding *found = NULL;

	set_both(&scene, GP_METRIC_KERNEL_TIME, 1e9, 1e9);
	set_kernel(&scene.baseline, 0, 9e8);
	set_kernel(&scene.now, 0, 9e8);
	set_kernel(&scene.baseline, 1, 1e6);
	set_kernel(&scene.now, 1, 3e6);
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_PASS);
	assert_int_equal(gp_thresholds_parse(&scene.thresholds, "file", "kernel /_01$/ 10%",
					     message, sizeof(message)),
			 0);
	judge(&scene);
	assert_int_equal(scene.check.verdict, GP_VERDICT_REGRESSION);
	for (uint32_t i = 0; i < scene.check.count; i++)
		if (scene.check.findings[i].kernel &&
		    strcmp(scene.check.findings[i].kernel, "kernel_01") == 0)
			found = &scene.check.findings[i];
	assert_non_null(found);
	assert_int_equal(found->verdict, GP_VERDICT_REGRESSION);
	scene_end(&scene);
}

/*
 * Many metrics that are a little unlikely each are none together; one that is certain is, and does
 * not hide behind them.
 */
static void chances_are_judged_together(void **state)
{
	struct scene scene = scene_make(7, 7);

	for (int i = 0; i < GP_METRICS; i++) {
		if (gp_metric_rows[i].kind != GP_METRIC_TIME || !gp_metric_rows[i].gated)
			continue;
		vary(&scene.baseline, (enum gp_metric)i, 1e9);
		vary(&scene.now, (enum gp_metric)i, 1.058e9);
	}
	judge(&scene);
	assert_true(find(&scene, GP_METRIC_WALL)->chance > 0.002);
	assert_true(find(&scene, GP_METRIC_WALL)->chance < 0.5);
	assert_int_equal(scene.check.verdict, GP_VERDICT_INCONCLUSIVE);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->doubt, GP_DOUBT_TOGETHER);
	assert_true(scene.check.runs_needed > 7);
	vary(&scene.now, GP_METRIC_WALL, 1.5e9);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_WALL)->verdict, GP_VERDICT_REGRESSION);
	assert_int_equal(find(&scene, GP_METRIC_GPU_BUSY)->verdict, GP_VERDICT_INCONCLUSIVE);
	scene_end(&scene);
}

/* Without energy samples there is nothing to judge; within the errors of both nothing is shown. */
static void energy_needs_more_than_its_error(void **state)
{
	struct scene scene = scene_make(BASELINE, RUNS);

	set_both(&scene, GP_METRIC_STEP_ENERGY, (double)NAN, (double)NAN);
	judge(&scene);
	assert_null(find(&scene, GP_METRIC_STEP_ENERGY));
	vary(&scene.baseline, GP_METRIC_STEP_ENERGY, 50);
	vary(&scene.now, GP_METRIC_STEP_ENERGY, 60);
	set_both(&scene, GP_METRIC_STEP_ENERGY_ERROR, 0.5, 0.25);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_STEP_ENERGY)->verdict, GP_VERDICT_REGRESSION);
	assert_true(find(&scene, GP_METRIC_STEP_ENERGY)->margin < 0.06 * 50);
	set_both(&scene, GP_METRIC_STEP_ENERGY_ERROR, 6, 7);
	judge(&scene);
	assert_int_equal(find(&scene, GP_METRIC_STEP_ENERGY)->verdict, GP_VERDICT_PASS);
	assert_true(find(&scene, GP_METRIC_STEP_ENERGY)->margin == 13);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_count_more_is_a_regression),
		cmocka_unit_test(less_never_fails),
		cmocka_unit_test(a_count_that_some_runs_exceed_is_inconclusive),
		cmocka_unit_test(a_slower_time_needs_share_and_amount),
		cmocka_unit_test(too_few_runs_say_how_many_would_tell),
		cmocka_unit_test(nothing_shrinks_by_more_than_all_of_it),
		cmocka_unit_test(too_few_runs_to_show_a_regression_are_no_noise),
		cmocka_unit_test(partial_runs_are_left_out_and_leave_doubt),
		cmocka_unit_test(what_an_older_baseline_lacks_is_no_regression),
		cmocka_unit_test(what_one_side_lacks_is_inconclusive_what_both_lack_is_nothing),
		cmocka_unit_test(a_new_kernel_is_a_regression_unless_it_replaces_one),
		cmocka_unit_test(kernels_are_judged_by_their_share_or_by_name),
		cmocka_unit_test(chances_are_judged_together),
		cmocka_unit_test(energy_needs_more_than_its_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

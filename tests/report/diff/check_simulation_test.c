/*
 * Thousands of whole checks with made-up runs: how often equal programs fail, how surely slower
 * ones do.
 */
#include "tests/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/calibrate.h"
#include "report/diff/check.h"
#include "report/diff/rank.h"
#include "run_builder.h"
#include "tests/lib/sanitizer.h"

#define BASELINE_RUNS 20u
#define RUNS          7u
#define KERNELS       20u
#define CHECKS        400 /* of each shape of noise */

/* ---- chance, the same in every run of the test ---- */

struct chance {
	uint64_t state;
};

static uint64_t next_bits(struct chance *chance)
{
	uint64_t z = chance->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Between 0 and 1, never either. */
static double uniform(struct chance *chance)
{
	return ((double)(next_bits(chance) >> 11) + 0.5) * 0x1p-53;
}

static double normal(struct chance *chance)
{
	return sqrt(-2 * log(uniform(chance))) * cos(2 * M_PI * uniform(chance));
}

/* Student's with 3 degrees of freedom, its deviation 1. */
static double heavy(struct chance *chance)
{
	double squares = 0;

	for (int i = 0; i < 3; i++) {
		double one = normal(chance);

		squares += one * one;
	}
	return normal(chance) / sqrt(squares / 3) / sqrt(3);
}

/*
 * Processes are of one of two modes, equally often; within one next to nothing varies: 22.5 or 25.5
 * ms, give or take 0.05.
 */
static double two_modes(struct chance *chance)
{
	return (uniform(chance) < 0.5 ? -1 : 1) + 0.03 * normal(chance);
}

/* Each tenth process is much slower. */
static double slow_mode(struct chance *chance)
{
	return ((uniform(chance) < 0.1 ? 1 : 0) - 0.1) / 0.3 + 0.1 * normal(chance);
}

/* Never much faster, now and then much slower. */
static double skewed(struct chance *chance)
{
	return (exp(0.8 * normal(chance)) - 1.3771) / 1.3061;
}

static const struct shape {
	const char *name;
	double (*draw)(struct chance *); /* mean 0, deviation 1 */
	/* least part of the checks of equal programs that pass: some are inconclusive */
	double passing;
} shapes[] = {
	{"normal", normal, 0.9},       {"heavy-tailed", heavy, 0.85}, {"bimodal", two_modes, 0.9},
	{"slow mode", slow_mode, 0.4}, {"skewed", skewed, 0.5},
};

/* ---- a program ---- */

static const enum gp_metric times[] = {
	GP_METRIC_WALL,      GP_METRIC_GPU_BUSY,       GP_METRIC_KERNEL_TIME,
	GP_METRIC_COPY_TIME, GP_METRIC_EXPOSED_COPIES,
};

#define TIMES COUNT(times)

/*
 * Deviations from run to run as they were measured on GPUs: of kernels that fill them, that do not,
 * of host work, of shared machines.
 */
static const double deviations[] = {0.004, 0.007, 0.012, 0.027, 0.05, 0.14};

struct program {
	const struct shape *shape;
	double slowdown[TIMES + KERNELS]; /* of each time: a factor */
};

#define MEAN_NS 5e7

static double deviation_of(size_t time)
{
	return deviations[time % COUNT(deviations)];
}

/* Half of what varies is common to all times of a run. */
static double draw(const struct program *program, struct chance *chance, size_t time, double common)
{
	double noise = program->shape->draw(chance), share = deviation_of(time);

	noise = time % 2 ? noise : (noise + common) / sqrt(2);
	return MEAN_NS * (program->slowdown[time] + share * noise);
}

static struct gp_run_set run(const struct program *program, struct chance *chance, uint32_t count)
{
	struct gp_run_set set = runs_make(count, KERNELS);

	runs_set(&set, GP_METRIC_LAUNCHES, 1234);
	runs_set(&set, GP_METRIC_BYTES_PEAK, 1 << 30);
	for (uint32_t i = 0; i < count; i++) {
		struct gp_figures *figures = &set.runs[i].figures;
		struct gp_named_list *kernels = &figures->named[GP_NAMED_KERNEL];
		double common = program->shape->draw(chance);

		for (size_t t = 0; t < TIMES; t++)
			figures->values[times[t]] = draw(program, chance, t, common);
		for (size_t k = 0; k < KERNELS; k++)
			kernels->rows[k].total_ns = draw(program, chance, TIMES + k, common);
		/* a program that polls */
		figures->values[GP_METRIC_SYNCS] = 500 + floor(40 * uniform(chance));
	}
	return set;
}

static struct program program_of(const struct shape *shape)
{
	struct program program = {.shape = shape};

	for (size_t t = 0; t < TIMES + KERNELS; t++)
		program.slowdown[t] = 1;
	return program;
}

/* ---- checks ---- */

static void calibrate(const struct gp_run_set *baseline, struct gp_thresholds *thresholds)
{
	struct gp_calibration calibration;
	char *text = NULL, message[256] = "";
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	gp_calibrate(out, baseline, &calibration);
	fclose(out);
	gp_thresholds_open(thresholds);
	if (gp_thresholds_parse(thresholds, "thresholds", text, message, sizeof(message)) != 0)
		fail_msg("%s", message);
	free(text);
}

/* Of every time that much more than the baseline's, which means MEAN_NS. */
static void tolerate(struct gp_thresholds *thresholds, double share)
{
	static const struct gp_threshold none = {0};

	gp_thresholds_open(thresholds);
	thresholds->kernel = none;
	thresholds->kernel.amount = share * MEAN_NS;
	for (size_t i = 0; i < TIMES; i++)
		thresholds->metrics[times[i]] = thresholds->kernel;
}

static struct gp_check judge(const struct gp_run_set *baseline, const struct program *program,
			     struct chance *chance, uint32_t runs,
			     const struct gp_thresholds *thresholds)
{
	struct gp_run_set now = run(program, chance, runs);
	struct gp_check check;

	gp_check_judge(baseline, &now, thresholds, &check);
	gp_run_set_free(&now);
	return check;
}

/* The finding of a time: metrics in their order, kernels by their names. */
static const struct gp_check_finding *finding_of(const struct gp_check *check, size_t time,
						 const struct gp_run_set *baseline)
{
	const char *kernel =
		time < TIMES
			? NULL
			: baseline->runs[0].figures.named[GP_NAMED_KERNEL].rows[time - TIMES].name;

	for (uint32_t i = 0; i < check->count; i++) {
		const struct gp_check_finding *finding = &check->findings[i];

		if (kernel ? finding->kernel && strcmp(finding->kernel, kernel) == 0
			   : finding->metric == times[time])
			return finding;
	}
	fail_msg("time %zu is not judged", time);
	return NULL;
}

struct outcome {
	int alarms, passes;
};

/* With thresholds from a calibration, of each shape. */
static struct outcome check_equal_programs(const struct shape *shape, struct chance *chance)
{
	struct outcome outcome = {0};

	for (int i = 0; i < CHECKS; i++) {
		struct program program = program_of(shape);
		struct gp_run_set baseline = run(&program, chance, BASELINE_RUNS);
		struct gp_thresholds thresholds;
		struct gp_check check;

		calibrate(&baseline, &thresholds);
		check = judge(&baseline, &program, chance, RUNS, &thresholds);
		assert_int_equal(check.tested, TIMES + KERNELS + 1);
		outcome.alarms += check.verdict == GP_VERDICT_REGRESSION;
		outcome.passes += check.verdict == GP_VERDICT_PASS;
		gp_check_close(&check);
		gp_thresholds_close(&thresholds);
		gp_run_set_free(&baseline);
	}
	return outcome;
}

static void equal_programs_pass(void **state)
{
	struct chance chance = {1};
	int alarms = 0;

	for (size_t s = 0; s < COUNT(shapes); s++) {
		struct outcome outcome = check_equal_programs(&shapes[s], &chance);

		print_message("%s: of %d checks of equal programs %d fail, %d pass\n",
			      shapes[s].name, CHECKS, outcome.alarms, outcome.passes);
		alarms += outcome.alarms;
		assert_true(outcome.passes > shapes[s].passing * CHECKS);
	}
	assert_true(alarms < 0.01 * CHECKS * COUNT(shapes));
}

/* ---- false alarms in the hardest case: everything is slower by just what is tolerated ---- */

#define TESTS       (TIMES + KERNELS + 1) /* with the calls of the program that polls */
#define MOST_WINS   (RUNS * BASELINE_RUNS)
#define TOLERATED   0.05
#define HARD_CHECKS 1000 /* of each shape of noise */

/*
 * How many of all orders of RUNS and BASELINE_RUNS values have at least so many pairs in which the
 * run's is larger.  An order is a number for each run, without regard to which has which: how many
 * of the baseline's are smaller, 0 to all of them.
 */
static double count_orders(uint32_t wins)
{
	double counts[RUNS + 1][MOST_WINS + 1] = {{1}}, sum = 0;

	for (uint32_t smaller = 0; smaller <= BASELINE_RUNS; smaller++)
		for (uint32_t i = 1; i <= RUNS; i++)
			for (uint32_t w = smaller; w <= MOST_WINS; w++)
				counts[i][w] += counts[i - 1][w - smaller];
	for (uint32_t w = wins; w <= MOST_WINS; w++)
		sum += counts[RUNS][w];
	return sum;
}

/*
 * The chance of that many wins, where all orders are equally likely: times that are distributed
 * alike, however that is.
 */
static double chance_of(uint32_t wins)
{
	return count_orders(wins) / count_orders(0);
}

/*
 * The verdict where one time of the runs is larger, by more than is tolerated, in that many pairs,
 * and all others are in none.
 */
static enum gp_check_verdict verdict_of(uint32_t wins)
{
	struct chance chance = {6};
	struct program program = program_of(&shapes[0]);
	struct gp_run_set baseline = run(&program, &chance, BASELINE_RUNS);
	struct gp_run_set now = run(&program, &chance, RUNS);
	struct gp_thresholds thresholds;
	enum gp_check_verdict verdict;
	struct gp_check check;

	for (uint32_t i = 0; i < BASELINE_RUNS; i++)
		baseline.runs[i].figures.values[GP_METRIC_WALL] = MEAN_NS + 1000.0 * i;
	for (uint32_t i = 0; i < RUNS; i++) {
		uint32_t own = wins < BASELINE_RUNS ? wins : BASELINE_RUNS;

		now.runs[i].figures.values[GP_METRIC_WALL] =
			MEAN_NS * (1 + TOLERATED) + 1000.0 * own - 500;
		wins -= own;
	}
	tolerate(&thresholds, TOLERATED);
	gp_check_judge(&baseline, &now, &thresholds, &check);
	assert_int_equal(check.tested, TESTS);
	verdict = finding_of(&check, 0, &baseline)->verdict;
	gp_check_close(&check);
	gp_thresholds_close(&thresholds);
	gp_run_set_free(&now);
	gp_run_set_free(&baseline);
	return verdict;
}

static uint32_t wins_of_an_alarm(void)
{
	uint32_t wins = 0;

	while (wins <= MOST_WINS && verdict_of(wins) != GP_VERDICT_REGRESSION)
		wins++;
	return wins;
}

/*
 * No draws: a check fails if one of its times has so many wins, and all of them together do so with
 * at most the sum of their chances, whatever one has to do with another.  One win less would be too
 * many alarms.
 */
static void fewer_than_one_check_in_a_hundred_is_a_false_alarm(void **state)
{
	uint32_t wins = wins_of_an_alarm();

	print_message(
		"alarms: of %.0f orders %.0f, of each of %zu times: at most %.3f %% of checks\n",
		count_orders(0), count_orders(wins), TESTS, 100 * TESTS * chance_of(wins));
	assert_true(count_orders(0) == 888030); /* 27 choose 7 */
	assert_true(TESTS * chance_of(wins) < 0.01);
	assert_true(TESTS * chance_of(wins - 1) > 0.01);
}

static bool is_alarm(const struct shape *shape, struct chance *chance)
{
	struct program before = program_of(shape), after = before;
	struct gp_run_set baseline = run(&before, chance, BASELINE_RUNS);
	struct gp_thresholds thresholds;
	struct gp_check check;
	bool failed;

	for (size_t t = 0; t < TIMES + KERNELS; t++)
		after.slowdown[t] = 1 + TOLERATED;
	tolerate(&thresholds, TOLERATED);
	check = judge(&baseline, &after, chance, RUNS, &thresholds);
	failed = check.verdict == GP_VERDICT_REGRESSION;
	gp_check_close(&check);
	gp_thresholds_close(&thresholds);
	gp_run_set_free(&baseline);
	return failed;
}

/* Whole checks keep to that bound, within what chance does to as many draws. */
static void what_is_tolerated_is_no_regression(void **state)
{
	const double all = HARD_CHECKS * COUNT(shapes);
	const double most = TESTS * chance_of(wins_of_an_alarm()) * all;
	struct chance chance = {2};
	int alarms = 0;

	for (size_t s = 0; s < COUNT(shapes); s++)
		for (int i = 0; i < HARD_CHECKS; i++)
			alarms += is_alarm(&shapes[s], &chance);
	print_message(
		"%.0f checks of programs as slow as is tolerated: %d alarms, %.1f at most expected\n",
		all, alarms, most);
	assert_true(alarms < most + 3 * sqrt(most));
	assert_true(alarms > most / 2); /* they are the hardest case */
}

static double noise_of(const struct gp_run_set *baseline, size_t time)
{
	double values[GP_RANK_MOST];

	if (time < TIMES)
		gp_run_set_metric(baseline, times[time], values);
	else
		gp_run_set_named(
			baseline, GP_NAMED_KERNEL,
			baseline->runs[0].figures.named[GP_NAMED_KERNEL].rows[time - TIMES].name,
			GP_NAMED_TOTAL, values);
	return gp_noise_of(values, baseline->count);
}

/* Slower by that many times the noise, in one time. */
static int find_slowdowns(const struct shape *shape, struct chance *chance, double times_noise)
{
	int found = 0;

	for (int i = 0; i < CHECKS; i++) {
		struct program before = program_of(shape), after = before;
		struct gp_run_set baseline = run(&before, chance, BASELINE_RUNS);
		size_t time = (size_t)i % (TIMES + KERNELS);
		struct gp_thresholds thresholds;
		struct gp_check check;

		after.slowdown[time] += times_noise * noise_of(&baseline, time) / MEAN_NS;
		calibrate(&baseline, &thresholds);
		check = judge(&baseline, &after, chance, RUNS, &thresholds);
		found += finding_of(&check, time, &baseline)->verdict == GP_VERDICT_REGRESSION;
		gp_check_close(&check);
		gp_thresholds_close(&thresholds);
		gp_run_set_free(&baseline);
	}
	return found;
}

static void a_slowdown_of_five_times_the_noise_is_found(void **state)
{
	struct chance chance = {3};

	for (size_t s = 0; s < COUNT(shapes); s++) {
		int found = find_slowdowns(&shapes[s], &chance, 5);

		print_message("%s: %d of %d slowdowns found\n", shapes[s].name, found, CHECKS);
		assert_true(found > 0.95 * CHECKS);
	}
}

/* A time that varies by 14 %, of which 2 % more is not tolerated: 7 runs cannot tell. */
static void what_runs_cannot_resolve_is_inconclusive(void **state)
{
	static const size_t time = 5;
	struct chance chance = {4};
	int inconclusive = 0, alarms = 0;

	assert_true(deviation_of(time) == 0.14);
	for (int i = 0; i < CHECKS; i++) {
		struct program program = program_of(&shapes[i % 2]);
		struct gp_run_set baseline = run(&program, &chance, BASELINE_RUNS);
		const struct gp_check_finding *finding;
		struct gp_thresholds thresholds;
		struct gp_check check;

		tolerate(&thresholds, 0.02);
		check = judge(&baseline, &program, &chance, RUNS, &thresholds);
		finding = finding_of(&check, time, &baseline);
		inconclusive += finding->verdict == GP_VERDICT_INCONCLUSIVE;
		alarms += finding->verdict == GP_VERDICT_REGRESSION;
		gp_check_close(&check);
		gp_thresholds_close(&thresholds);
		gp_run_set_free(&baseline);
	}
	print_message("%d of %d are inconclusive\n", inconclusive, CHECKS);
	assert_true(alarms < 0.01 * CHECKS);
	assert_true(inconclusive > 0.85 * CHECKS);
}

/* As many runs as it says do tell, more often than not. */
static void the_runs_that_would_tell_do_tell(void **state)
{
	struct chance chance = {5};
	size_t time = 4; /* varies by 5 % */
	int asked = 0, told = 0;

	for (int i = 0; i < CHECKS; i++) {
		struct program program = program_of(&shapes[(size_t)i % COUNT(shapes)]);
		struct gp_run_set baseline = run(&program, &chance, BASELINE_RUNS), more;
		struct gp_thresholds thresholds;
		struct gp_check_finding finding;
		struct gp_check check;

		tolerate(&thresholds, 0.04);
		check = judge(&baseline, &program, &chance, RUNS, &thresholds);
		finding = *finding_of(&check, time, &baseline);
		gp_check_close(&check);
		if (finding.verdict == GP_VERDICT_INCONCLUSIVE && finding.runs_needed > 0) {
			more = run(&program, &chance, finding.baseline_needed);
			check = judge(&more, &program, &chance, finding.runs_needed, &thresholds);
			asked++;
			told += finding_of(&check, time, &more)->verdict == GP_VERDICT_PASS;
			gp_check_close(&check);
			gp_run_set_free(&more);
		}
		gp_thresholds_close(&thresholds);
		gp_run_set_free(&baseline);
	}
	print_message("%d of %d checks with as many runs as was said pass\n", told, asked);
	assert_true(asked > 20);
	assert_true(told > 0.75 * asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_programs_pass),
		cmocka_unit_test(fewer_than_one_check_in_a_hundred_is_a_false_alarm),
		cmocka_unit_test(what_is_tolerated_is_no_regression),
		cmocka_unit_test(a_slowdown_of_five_times_the_noise_is_found),
		cmocka_unit_test(what_runs_cannot_resolve_is_inconclusive),
		cmocka_unit_test(the_runs_that_would_tell_do_tell),
	};

	if (UNDER_ASAN) { /* check_test runs the same code */
		puts("skipped: thousands of checks take a minute under sanitizers");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

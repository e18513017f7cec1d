
#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

#include "report/base/histogram.h"
#include "tests/lib/dice.h"

#define VALUES 5000

static struct gp_histogram *new_spread(void)
{
	struct gp_histogram *histogram = calloc(1, sizeof(*histogram));

	assert_non_null(histogram);
	return histogram;
}

/* Steps follow each other without a gap, and none is wider than a sixteenth of what is in it. */
static void test_steps(void **state)
{
	uint32_t last = 0;

	for (uint64_t ns = 1; ns < UINT64_C(1) << 41; ns += 1 + ns / 100) {
		uint32_t step = gp_histogram_step(ns);

		assert_true(step == last || step == last + 1);
		assert_true(step < GP_HISTOGRAM_COUNTS);
		last = step;
	}
	for (uint64_t ns = 0; ns < 32; ns++)
		assert_int_equal(gp_histogram_step(ns), ns);
	assert_int_not_equal(gp_histogram_step(1024), gp_histogram_step(1024 + 64));
	assert_int_equal(gp_histogram_step(1024), gp_histogram_step(1024 + 63));
	assert_int_equal(gp_histogram_step(UINT64_MAX), GP_HISTOGRAM_COUNTS - 1);
	assert_int_equal(last, GP_HISTOGRAM_COUNTS - 1);
}

static void check(const struct gp_histogram *histogram, const uint64_t *values, size_t count)
{
	struct gp_stats found = gp_histogram_stats(histogram), exact = gp_stats_of(values, count);

	assert_int_equal(found.count, exact.count);
	assert_int_equal(found.total, exact.total);
	assert_int_equal(found.min, exact.min);
	assert_int_equal(found.max, exact.max);
	assert_true(fabs(found.mean - exact.mean) <= 1e-9 * exact.mean);
	assert_true(fabs(found.deviation - exact.deviation) <= 1e-6 * exact.deviation);
	assert_true(fabs(found.median - exact.median) <= 0.033 * exact.median);
}

/* Durations from ns to minutes, dealt out to three spreads: nothing but the median is not exact. */
static void test_against_the_values(void **state)
{
	uint64_t dice = DICE, *values = calloc(VALUES, sizeof(*values));
	struct gp_histogram *parts[] = {new_spread(), new_spread(), new_spread()};
	struct gp_histogram *all = new_spread();

	for (size_t i = 0; i < VALUES; i++) {
		values[i] = roll_dice(&dice) >> (25 + roll_dice(&dice) % 35);
		gp_histogram_add(parts[i % 3], values[i]);
	}
	for (size_t i = 0; i < 3; i++)
		gp_histogram_join(all, parts[2 - i]);
	check(all, values, VALUES);
	for (size_t i = 0; i < 3; i++)
		free(parts[i]);
	free(all);
	free(values);
}

/* The median of an even count lies between the two in the middle, with nothing near it. */
static void test_far_apart(void **state)
{
	const uint64_t values[] = {1631,     5658,     5700,      5900,
				   26934000, 27000000, 556170000, 900000000};

	for (size_t first = 0; first < 4; first++) {
		struct gp_histogram *histogram = new_spread();
		size_t count = 8 - 2 * first;

		for (size_t i = 0; i < count; i++)
			gp_histogram_add(histogram, values[first + i]);
		check(histogram, values + first, count);
		if (count == 2)
			assert_true(gp_histogram_stats(histogram).median ==
				    (5900 + 26934000) / 2.0);
		free(histogram);
	}
}

static void test_one_value_is_everything(void **state)
{
	struct gp_histogram *histogram = new_spread(), *scaled = new_spread();
	struct gp_stats stats;

	assert_int_equal(gp_histogram_stats(histogram).count, 0);
	gp_histogram_add(histogram, 1000003);
	gp_histogram_add(histogram, 1000003);
	stats = gp_histogram_stats(histogram);
	assert_true(stats.median == 1000003 && stats.mean == 1000003 && stats.deviation == 0);
	gp_histogram_join_scaled(scaled, histogram, 0.5);
	stats = gp_histogram_stats(scaled);
	assert_int_equal(stats.count, 2);
	assert_int_equal(stats.min, 500002);
	assert_int_equal(stats.total, 1000003);
	assert_true(fabs(stats.median - 500001.5) < 0.065 * 500001.5);
	free(histogram);
	free(scaled);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_against_the_values),
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_one_value_is_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

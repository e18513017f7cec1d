#include "tests/unit.h"

#include <math.h>
#include <stdlib.h>

#include "report/base/stats.h"

static int compare(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void nothing_is_all_zero(void **state)
{
	struct gp_stats stats = gp_stats_of(NULL, 0);

	assert_int_equal(stats.count, 0);
	assert_int_equal(stats.min, 0);
	assert_true(stats.mean == 0 && stats.median == 0 && stats.deviation == 0);
}

static void one_value_is_everything(void **state)
{
	const uint64_t value = 1234567;
	struct gp_stats stats = gp_stats_of(&value, 1);

	assert_int_equal(stats.min, value);
	assert_int_equal(stats.max, value);
	assert_true(stats.mean == 1234567 && stats.median == 1234567 && stats.deviation == 0);
}

static void figures_are_exact(void **state)
{
	const uint64_t values[] = {9, 2, 4, 4, 5, 4, 7, 5};
	struct gp_stats stats = gp_stats_of(values, 8);

	assert_int_equal(stats.total, 40);
	assert_int_equal(stats.min, 2);
	assert_int_equal(stats.max, 9);
	assert_true(stats.mean == 5.0 && stats.median == 4.5 && stats.deviation == 2.0);
}

static void huge_values_do_not_overflow(void **state)
{
	const uint64_t values[] = {UINT64_MAX, UINT64_MAX - 2};
	struct gp_stats stats = gp_stats_of(values, 2);

	assert_int_equal(stats.max, UINT64_MAX);
	assert_true(stats.mean > 1.8e19 && stats.median > 1.8e19);
	assert_true(isfinite(stats.deviation));
}

static void an_outlier_does_not_blur_small_deviations(void **state)
{
	uint64_t values[1000];
	struct gp_stats stats;

	for (size_t i = 0; i < 1000; i++)
		values[i] = 1000000000000u + i % 2;
	stats = gp_stats_of(values, 1000);
	assert_true(fabs(stats.deviation - 0.5) < 1e-3);
	assert_true(stats.median == 1000000000000.5);
}

/* Random multisets of many sizes and ranges against a sorted copy. */
static void selection_agrees_with_sorting(void **state)
{
	uint64_t values[257], sorted[257];

	srand(1);
	for (int round = 0; round < 500; round++) {
		size_t count = 1 + (size_t)rand() % 257;
		int shift = rand() % 60;

		for (size_t i = 0; i < count; i++)
			sorted[i] = values[i] =
				((uint64_t)rand() << 33 ^ (uint64_t)rand()) >> shift;
		qsort(sorted, count, sizeof(*sorted), compare);
		for (size_t rank = 0; rank < count; rank++)
			assert_int_equal(gp_stats_select(values, count, rank), sorted[rank]);
		assert_true(gp_stats_of(values, count).median ==
			    (double)sorted[(count - 1) / 2] +
				    (double)(sorted[count / 2] - sorted[(count - 1) / 2]) / 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_all_zero),
		cmocka_unit_test(one_value_is_everything),
		cmocka_unit_test(figures_are_exact),
		cmocka_unit_test(huge_values_do_not_overflow),
		cmocka_unit_test(an_outlier_does_not_blur_small_deviations),
		cmocka_unit_test(selection_agrees_with_sorting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

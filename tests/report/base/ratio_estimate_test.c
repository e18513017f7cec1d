/* ratio_estimate: estimates of a whole from parts, and how often their intervals are right. */

#include "tests/unit.h"

#include <math.h>

#include "report/base/ratio_estimate.h"

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-3 * fabs(expected)))
		fail_msg("%g instead of %g", value, expected);
}

static void equal_rates_have_no_error(void **state)
{
	struct gp_ratio ratio = {0};
	struct gp_estimate whole;

	for (int i = 1; i <= 5; i++)
		gp_ratio_add(&ratio, 1, i, 7 * i);
	whole = gp_ratio_of_whole(&ratio, 1000);
	assert_near(whole.value, 7000);
	assert_true(whole.error < 1e-6);
}

/* Lengths of 1; residuals -1, -1, 0, 1, 1: their variance is 1, and Student's quantile 2.776. */
static void the_error_is_that_of_the_ratio_estimator(void **state)
{
	static const double amounts[] = {9, 9, 10, 11, 11};
	struct gp_ratio ratio = {0};
	struct gp_estimate whole;

	for (int i = 0; i < 5; i++)
		gp_ratio_add(&ratio, 1, 1, amounts[i]);
	whole = gp_ratio_of_whole(&ratio, 50);
	assert_near(whole.value, 500);
	assert_near(whole.error, 2.776 * sqrt(5 * 0.9) / 0.1);
	/* the whole was recorded */
	assert_true(gp_ratio_of_whole(&ratio, 5).error == 0);
}

static void few_parts_have_an_unknown_error(void **state)
{
	struct gp_ratio ratio = {0};

	assert_true(gp_ratio_of_whole(&ratio, 10).value == 0);
	assert_true(isnan(gp_ratio_of_whole(&ratio, 10).error));
	for (int i = 0; i < 4; i++)
		gp_ratio_add(&ratio, 1, 1, i);
	assert_near(gp_ratio_of_whole(&ratio, 10).value, 15);
	assert_true(isnan(gp_ratio_of_whole(&ratio, 10).error));
}

/* Each second place has ten times as many parts, and so parts of a tenth of the weight. */
static void weights_make_up_for_frequent_parts(void **state)
{
	struct gp_ratio ratio = {0};
	struct gp_estimate whole;

	for (int i = 0; i < 22; i++)
		gp_ratio_add(&ratio, i < 20 ? 1 : 10, 1, i < 20 ? 1 : 9);
	whole = gp_ratio_of_whole(&ratio, 40);
	assert_near(whole.value, 200);
	/* residuals of -4 and 40, and Student's quantile for 21 degrees of freedom */
	assert_near(whole.error, 2.0796 * sqrt(22 * (1 - 22 / 40.0) * (20 * 16 + 2 * 1600) / 21));
}

static void errors_of_a_sum_add_up_as_squares(void **state)
{
	struct gp_estimate sum =
		gp_estimate_sum((struct gp_estimate){1, 3}, (struct gp_estimate){2, 4});

	assert_near(sum.value, 3);
	assert_near(sum.error, 5);
	assert_true(isnan(gp_estimate_sum(sum, (struct gp_estimate){1, (double)NAN}).error));
}

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 33;
}

/* 2,000 samples of 10 of 100 parts, whose rates differ by half: 95 % of the intervals are right. */
static void intervals_are_right_as_often_as_they_say(void **state)
{
	double lengths[100], amounts[100], length = 0, amount = 0;
	uint64_t random = 1;
	uint32_t right = 0;

	for (int i = 0; i < 100; i++) {
		lengths[i] = 1 + (double)(next_random(&random) % 1000) / 1000;
		amounts[i] = lengths[i] * (10 + (double)(next_random(&random) % 10));
		length += lengths[i];
		amount += amounts[i];
	}
	for (int sample = 0; sample < 2000; sample++) {
		struct gp_ratio ratio = {0};
		struct gp_estimate whole;
		uint32_t left = 10;

		for (uint32_t i = 0; i < 100; i++)
			if (next_random(&random) % (100 - i) < left) {
				gp_ratio_add(&ratio, 1, lengths[i], amounts[i]);
				left--;
			}
		whole = gp_ratio_of_whole(&ratio, length);
		right += fabs(whole.value - amount) <= whole.error;
	}
	assert_in_range(right, 1860, 1940);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_rates_have_no_error),
		cmocka_unit_test(the_error_is_that_of_the_ratio_estimator),
		cmocka_unit_test(few_parts_have_an_unknown_error),
		cmocka_unit_test(weights_make_up_for_frequent_parts),
		cmocka_unit_test(errors_of_a_sum_add_up_as_squares),
		cmocka_unit_test(intervals_are_right_as_often_as_they_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

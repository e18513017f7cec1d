/* sample_budget: windows as often as their cost allows. */

#include "tests/unit.h"

#include "inject/sample_budget.h"

#define MS_NS   1000000u
#define PERCENT 10000u

static void the_cost_of_the_calls_decides(void **state)
{
	/* 35,000 calls cost 140 ms: 1 % of 14 s */
	assert_int_equal(gp_sample_period_ns(35000, 700 * MS_NS, PERCENT), 14000 * (uint64_t)MS_NS);
	assert_int_equal(gp_sample_period_ns(35000, 700 * MS_NS, 2 * PERCENT),
			 7000 * (uint64_t)MS_NS);
}

static void a_window_without_calls_has_a_cost(void **state)
{
	/* 5 % of 700 ms is 35 ms */
	assert_int_equal(gp_sample_period_ns(0, 700 * MS_NS, PERCENT), 3500 * (uint64_t)MS_NS);
	assert_int_equal(gp_sample_period_ns(8750, 700 * MS_NS, PERCENT),
			 gp_sample_period_ns(0, 700 * MS_NS, PERCENT));
}

static void huge_costs_do_not_overflow(void **state)
{
	uint64_t most = gp_sample_period_ns(UINT64_MAX, 1, PERCENT / 10);

	assert_true(most >= gp_sample_period_ns(UINT64_MAX / GP_SAMPLE_CALL_NS, 1, PERCENT / 10));
	assert_true(most > 365 * (uint64_t)86400 * 1000000);
}

static void times_vary_about_their_mean(void **state)
{
	uint64_t sum = 0;

	assert_int_equal(gp_sample_vary_ns(1024 * 1024, 0), 1024 * 512);
	assert_int_equal(gp_sample_vary_ns(1024 * 1024, 1024), 1024 * 1536);
	for (uint64_t random = 0; random <= 1024; random++)
		sum += gp_sample_vary_ns(1024 * 1024, random);
	assert_int_equal(sum / 1025, 1024 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_of_the_calls_decides),
		cmocka_unit_test(a_window_without_calls_has_a_cost),
		cmocka_unit_test(huge_costs_do_not_overflow),
		cmocka_unit_test(times_vary_about_their_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

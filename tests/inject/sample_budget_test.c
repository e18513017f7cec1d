/* sample_budget: windows as often as their cost allows. */

#include "tests/unit.h"

#include <stdbool.h>

#include "inject/sample_budget.h"

#define MS_NS   1000000u
#define DAY_NS  (86400 * (uint64_t)1000000000)
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
	/* a window of ten days, which gpuprof_start() can open */
	assert_true(gp_sample_period_ns(0, 10 * DAY_NS, PERCENT / 10) >= most);
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

/*
 * 1,000 windows of 0.5 s, and 0.2 s more with CUPTI on, of a program that makes no call for a
 * quarter of an hour, and then 250,000 a second for as long: 1 % of that half of the time.
 */
static void the_cost_keeps_within_the_share(void **state)
{
	double time_ns = 0, cost_ns = 0;
	uint64_t random = 1;

	for (int window = 0; window < 1000; window++) {
		bool is_busy = (uint64_t)(time_ns / (900 * 1e9)) % 2 != 0;
		uint64_t calls = is_busy ? 175000 : 0;
		uint64_t period_ns = gp_sample_period_ns(calls, 700 * MS_NS, PERCENT);

		random = random * 6364136223846793005u + 1442695040888963407u;
		time_ns += (double)gp_sample_vary_ns(period_ns, random >> 33);
		cost_ns += (double)(calls * GP_SAMPLE_CALL_NS);
	}
	assert_true(cost_ns / time_ns < 0.006);
	assert_true(cost_ns / time_ns > 0.004);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cost_of_the_calls_decides),
		cmocka_unit_test(a_window_without_calls_has_a_cost),
		cmocka_unit_test(huge_costs_do_not_overflow),
		cmocka_unit_test(the_cost_keeps_within_the_share),
		cmocka_unit_test(times_vary_about_their_mean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

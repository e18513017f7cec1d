/* Of many times of a finding, the one that is shown has a usual cost. */
#include "tests/unit.h"

#include "report/advice/rules/shown.h"

/*
 * Costs 1 to 1,000, one of which is by far the longest time: the ones above 707 have half of the cost.
 */
static void one_with_a_usual_cost_is_shown(void **state)
{
	struct gp_shown_sample sample = {0};

	assert_int_equal(gp_shown_usual(&sample).ns, 0);
	for (uint64_t i = 1; i <= 1000; i++)
		gp_shown_add(&sample, &(struct gp_shown){i, i == 1000 ? 1000000 : i, i});
	assert_int_equal(sample.count, GP_SHOWN_ROWS);
	assert_int_equal(sample.seen, 1000);
	assert_in_range(gp_shown_usual(&sample).cost_ns, 550, 850);
	assert_int_equal(gp_shown_usual(&sample).unix_ns, gp_shown_usual(&sample).cost_ns);
}

/* Of two long ones and many that cost little, one of the two. */
static void little_cost_is_not_shown(void **state)
{
	struct gp_shown_sample sample = {0};

	for (uint64_t i = 1; i <= 20; i++)
		gp_shown_add(&sample, &(struct gp_shown){i, 10, i % 10 == 0 ? 100 * i : 1});
	assert_in_range(gp_shown_usual(&sample).cost_ns, 1000, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_with_a_usual_cost_is_shown),
		cmocka_unit_test(little_cost_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

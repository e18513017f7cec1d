#include "report/base/group_by.h"
#include "report/base/stats.h"
#include "tests/unit.h"

/* What was asked for before is not told again when there is more. */
static void stats_are_of_all_that_is_there(void **state)
{
	struct gp_groups groups = {0};
	uint32_t row = gp_groups_find(&groups, "kernel");

	assert_int_equal(row, 0);
	assert_int_equal(gp_group_stats(&groups.rows[row]).count, 0);
	for (uint64_t ns = 10; ns <= 50; ns += 10) {
		assert_int_equal(gp_groups_add(&groups, row, ns), 0);
		for (int again = 0; again < 2; again++) {
			struct gp_stats stats = gp_group_stats(&groups.rows[row]);

			assert_int_equal(stats.count, ns / 10);
			assert_int_equal(stats.max, ns);
			assert_true(stats.median == 5.0 + (double)ns / 2);
		}
	}
	gp_groups_add_untimed(&groups, row);
	assert_int_equal(gp_group_stats(&groups.rows[row]).count, 5);
	gp_groups_free(&groups);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_are_of_all_that_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

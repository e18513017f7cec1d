#include "report/base/tally.h"
#include "tests/unit.h"

static struct gp_tally_row *find(struct gp_tally *tally, uint64_t first, uint64_t last)
{
	return gp_tally_find(tally, (uint64_t[GP_TALLY_KEYS]){first, [GP_TALLY_KEYS - 1] = last});
}

static void equal_keys_are_one_row(void **state)
{
	struct gp_tally tally = {0};

	for (uint64_t i = 0; i < 1000; i++)
		find(&tally, i % 10, i % 3)->count++;
	assert_int_equal(tally.count, 30);
	assert_int_equal(find(&tally, 4, 1)->count, 34);
	assert_int_equal(find(&tally, 4, 1)->key[0], 4);
	assert_int_equal(find(&tally, 4, 2)->count, 33);
	gp_tally_free(&tally);
}

static void series_keep_every_value_of_their_row(void **state)
{
	struct gp_tally tally = {0};

	for (uint64_t i = 1; i <= 100; i++)
		gp_tally_value(&tally, find(&tally, i % 2, 0), i % 4 == 0, i);
	assert_int_equal(find(&tally, 1, 0)->series[0].count, 50);
	assert_int_equal(find(&tally, 1, 0)->series[0].total, 2500);
	assert_int_equal(find(&tally, 0, 0)->series[0].values[0], 2);
	assert_int_equal(find(&tally, 0, 0)->series[1].total, 1300);
	assert_true(gp_tally_total(&tally, 0) == 3750);
	assert_int_equal(tally.error, 0);
	gp_tally_free(&tally);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_are_one_row),
		cmocka_unit_test(series_keep_every_value_of_their_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Cuts with as much between any two of them. */

#include "report/base/quantile_cut.h"
#include "tests/unit.h"

static void check(struct gp_quantile_cut *share, int64_t from_ns, int64_t to_ns,
		  const int64_t *expected, uint32_t count)
{
	int64_t starts[8];

	gp_quantile_cut_cut(share, from_ns, to_ns, starts, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(starts[i], expected[i]);
}

static void test_stretches_that_overlap(void **state)
{
	struct gp_quantile_cut share = {0};

	assert_int_equal(gp_quantile_cut_add(&share, 100, 200, 100), 0);
	assert_int_equal(gp_quantile_cut_add(&share, 0, 100, 100), 0);
	assert_int_equal(gp_quantile_cut_add(&share, 100, 200, 200), 0); /* together 300 there */
	check(&share, 0, INT64_MAX, (const int64_t[]){0, 100, 133, 166}, 4);
	check(&share, 100, 200, (const int64_t[]){100, 150}, 2);
	check(&share, 50, 150, (const int64_t[]){50, 116}, 2);
	check(&share, 0, INT64_MAX, (const int64_t[]){0}, 1);
	gp_quantile_cut_free(&share);
}

static void test_gaps_and_moments(void **state)
{
	struct gp_quantile_cut share = {0};

	check(&share, 7, 9, (const int64_t[]){7, 7}, 2); /* nothing */
	assert_int_equal(gp_quantile_cut_add(&share, -1000, -900, 10), 0);
	assert_int_equal(gp_quantile_cut_add(&share, 500, 500, 20), 0);
	assert_int_equal(gp_quantile_cut_add(&share, 1000, 1100, 10), 0);
	check(&share, INT64_MIN, INT64_MAX, (const int64_t[]){INT64_MIN, 500, 500, 1000}, 4);
	check(&share, 2000, 3000, (const int64_t[]){2000, 2000, 2000}, 3); /* nothing there */
	gp_quantile_cut_free(&share);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretches_that_overlap),
		cmocka_unit_test(test_gaps_and_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

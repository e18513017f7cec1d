#include "tests/unit.h"

#include <math.h>

#include "report/diff/rank.h"

#define MOST 9u

static uint32_t bits_of(uint32_t set)
{
	return (uint32_t)__builtin_popcount(set);
}

/*
 * Wins of the values at the places of the set over those at the others, the values being their
 * places.
 */
static uint32_t wins_of(uint32_t set, uint32_t places)
{
	uint32_t wins = 0;

	for (uint32_t i = 0; i < places; i++)
		if (set & 1u << i)
			wins += i - bits_of(set & ((1u << i) - 1));
	return wins;
}

/* All orders, one by one. */
static double count_tail(uint32_t left, uint32_t right, uint32_t least)
{
	uint32_t all = 0, reached = 0;

	for (uint32_t set = 0; set < 1u << (left + right); set++) {
		if (bits_of(set) != left)
			continue;
		all++;
		reached += wins_of(set, left + right) >= least;
	}
	return (double)reached / all;
}

static void it_is_the_share_of_all_orders(void **state)
{
	struct gp_rank rank = {0};

	for (uint32_t left = 1; left < MOST; left++)
		for (uint32_t right = 1; left + right <= MOST; right++) {
			gp_rank_set(&rank, left, right);
			for (uint32_t wins = 0; wins <= left * right + 1; wins++)
				assert_true(fabs(gp_rank_tail(&rank, wins) -
						 count_tail(left, right, wins)) < 1e-12);
		}
	gp_rank_free(&rank);
}

static void published_critical_values_are_met(void **state)
{
	struct gp_rank rank = {0};

	/* one-sided 5 %: the loser has at most 11 of 7 x 7, 39 of 7 x 20 and 138 of 20 x 20 */
	gp_rank_set(&rank, 7, 7);
	assert_int_equal(gp_rank_needed(&rank, 0.05), 49 - 11);
	gp_rank_set(&rank, 7, 20);
	assert_int_equal(gp_rank_needed(&rank, 0.05), 140 - 39);
	gp_rank_set(&rank, 20, 20);
	assert_int_equal(gp_rank_needed(&rank, 0.05), 400 - 138);
	gp_rank_free(&rank);
}

static void the_largest_sizes_are_exact_at_their_ends(void **state)
{
	struct gp_rank rank = {0};
	uint32_t all = GP_RANK_MOST * GP_RANK_MOST;
	double least = gp_rank_least(GP_RANK_MOST, GP_RANK_MOST);

	gp_rank_set(&rank, GP_RANK_MOST, GP_RANK_MOST);
	assert_true(fabs(gp_rank_tail(&rank, 0) - 1) < 1e-9);
	assert_true(fabs(gp_rank_tail(&rank, all) / least - 1) < 1e-9);
	assert_true(fabs(gp_rank_tail(&rank, all - 1) / least - 2) < 1e-9);
	for (uint32_t wins = 1; wins <= all; wins++)
		assert_true(gp_rank_tail(&rank, wins) <= gp_rank_tail(&rank, wins - 1));
	gp_rank_free(&rank);
}

static void too_few_values_can_show_nothing(void **state)
{
	struct gp_rank rank = {0};

	gp_rank_set(&rank, 1, 9);
	assert_true(fabs(gp_rank_least(1, 9) - 0.1) < 1e-12);
	assert_int_equal(gp_rank_needed(&rank, 0.05), 10);
	assert_int_equal(gp_rank_needed(&rank, 0.1001), 9);
	gp_rank_free(&rank);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_share_of_all_orders),
		cmocka_unit_test(published_critical_values_are_met),
		cmocka_unit_test(the_largest_sizes_are_exact_at_their_ends),
		cmocka_unit_test(too_few_values_can_show_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

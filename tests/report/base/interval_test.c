/* interval: unions of intervals and their lengths, against marking every nanosecond. */
#include "tests/unit.h"

#include <stdlib.h>

#include "report/base/interval.h"

#define SPAN 200

static void overlap_counts_once(void **state)
{
	struct gp_interval intervals[] = {{50, 60}, {0, 10}, {5, 20}, {7, 8}, {20, 25}};

	assert_int_equal(gp_interval_union(intervals, 5), 35);
	assert_int_equal(gp_interval_union(NULL, 0), 0);
}

/* They are apart, in order, and hold what is marked. */
static void assert_joined(const struct gp_interval *intervals, size_t count, const uint8_t *marked)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++) {
		assert_true(i == 0 || intervals[i].start_ns > ns);
		assert_true(intervals[i].end_ns > intervals[i].start_ns);
		for (; ns < intervals[i].start_ns; ns++)
			assert_int_equal(marked[ns], 0);
		for (; ns < intervals[i].end_ns; ns++)
			assert_int_equal(marked[ns], 1);
	}
	for (; ns < SPAN; ns++)
		assert_int_equal(marked[ns], 0);
}

/* Against marking every ns of a short span. */
static void unions_agree_with_marking(void **state)
{
	srand(3);
	for (int round = 0; round < 500; round++) {
		struct gp_interval intervals[20];
		uint8_t marked[SPAN] = {0};
		size_t count = (size_t)rand() % 20;
		uint64_t expected = 0;

		for (size_t i = 0; i < count; i++) {
			uint64_t start = (uint64_t)rand() % SPAN;
			uint64_t end = start + (uint64_t)rand() % (SPAN + 1 - start);

			intervals[i] = (struct gp_interval){start, end};
			for (uint64_t ns = start; ns < end; ns++)
				marked[ns] = 1;
		}
		for (size_t ns = 0; ns < SPAN; ns++)
			expected += marked[ns];
		assert_int_equal(gp_interval_union(intervals, count), expected);
		assert_joined(intervals, gp_interval_join(intervals, count), marked);
	}
}

static void what_is_behind_the_reached_time_is_new(void **state)
{
	uint64_t reached_ns = 10;

	assert_int_equal(gp_interval_reach(&reached_ns, 0, 5), 0);
	assert_int_equal(gp_interval_reach(&reached_ns, 5, 10), 0);
	assert_int_equal(reached_ns, 10);
	assert_int_equal(gp_interval_reach(&reached_ns, 5, 12), 2);
	assert_int_equal(reached_ns, 12);
	assert_int_equal(gp_interval_reach(&reached_ns, 20, 25), 5);
	assert_int_equal(reached_ns, 25);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overlap_counts_once),
		cmocka_unit_test(unions_agree_with_marking),
		cmocka_unit_test(what_is_behind_the_reached_time_is_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>
#include "report/base/kway_merge.h"
#include "tests/unit.h"

static void nothing_gives_nothing(void **state)
{
	struct gp_kway_merge merge;
	struct gp_kway_merge_head head;

	assert_int_equal(gp_kway_merge_open(&merge, 0), 0);
	assert_false(gp_kway_merge_take(&merge, &head));
	gp_kway_merge_close(&merge);
}

static void equal_numbers_come_by_sequence(void **state)
{
	struct gp_kway_merge merge;
	struct gp_kway_merge_head head;

	assert_int_equal(gp_kway_merge_open(&merge, 3), 0);
	for (size_t i = 3; i-- > 0;)
		gp_kway_merge_put(&merge, i, 5);
	for (size_t i = 0; i < 3; i++) {
		assert_true(gp_kway_merge_take(&merge, &head));
		assert_int_equal(head.sequence, i);
	}
	gp_kway_merge_close(&merge);
}

#define SEQUENCES 37
#define LENGTH    200

/* Sequences that grow by random steps come out in order, whole. */
static void many_sequences_become_one(void **state)
{
	uint64_t last = 0, numbers[SEQUENCES] = {0};
	size_t lengths[SEQUENCES] = {0}, taken = 0;
	struct gp_kway_merge merge;
	struct gp_kway_merge_head head;
	unsigned int seed = 1;

	assert_int_equal(gp_kway_merge_open(&merge, SEQUENCES), 0);
	for (size_t i = 0; i < SEQUENCES; i++)
		gp_kway_merge_put(&merge, i, 0);
	while (merge.count > 0) {
		size_t s;

		head = merge.heads[0];
		s = head.sequence;
		assert_true(head.number >= last);
		assert_int_equal(head.number, numbers[s]);
		last = head.number;
		taken++;
		numbers[s] += (unsigned int)rand_r(&seed) % 5;
		if (++lengths[s] < LENGTH && lengths[s] % 2) {
			gp_kway_merge_replace(&merge, numbers[s]);
			continue;
		}
		assert_true(gp_kway_merge_take(&merge, &head));
		assert_int_equal(head.sequence, s);
		if (lengths[s] < LENGTH)
			gp_kway_merge_put(&merge, s, numbers[s]);
	}
	assert_int_equal(taken, SEQUENCES * LENGTH);
	gp_kway_merge_close(&merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_gives_nothing),
		cmocka_unit_test(equal_numbers_come_by_sequence),
		cmocka_unit_test(many_sequences_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

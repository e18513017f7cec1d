/* cupti_conflict: launches while CUPTI has no buffer of ours. */

#include "inject/cupti_conflict.h"
#include "tests/unit.h"

#define MANY    20u
#define LOOK_NS 100000000u /* between two polls */

static uint32_t requests;
static uint64_t launched, now_ns;

static uint32_t found_in(uint32_t looks, bool launches, bool asks, bool are_out)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < looks; i++) {
		launched += launches;
		requests += asks;
		now_ns += LOOK_NS;
		found += gp_cupti_conflict_is_found(requests, are_out, launched, now_ns);
	}
	return found;
}

static void requests_of_cupti_exclude_a_conflict(void **state)
{
	assert_int_equal(found_in(MANY, true, true, false), 0);
}

/* A long kernel: CUPTI does not deliver its record and later ones, and holds the buffer. */
static void a_held_buffer_excludes_a_conflict(void **state)
{
	assert_int_equal(found_in(MANY, true, false, true), 0);
}

static void without_launches_no_conflict_is_found(void **state)
{
	assert_int_equal(found_in(MANY, false, false, false), 0);
}

/* One poll less than a second. */
static void less_than_a_second_is_not_enough(void **state)
{
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(10, true, false, false), 0);
		assert_int_equal(found_in(1, true, true, false), 0);
	}
}

static void a_few_polls_are_not_enough(void **state)
{
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(2, true, false, false), 0);
		now_ns += 3600000000000; /* a long pause between them */
		assert_int_equal(found_in(1, true, false, false), 0);
		assert_int_equal(found_in(1, false, true, false), 0);
	}
}

/* CUPTI's last buffer of ours came back a moment ago: its launches may be older. */
static void a_recently_returned_buffer_is_ours(void **state)
{
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(1, true, false, true), 0);
		assert_int_equal(found_in(10, true, false, false), 0);
	}
}

static void launches_without_a_buffer_belong_to_another_client(void **state)
{
	assert_int_equal(found_in(MANY, true, false, false), 1);
	found_in(MANY, true, true, true);
	assert_int_equal(found_in(MANY, true, false, false), 0); /* the conflict is reported once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_of_cupti_exclude_a_conflict),
		cmocka_unit_test(a_held_buffer_excludes_a_conflict),
		cmocka_unit_test(without_launches_no_conflict_is_found),
		cmocka_unit_test(less_than_a_second_is_not_enough),
		cmocka_unit_test(a_few_polls_are_not_enough),
		cmocka_unit_test(a_recently_returned_buffer_is_ours),
		cmocka_unit_test(launches_without_a_buffer_belong_to_another_client),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

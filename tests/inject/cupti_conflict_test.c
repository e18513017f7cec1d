/* cupti_conflict: launches while CUPTI has no buffer of ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "inject/cupti_conflict.h"

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

static void while_cupti_asks_there_is_nobody_else(void **state)
{
	(void)state;
	assert_int_equal(found_in(MANY, true, true, false), 0);
}

/* A long kernel: CUPTI does not deliver its record and later ones, and holds the buffer. */
static void while_cupti_has_a_buffer_there_is_nobody_else(void **state)
{
	(void)state;
	assert_int_equal(found_in(MANY, true, false, true), 0);
}

static void without_launches_nothing_is_asked_for(void **state)
{
	(void)state;
	assert_int_equal(found_in(MANY, false, false, false), 0);
}

/* One poll less than a second. */
static void less_than_a_second_says_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(10, true, false, false), 0);
		assert_int_equal(found_in(1, true, true, false), 0);
	}
}

static void a_few_looks_say_nothing(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(2, true, false, false), 0);
		now_ns += 3600000000000; /* a long pause between them */
		assert_int_equal(found_in(1, true, false, false), 0);
		assert_int_equal(found_in(1, false, true, false), 0);
	}
}

/* CUPTI's last buffer of ours came back a moment ago: its launches may be older. */
static void a_buffer_that_has_just_come_back_is_ours(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(found_in(1, true, false, true), 0);
		assert_int_equal(found_in(10, true, false, false), 0);
	}
}

static void launches_without_a_buffer_are_somebody_elses(void **state)
{
	(void)state;
	assert_int_equal(found_in(MANY, true, false, false), 1);
	found_in(MANY, true, true, true);
	assert_int_equal(found_in(MANY, true, false, false), 0); /* the conflict is reported once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_cupti_asks_there_is_nobody_else),
		cmocka_unit_test(while_cupti_has_a_buffer_there_is_nobody_else),
		cmocka_unit_test(without_launches_nothing_is_asked_for),
		cmocka_unit_test(less_than_a_second_says_nothing),
		cmocka_unit_test(a_few_looks_say_nothing),
		cmocka_unit_test(a_buffer_that_has_just_come_back_is_ours),
		cmocka_unit_test(launches_without_a_buffer_are_somebody_elses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* share_times: the times in a client's copies, by its own clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "inject/share_times.h"

static uint64_t ns, extra_ticks;

static uint64_t read_ns(void)
{
	return ns;
}

static uint64_t clock_by_three(void)
{
	return 77 + 3 * ns + extra_ticks;
}

static uint64_t other_clock(void)
{
	return 2 * ns;
}

static int init(void **state)
{
	(void)state;
	gp_share_times_init(read_ns);
	return 0;
}

static CUpti_ActivityKernel8 converted(uint64_t start, uint64_t end)
{
	CUpti_ActivityKernel8 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = start, .end = end};

	gp_share_times_convert((CUpti_Activity *)&kernel, sizeof(kernel));
	return kernel;
}

static void without_a_clock_times_stay(void **state)
{
	CUpti_ActivityKernel8 kernel = converted(123, 456);

	(void)state;
	assert_int_equal(kernel.start, 123);
	assert_int_equal(kernel.end, 456);
	assert_int_equal(gp_share_time_of((const CUpti_Activity *)&kernel), 123);
}

static void times_are_between_readings(void **state)
{
	CUpti_ActivityKernel8 kernel;

	(void)state;
	gp_share_times_clock(clock_by_three);
	ns = 1700000000000000000;
	gp_share_times_read();
	ns += 1000000;
	gp_share_times_read();
	kernel = converted(ns - 500000, ns - 1);
	assert_int_equal(kernel.start, clock_by_three() - 1500000);
	assert_int_equal(kernel.end, clock_by_three() - 3);
	assert_int_equal(kernel.completed, 0); /* a time that is missing stays so */
	assert_int_equal(converted(ns - 3000000, ns + 1000000).start, clock_by_three() - 9000000);
	assert_int_equal(converted(ns - 3000000, ns + 1000000).end, clock_by_three() + 3000000);
}

/* A clock that jumps between two readings is followed there, and only there. */
static void the_nearest_readings_count(void **state)
{
	uint64_t before_ns = ns, before_ticks = clock_by_three();

	(void)state;
	extra_ticks = 1000;
	ns += 1000;
	gp_share_times_read();
	assert_int_equal(converted(before_ns - 10, ns).start, before_ticks - 30);
	assert_int_equal(converted(before_ns + 500, ns).start, before_ticks + 2000);
	assert_int_equal(converted(before_ns + 500, ns).end, clock_by_three());
}

static void many_readings_are_thinned_out(void **state)
{
	uint64_t first_ns = ns;

	(void)state;
	gp_share_times_clock(NULL);
	gp_share_times_clock(clock_by_three);
	for (int i = 0; i < 1000; i++) {
		ns += 1000000;
		gp_share_times_read();
	}
	for (uint64_t at = first_ns; at <= ns; at += 999983)
		assert_in_range(converted(at, at).start, 76 + 3 * at + extra_ticks,
				78 + 3 * at + extra_ticks);
}

static void a_clock_that_is_set_back_is_left_out(void **state)
{
	uint64_t latest_ns = ns;

	(void)state;
	ns -= 5000000;
	gp_share_times_read();
	assert_in_range(converted(latest_ns, 0).start, 76 + 3 * latest_ns + extra_ticks,
			78 + 3 * latest_ns + extra_ticks);
	ns = latest_ns;
}

static void another_clock_begins_anew(void **state)
{
	(void)state;
	gp_share_times_clock(other_clock);
	ns += 1000;
	gp_share_times_read();
	ns += 1000;
	gp_share_times_read();
	assert_int_equal(converted(ns - 10, 0).start, 2 * ns - 20);
	gp_share_times_clock(NULL);
	assert_int_equal(converted(5, 0).start, 5);
}

static void a_short_record_is_not_left(void **state)
{
	uint64_t record[4] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, ns + 1, ns + 2};

	(void)state;
	gp_share_times_clock(other_clock);
	gp_share_times_read();
	ns += 1000;
	gp_share_times_read();
	gp_share_times_convert((CUpti_Activity *)record, 24);
	assert_int_equal(record[2], 2 * (ns - 999));
	assert_int_equal(record[3], ns - 998);
	gp_share_times_clock(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_clock_times_stay),
		cmocka_unit_test(times_are_between_readings),
		cmocka_unit_test(the_nearest_readings_count),
		cmocka_unit_test(many_readings_are_thinned_out),
		cmocka_unit_test(a_clock_that_is_set_back_is_left_out),
		cmocka_unit_test(another_clock_begins_anew),
		cmocka_unit_test(a_short_record_is_not_left),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}

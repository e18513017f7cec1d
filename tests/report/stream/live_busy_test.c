#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/stream/live_busy.h"

static void add(struct gp_live_busy *busy, uint16_t device, uint64_t start_ns, uint64_t end_ns)
{
	assert_int_equal(gp_live_busy_add(busy, device, start_ns, end_ns), 0);
}

static void end_window(struct gp_live_busy *busy, uint64_t end_ns)
{
	assert_int_equal(gp_live_busy_end_window(busy, 1000, end_ns), 0);
}

static void test_operations_side_by_side(void **state)
{
	struct gp_live_busy busy = {0};

	(void)state;
	add(&busy, 0, 1500, 1600);
	add(&busy, 0, 1100, 1200);
	add(&busy, 0, 1150, 1250);
	add(&busy, 0, 1160, 1170);
	add(&busy, 3, 1100, 1110);
	add(&busy, 3, 1300, 1300);
	end_window(&busy, 2000);
	assert_int_equal(busy.window_start_ns, 1000);
	assert_int_equal(busy.window_end_ns, 2000);
	assert_int_equal(busy.device_count, 2);
	assert_int_equal(busy.devices[0].window_busy_ns, 250);
	assert_int_equal(busy.devices[1].device, 3);
	assert_int_equal(busy.devices[1].window_busy_ns, 10);
	gp_live_busy_free(&busy);
}

/* Windows follow each other; what lies in two of them counts in both. */
static void test_operations_across_windows(void **state)
{
	struct gp_live_busy busy = {0};

	(void)state;
	add(&busy, 0, 1900, 3500);
	add(&busy, 0, 2500, 2600);
	end_window(&busy, 2000);
	assert_int_equal(busy.devices[0].window_busy_ns, 100);
	end_window(&busy, 3000);
	assert_int_equal(busy.window_start_ns, 2000);
	assert_int_equal(busy.devices[0].window_busy_ns, 1000);
	end_window(&busy, 4000);
	assert_int_equal(busy.devices[0].window_busy_ns, 500);
	end_window(&busy, 5000);
	assert_int_equal(busy.devices[0].window_busy_ns, 0);
	gp_live_busy_free(&busy);
}

/*
 * The part of a window that is over is not made up for: it would make the next one more than full.
 */
static void test_an_operation_that_comes_late(void **state)
{
	struct gp_live_busy busy = {0};

	(void)state;
	end_window(&busy, 2000);
	end_window(&busy, 3000);
	add(&busy, 0, 1000, 3800);
	end_window(&busy, 4000);
	assert_int_equal(busy.devices[0].window_busy_ns, 800);
	gp_live_busy_free(&busy);
}

/* What is counted in between is in the window that is open. */
static void test_counting_in_parts(void **state)
{
	struct gp_live_busy busy = {0};

	(void)state;
	add(&busy, 0, 1100, 1300);
	assert_int_equal(gp_live_busy_count(&busy, 1200), 0);
	assert_int_equal(busy.pending_count, 1);
	add(&busy, 0, 1150, 1250);
	assert_int_equal(gp_live_busy_count(&busy, 1400), 0);
	assert_int_equal(busy.pending_count, 0);
	add(&busy, 0, 1500, 1510);
	end_window(&busy, 2000);
	assert_int_equal(busy.devices[0].window_busy_ns, 210);
	gp_live_busy_free(&busy);
}

/* A clock that went back makes no window of a negative length. */
static void test_a_window_that_ends_before_it_begins(void **state)
{
	struct gp_live_busy busy = {0};

	(void)state;
	end_window(&busy, 2000);
	end_window(&busy, 1500);
	assert_int_equal(busy.window_start_ns, 2000);
	assert_int_equal(busy.window_end_ns, 2000);
	gp_live_busy_free(&busy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations_side_by_side),
		cmocka_unit_test(test_operations_across_windows),
		cmocka_unit_test(test_an_operation_that_comes_late),
		cmocka_unit_test(test_counting_in_parts),
		cmocka_unit_test(test_a_window_that_ends_before_it_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

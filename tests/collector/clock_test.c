/* clock: the times of an anchor lie between its tick reads, and the rate fits them. */
#include "tests/collector/harness.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>

#include "collector/atomic.h"
#include "collector/clock.h"
#include "collector/sys.h"
#include "tests/lib/sleeping.h"

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t fake_cupti(void)
{
	return now_ns(CLOCK_REALTIME) + 5;
}

static void an_anchor_lies_between_its_tick_reads(void **unused)
{
	struct gp_record_anchor anchor;
	uint64_t ticks, monotonic, realtime;

	(void)unused;
	gp_clock_set_cupti(fake_cupti);
	ticks = gp_clock_ticks();
	monotonic = now_ns(CLOCK_MONOTONIC);
	realtime = now_ns(CLOCK_REALTIME);
	gp_clock_read_anchor(&anchor);
	assert_true(anchor.kind == GP_RECORD_ANCHOR && anchor.slots == 2);
	assert_true(ticks <= anchor.ticks && anchor.ticks <= anchor.cupti_ticks);
	assert_true(anchor.cupti_ticks <= gp_clock_ticks());
	assert_true(monotonic <= anchor.monotonic_ns);
	assert_true(anchor.monotonic_ns <= now_ns(CLOCK_MONOTONIC));
	assert_true(realtime <= anchor.realtime_ns && anchor.realtime_ns <= anchor.cupti_ns);
	assert_true(anchor.cupti_ns <= now_ns(CLOCK_REALTIME) + 5);
	gp_clock_set_cupti(NULL);
	gp_clock_read_anchor(&anchor);
	assert_true(anchor.cupti_ns == 0 && anchor.cupti_ticks == 0);
}

static uint64_t not_now(void)
{
	return 0;
}

static void an_unreadable_clock_is_omitted(void **unused)
{
	struct gp_record_anchor anchor;

	(void)unused;
	gp_clock_set_cupti(not_now);
	gp_clock_read_anchor(&anchor);
	gp_clock_set_cupti(NULL);
	assert_true(anchor.cupti_ns == 0 && anchor.cupti_ticks == 0 && anchor.ticks != 0);
}

static void the_rate_fits_the_anchors(void **unused)
{
	struct gp_record_anchor first, last;
	double rate, seen;

	(void)unused;
	gp_clock_start();
	gp_clock_read_anchor(&first);
	gp_clock_settle();
	while (now_ns(CLOCK_MONOTONIC) - first.monotonic_ns < 20000000)
		;
	gp_clock_read_anchor(&last);
	rate = (double)gp_clock_ticks_per_second();
	seen = (double)(last.ticks - first.ticks) * 1e9 /
	       (double)(last.monotonic_ns - first.monotonic_ns);
	/*
	 * The error is bounded by the distance of the two clock reads at the start, seldom a
	 * microsecond.
	 */
	assert_true(rate > seen * 0.9 && rate < seen * 1.1);
	if (strcmp(gp_clock_name(), "monotonic") == 0)
		assert_true(gp_clock_ticks_per_second() == 1000000000u);
}

static uint32_t inside, may_leave, left;
static pthread_t reader;
static long (*real_call)(long number, long a, long b, long c, long d, long e, long f);

static uint64_t slow_cupti(void)
{
	gp_store32_release(&inside, 1);
	while (!gp_load32_acquire(&may_leave))
		sched_yield();
	gp_store32_release(&left, 1);
	return 0;
}

static void *read_anchor(void *unused)
{
	struct gp_record_anchor anchor;

	gp_clock_read_anchor(&anchor);
	return unused;
}

/*
 * The thread that reads the clock returns only when the thread that removes the clock waits.
 * Otherwise a reader that is descheduled would exceed the limit of the wait.
 */
static long leave_meanwhile(long number, long a, long b, long c, long d, long e, long f)
{
	if (is_sleep(number, a, b) && !gp_load32(&may_leave)) {
		gp_store32_release(&may_leave, 1);
		pthread_join(reader, NULL);
	}
	return real_call(number, a, b, c, d, e, f);
}

static void removing_a_clock_waits_for_its_reader(void **unused)
{
	(void)unused;
	gp_clock_set_cupti(slow_cupti);
	assert_int_equal(pthread_create(&reader, NULL, read_anchor, NULL), 0);
	while (!gp_load32_acquire(&inside))
		sched_yield();
	real_call = gp_sys.call;
	gp_sys.call = leave_meanwhile;
	gp_clock_set_cupti(NULL);
	gp_sys.call = real_call;
	assert_int_equal(gp_load32_acquire(&left), 1);
}

#if defined(__aarch64__)
static long read_counters_name(long number, long a, long b, long c, long d, long e, long f)
{
	static const char name[] = "arch_sys_counter";
	static bool is_read;

	if (number != SYS_read)
		return real_call(number, a, b, c, d, e, f);
	if (is_read)
		return 0;
	memcpy((void *)b, name, sizeof(name) - 1);
	is_read = true;
	return sizeof(name) - 1;
}

/* An emulator shows the clock source of its host. */
static void choose_counter(void)
{
	real_call = gp_sys.call;
	gp_sys.call = read_counters_name;
	assert_string_equal(gp_clock_name(), "arch_sys_counter");
	gp_sys.call = real_call;
}
#else
static void choose_counter(void)
{
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_anchor_lies_between_its_tick_reads),
		cmocka_unit_test(an_unreadable_clock_is_omitted),
		cmocka_unit_test(the_rate_fits_the_anchors),
		cmocka_unit_test(removing_a_clock_waits_for_its_reader),
	};

	choose_counter();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

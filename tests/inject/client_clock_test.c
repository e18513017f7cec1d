/* client_clock: the times in a client's copies, by the client's clock. */

#include "tests/unit.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/client_clock.h"
#include "tests/inject/seen_waiting.h"

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
	gp_client_clock_init(read_ns);
	return 0;
}

static CUpti_ActivityKernel8 converted(uint64_t start, uint64_t end)
{
	CUpti_ActivityKernel8 kernel = {
		.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = start, .end = end};

	gp_client_clock_convert((CUpti_Activity *)&kernel, sizeof(kernel));
	return kernel;
}

static void without_a_clock_times_stay(void **state)
{
	CUpti_ActivityKernel8 kernel = converted(123, 456);

	assert_int_equal(kernel.start, 123);
	assert_int_equal(kernel.end, 456);
	assert_int_equal(gp_client_clock_time_of((const CUpti_Activity *)&kernel, sizeof(kernel)),
			 123);
}

static void times_are_between_readings(void **state)
{
	CUpti_ActivityKernel8 kernel;

	gp_client_clock_set(clock_by_three);
	ns = 1700000000000000000;
	gp_client_clock_read();
	ns += 1000000;
	gp_client_clock_read();
	kernel = converted(ns - 500000, ns - 1);
	assert_int_equal(kernel.start, clock_by_three() - 1500000);
	assert_int_equal(kernel.end, clock_by_three() - 3);
	assert_int_equal(kernel.completed, 0); /* a missing time stays 0 */
	assert_int_equal(converted(ns - 3000000, ns + 1000000).start, clock_by_three() - 9000000);
	assert_int_equal(converted(ns - 3000000, ns + 1000000).end, clock_by_three() + 3000000);
}

/* If the clock jumps between two readings, only times between them are affected. */
static void the_nearest_readings_count(void **state)
{
	uint64_t before_ns = ns, before_ticks = clock_by_three();

	extra_ticks = 1000;
	ns += 1000;
	gp_client_clock_read();
	assert_int_equal(converted(before_ns - 10, ns).start, before_ticks - 30);
	assert_int_equal(converted(before_ns + 500, ns).start, before_ticks + 2000);
	assert_int_equal(converted(before_ns + 500, ns).end, clock_by_three());
}

static void many_readings_are_thinned_out(void **state)
{
	uint64_t first_ns = ns;

	gp_client_clock_set(NULL);
	gp_client_clock_set(clock_by_three);
	for (int i = 0; i < 1000; i++) {
		ns += 1000000;
		gp_client_clock_read();
	}
	for (uint64_t at = first_ns; at <= ns; at += 999983)
		assert_in_range(converted(at, at).start, 76 + 3 * at + extra_ticks,
				78 + 3 * at + extra_ticks);
}

static void a_clock_that_is_set_back_is_skipped(void **state)
{
	uint64_t latest_ns = ns;

	ns -= 5000000;
	gp_client_clock_read();
	assert_in_range(converted(latest_ns, 0).start, 76 + 3 * latest_ns + extra_ticks,
			78 + 3 * latest_ns + extra_ticks);
	ns = latest_ns;
}

static void another_clock_begins_anew(void **state)
{
	gp_client_clock_set(other_clock);
	ns += 1000;
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	assert_int_equal(converted(ns - 10, 0).start, 2 * ns - 20);
	gp_client_clock_set(NULL);
	assert_int_equal(converted(5, 0).start, 5);
}

static void a_short_record_is_not_left(void **state)
{
	uint64_t record[4] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0, ns + 1, ns + 2};

	gp_client_clock_set(other_clock);
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	gp_client_clock_convert((CUpti_Activity *)record, 24);
	assert_int_equal(record[2], 2 * (ns - 999));
	assert_int_equal(record[3], ns - 998);
	gp_client_clock_set(NULL);
}

/* ---- a clock of the client's that comes here again, or does not return ---- */

static uint64_t reentering_clock(void)
{
	CUpti_ActivityKernel8 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = ns};

	assert_true(gp_client_clock_convert((CUpti_Activity *)&kernel, sizeof(kernel)));
	return 2 * ns;
}

static void no_awaited_thread_calls_the_clients_clock(void **state)
{
	assert_true(gp_client_clock_set(reentering_clock));
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	assert_int_equal(converted(ns - 10, 0).start, 2 * ns - 20);
	gp_client_clock_set(NULL);
}

static jmp_buf away;
static sigjmp_buf signal_away;

static uint64_t leaving_clock(void)
{
	longjmp(away, 1);
}

static void a_clock_that_does_not_return_delays_no_thread(void **state)
{
	assert_true(gp_client_clock_set(leaving_clock));
	if (setjmp(away) == 0)
		gp_client_clock_read();
	assert_true(gp_client_clock_set(NULL));
	assert_int_equal(converted(5, 0).start, 5);
}

static uint32_t sleeps;

/* ---- a clock that another thread is in, when the client takes it back ---- */

static uint64_t lasting_clock(void)
{
	last();
	return 2 * ns;
}

static void *read_clock(void *unused)
{
	(void)unused;
	gp_client_clock_read();
	return NULL;
}

static void a_replaced_clock_is_waited_for(void **state)
{
	assert_true(gp_client_clock_set(lasting_clock));
	see_waiting(read_clock);
	assert_true(gp_client_clock_set(NULL));
	end_waiting();
}

/* ---- a thread that takes the readings with it ---- */

static long count_sleeps(long number, long a, long b, long c, long d, long e, long f)
{
	bool sleeps_now = is_sleep(number, a, b);

	sleeps += sleeps_now;
	return sleeps_now ? 0 : real_call(number, a, b, c, d, e, f);
}

static void leave(int signal)
{
	(void)signal;
	siglongjmp(signal_away, 1);
}

/*
 * The client's record is not writable: the signal handler jumps out of the conversion and never
 * returns.
 */
static void lose_a_thread_in_here(void)
{
	struct sigaction before, action = {.sa_handler = leave};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	CUpti_ActivityKernel8 *kernel =
		mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(kernel, MAP_FAILED);
	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	kernel->start = ns;
	assert_int_equal(mprotect(kernel, page, PROT_READ), 0);
	sigaction(SIGSEGV, &action, &before);
	if (sigsetjmp(signal_away, 1) == 0)
		gp_client_clock_convert((CUpti_Activity *)kernel, sizeof(*kernel));
	sigaction(SIGSEGV, &before, NULL);
	munmap(kernel, page);
}

/* The last test, because the lock stays taken. */
static void a_lost_thread_is_waited_for_once(void **state)
{
	CUpti_ActivityKernel8 kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .start = 5};

	assert_true(gp_client_clock_set(other_clock));
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	lose_a_thread_in_here();
	real_call = gp_sys.call;
	gp_sys.call = count_sleeps;
	assert_false(gp_client_clock_convert((CUpti_Activity *)&kernel, sizeof(kernel)));
	assert_in_range(sleeps, 1, 1000);
	sleeps = 0;
	for (int i = 0; i < 100; i++)
		assert_false(gp_client_clock_convert((CUpti_Activity *)&kernel, sizeof(kernel)));
	assert_false(gp_client_clock_set(NULL));
	gp_sys.call = real_call;
	assert_int_equal(sleeps, 0);
	assert_int_equal(kernel.start, 5);
}

static uint64_t replaced_clock(void)
{
	gp_client_clock_set(other_clock);
	return 1000 * ns;
}

static void readings_of_a_replaced_clock_are_discarded(void **state)
{
	gp_client_clock_set(replaced_clock);
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	assert_int_equal(converted(ns - 10, 0).start, 2 * ns - 20);
	gp_client_clock_set(NULL);
}

static void every_kind_with_a_time_is_converted(void **state)
{
	CUpti_ActivityMemory memory = {.kind = CUPTI_ACTIVITY_KIND_MEMORY, .bytes = 9};
	CUpti_ActivityCudaEvent2 event = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT};

	gp_client_clock_set(other_clock);
	gp_client_clock_read();
	ns += 1000;
	gp_client_clock_read();
	memory.start = ns - 3;
	memory.end = ns - 1;
	assert_true(gp_client_clock_convert((CUpti_Activity *)&memory, sizeof(memory)));
	assert_int_equal(memory.start, 2 * ns - 6);
	assert_int_equal(memory.end, 2 * ns - 2);
	assert_int_equal(memory.bytes, 9);
	event.deviceTimestamp = ns - 4;
	assert_true(gp_client_clock_convert((CUpti_Activity *)&event, sizeof(event)));
	assert_int_equal(event.deviceTimestamp, 2 * ns - 8);
	gp_client_clock_set(NULL);
}

/* Before 12.8 this record ends before the time, and the next record begins there. */
static void a_time_beyond_the_record_does_not_count(void **state)
{
	CUpti_ActivityCudaEvent2 event = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
					  .deviceTimestamp = 77};

	assert_int_equal(gp_client_clock_time_of((const CUpti_Activity *)&event, sizeof(event)),
			 77);
	assert_int_equal(gp_client_clock_time_of((const CUpti_Activity *)&event, 24), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_clock_times_stay),
		cmocka_unit_test(times_are_between_readings),
		cmocka_unit_test(the_nearest_readings_count),
		cmocka_unit_test(many_readings_are_thinned_out),
		cmocka_unit_test(a_clock_that_is_set_back_is_skipped),
		cmocka_unit_test(another_clock_begins_anew),
		cmocka_unit_test(a_short_record_is_not_left),
		cmocka_unit_test(no_awaited_thread_calls_the_clients_clock),
		cmocka_unit_test(a_clock_that_does_not_return_delays_no_thread),
		cmocka_unit_test(readings_of_a_replaced_clock_are_discarded),
		cmocka_unit_test(every_kind_with_a_time_is_converted),
		cmocka_unit_test(a_time_beyond_the_record_does_not_count),
		cmocka_unit_test(a_replaced_clock_is_waited_for),
		cmocka_unit_test(a_lost_thread_is_waited_for_once),
	};

	return cmocka_run_group_tests(tests, init, NULL);
}

/*
 * overload: records come faster than they are written: the waiting threads, the dropped records,
 * and their exact counts.
 */
#include "tests/collector/harness.h"
#include "tests/collector/ring_seen.h"
#include "tests/collector/trace_check.h"
#include "tests/lib/sleeping.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "collector/arena.h"
#include "collector/atomic.h"
#include "collector/sys.h"
#include "gpuprof/counter.h"

#define MORE_THAN_A_RING 100000u

static struct scan scan;
static long (*real_call)(long, long, long, long, long, long, long);
static uint32_t held;          /* the writer must stop in its next write */
static uint32_t stands;        /* the writer has stopped */
static uint32_t sleeps;        /* of the thread that emits */
static void (*in_sleep)(void); /* called once, in the first sleep */
static __thread bool emits;

static void sleep_now(void)
{
	void (*befalls)(void) = in_sleep;

	sleeps++;
	in_sleep = NULL;
	if (befalls != NULL)
		befalls();
}

static long slow_disk(long number, long a, long b, long c, long d, long e, long f)
{
	while (number == SYS_write && gp_load32_acquire(&held)) {
		gp_store32_release(&stands, 1);
		real_call(SYS_futex, (long)&held, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0);
	}
	if (is_sleep(number, a, b) && emits)
		sleep_now();
	return real_call(number, a, b, c, d, e, f);
}

static void hold_writer(bool hold)
{
	gp_store32_release(&held, hold);
	real_call(SYS_futex, (long)&held, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Stop the writer, so that it frees no slots. */
static void hold_writer_with_one_record(void)
{
	hold_writer(true);
	CHECK(emit_call(0));
	while (!gp_load32_acquire(&stands))
		sched_yield();
}

static void start_in_with(enum gp_ring_place place, enum gp_overload on_overload)
{
	struct gp_collector_config config = {
		.trace_path = in_folder("t"), .ring_place = place, .on_overload = on_overload};

	real_call = gp_sys.call;
	gp_sys.call = slow_disk;
	emits = true;
	CHECK(gp_collector_start(&config) == 0);
}

static void start_with(enum gp_overload on_overload)
{
	start_in_with(GP_RINGS_MEMORY, on_overload);
}

/* ---- what the trace says ---- */

static struct {
	uint64_t calls, texts, lost, waits, ends;
} said;

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	said.calls += record->record.kind == GP_RECORD_CALL;
	said.ends += record->record.kind == GP_RECORD_END;
	said.texts +=
		record->record.kind == GP_RECORD_STRING && record->string.space == GP_STRING_KERNEL;
	if (record->record.kind != GP_RECORD_COUNTER)
		return;
	if (record->counter.counter == GP_COUNTER_LOST_RING_FULL)
		said.lost = record->counter.value;
	if (record->counter.counter == GP_COUNTER_RING_WAITS)
		said.waits = record->counter.value;
}

static void stop_and_read(void)
{
	CHECK(gp_collector_stop(LONG_NS) == 0);
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	CHECK(scan.error == NULL && scan.damaged_bytes + scan.cut_bytes == 0);
	CHECK(said.ends == 1);
}

static uint32_t emit_calls(uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		kept += emit_call(i * 7919);
	return kept;
}

/* ---- drop ---- */

/* The return record is dropped, and the thread must not appear as waiting from then on. */
static void a_call_whose_record_is_dropped_has_ended(void)
{
	start_in_with(GP_RINGS_FILE, GP_OVERLOAD_DROP);
	hold_writer_with_one_record();
	CHECK(emit_calls(MORE_THAN_A_RING) < MORE_THAN_A_RING);
	gp_call_begins(9, gp_clock_ticks());
	CHECK(call_seen() == 9);
	CHECK(!emit_call(1));
	CHECK(call_seen() == 0);
	hold_writer(false);
	stop_and_read();
}

static void dropping_never_waits(void)
{
	uint32_t kept;

	start_with(GP_OVERLOAD_DROP);
	hold_writer_with_one_record();
	kept = 1 + emit_calls(MORE_THAN_A_RING);
	CHECK(kept > 1000 && kept < MORE_THAN_A_RING);
	hold_writer(false);
	stop_and_read();
	CHECK(sleeps == 0 && said.waits == 0);
	CHECK(said.calls == kept && said.lost == MORE_THAN_A_RING + 1 - kept);
}

static void definitions_have_space_although_others_are_dropped(void)
{
	start_with(GP_OVERLOAD_DROP);
	hold_writer_with_one_record();
	CHECK(emit_calls(MORE_THAN_A_RING) < MORE_THAN_A_RING);
	for (uint32_t i = 0; i < 50; i++) {
		CHECK(gp_emit_string(GP_STRING_KERNEL, i, 0, "a_kernel", 8));
		CHECK(!gp_emit_string(GP_STRING_PAYLOAD, i, 0, "a payload", 9));
	}
	hold_writer(false);
	stop_and_read();
	CHECK(sleeps == 0 && said.texts == 50);
}

static void let_go(void)
{
	hold_writer(false);
}

/* GPU records come in bursts from a profiler thread, which may wait. */
static void a_profiler_thread_waits_although_others_drop(void)
{
	start_with(GP_OVERLOAD_DROP);
	gp_emit_always_waits();
	hold_writer_with_one_record();
	in_sleep = let_go;
	for (uint32_t i = 0; i < MORE_THAN_A_RING; i++)
		emit_call_surely(i);
	stop_and_read();
	CHECK(sleeps > 0 && said.waits > 0);
	CHECK(said.calls == MORE_THAN_A_RING + 1);
}

#define MORE_THREADS_THAN_RINGS 16u /* while the writer makes no rings */

static void *hold_writer_from_here(void *unused)
{
	hold_writer_with_one_record();
	return unused;
}

/* Fills the thread's own ring, or the shared one. */
static void *fill_ring(void *unused)
{
	for (uint32_t i = 0; gp_emit_string(GP_STRING_KERNEL, i, 0, "a_kernel", 8); i++)
		;
	return unused;
}

static void run_and_join(void *(*run)(void *))
{
	pthread_t thread;

	CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
	pthread_join(thread, NULL);
}

/* The program's threads take all rings before the profiler thread's first record. */
static void a_profiler_thread_has_a_ring_before_its_first_record(void)
{
	start_with(GP_OVERLOAD_DROP);
	gp_emit_always_waits();
	run_and_join(hold_writer_from_here);
	for (uint32_t i = 0; i < MORE_THREADS_THAN_RINGS; i++)
		run_and_join(fill_ring);
	CHECK(emit_call(1));
	CHECK(sleeps == 0);
	hold_writer(false);
	stop_and_read();
	CHECK(said.calls == 2);
}

#define CROWD 200u
#define EACH  3000u

static uint32_t crowd_kept;

static void *emit_in_crowd(void *unused)
{
	emits = true;
	gp_add32(&crowd_kept, emit_calls(EACH));
	return unused;
}

/* More threads than rings: the threads that share a ring drop records, too. */
static void more_threads_than_rings_drop(void)
{
	static pthread_t threads[CROWD];

	start_with(GP_OVERLOAD_DROP);
	for (uint32_t i = 0; i < CROWD; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_in_crowd, NULL) == 0);
	for (uint32_t i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	stop_and_read();
	CHECK(sleeps == 0 && said.waits == 0);
	CHECK(said.calls == crowd_kept);
}

/* ---- block ---- */

static void one_long_wait_for_a_stalled_writer(void)
{
	uint32_t kept, slept;

	start_with(GP_OVERLOAD_BLOCK);
	hold_writer_with_one_record();
	kept = 1 + emit_calls(MORE_THAN_A_RING);
	slept = sleeps;
	CHECK(slept > 0 && kept < MORE_THAN_A_RING);
	CHECK(emit_calls(MORE_THAN_A_RING) == 0);
	CHECK(sleeps == slept);
	hold_writer(false);
	stop_and_read();
	CHECK(said.waits == 1);
	CHECK(said.calls == kept && said.lost == 2 * MORE_THAN_A_RING + 1 - kept);
}

static void nothing_is_lost_if_the_writer_continues(void)
{
	start_with(GP_OVERLOAD_BLOCK);
	hold_writer_with_one_record();
	in_sleep = let_go;
	for (uint32_t i = 0; i < MORE_THAN_A_RING; i++)
		emit_call_surely(i);
	CHECK(sleeps > 0 && in_sleep == NULL);
	stop_and_read();
	CHECK(said.calls == MORE_THAN_A_RING + 1 && said.waits > 0);
}

/* ---- a child that is forked in the middle of a wait ---- */

static pid_t child = -1;

static void fork_in_handler(int signal_number)
{
	(void)signal_number;
	child = fork();
}

static void interrupt(void)
{
	raise(SIGUSR1);
}

static void a_child_of_a_wait_has_no_rings(void)
{
	uint32_t kept = 0;
	int status;

	signal(SIGUSR1, fork_in_handler);
	start_with(GP_OVERLOAD_BLOCK);
	hold_writer_with_one_record();
	in_sleep = interrupt;
	while (kept < MORE_THAN_A_RING && emit_call(kept))
		kept++;
	if (child == 0)
		_exit(emit_call(0) ? 1 : 42);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	hold_writer(false);
	stop_and_read();
	CHECK(said.calls == kept + 1 && said.lost == 1);
}

static pid_t parent;

/*
 * Runs after the collector's thread destructor, whose key is older.  The child has only this
 * thread.
 */
static void leave_child(void *unused)
{
	(void)unused;
	if (getpid() != parent)
		_exit(42);
}

/*
 * Fills the ring except for the thread name, then renames the thread.  The name is emitted when the
 * thread ends.
 */
static void *fill_ring_and_change_name(void *unused)
{
	pthread_key_t key;

	CHECK(pthread_key_create(&key, leave_child) == 0 && pthread_setspecific(key, &key) == 0);
	emits = true;
	sleeps = 0;
	for (uint32_t i = 0; i < GP_ARENA_BIG_SLOTS - 1; i++)
		CHECK(emit_call(i));
	CHECK(sleeps == 0);
	CHECK(pthread_setname_np(pthread_self(), "another-name") == 0);
	in_sleep = interrupt;
	return unused;
}

static void a_child_of_the_wait_at_a_threads_end_has_no_rings(void)
{
	int status;

	parent = getpid();
	signal(SIGUSR1, fork_in_handler);
	start_with(GP_OVERLOAD_BLOCK);
	hold_writer_with_one_record();
	run_and_join(fill_ring_and_change_name);
	CHECK(sleeps > 0 && child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
	hold_writer(false);
	stop_and_read();
	CHECK(said.calls == GP_ARENA_BIG_SLOTS && said.lost == 1);
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
CASE(a_call_whose_record_is_dropped_has_ended)
CASE(dropping_never_waits)
CASE(definitions_have_space_although_others_are_dropped)
CASE(a_profiler_thread_waits_although_others_drop)
CASE(a_profiler_thread_has_a_ring_before_its_first_record)
CASE(more_threads_than_rings_drop)
CASE(one_long_wait_for_a_stalled_writer)
CASE(nothing_is_lost_if_the_writer_continues)
CASE(a_child_of_a_wait_has_no_rings)
CASE(a_child_of_the_wait_at_a_threads_end_has_no_rings)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_whose_record_is_dropped_has_ended),
		cmocka_unit_test(test_dropping_never_waits),
		cmocka_unit_test(test_definitions_have_space_although_others_are_dropped),
		cmocka_unit_test(test_a_profiler_thread_waits_although_others_drop),
		cmocka_unit_test(test_a_profiler_thread_has_a_ring_before_its_first_record),
		cmocka_unit_test(test_more_threads_than_rings_drop),
		cmocka_unit_test(test_one_long_wait_for_a_stalled_writer),
		cmocka_unit_test(test_nothing_is_lost_if_the_writer_continues),
		cmocka_unit_test(test_a_child_of_a_wait_has_no_rings),
		cmocka_unit_test(test_a_child_of_the_wait_at_a_threads_end_has_no_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

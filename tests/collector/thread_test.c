/*
 * thread: many threads, short threads, ending threads and signal handlers.  Each record is in the
 * trace once, with its thread, and no ring leaks.
 */
#include "tests/collector/harness.h"
#include "tests/collector/ring_seen.h"
#include "tests/collector/trace_check.h"

#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "collector/atomic.h"
#include "collector/ring.h"
#include "collector/sys.h"

#define MANY   (UNDER_TSAN || UNDER_ASAN ? 1000u : 10000u)
#define ROUNDS 200u

static struct scan scan;

/* For each call number: the number of its records, and its thread. */
#define NUMBERS 4000000u
static uint8_t *times;
static uint32_t *owners;

static struct {
	uint64_t calls, named, counters[GP_COUNTERS];
	uint32_t highest_ring;
} said;

static void take(void *unused, const struct found *found)
{
	const struct any_record *record = found->record;

	(void)unused;
	if (found->ring > said.highest_ring)
		said.highest_ring = found->ring;
	if (is_kind(found, GP_RECORD_CALL)) {
		CHECK(record->call.correlation_id < NUMBERS);
		times[record->call.correlation_id]++;
		owners[record->call.correlation_id] = found->thread;
		said.calls++;
	}
	if (is_kind(found, GP_RECORD_COUNTER))
		said.counters[record->counter.counter] = record->counter.value;
	if (string_is(found, GP_STRING_THREAD, found->thread, "worker"))
		said.named++;
}

static void stop_and_read(void)
{
	CHECK(gp_collector_stop(LONG_NS) == 0);
	times = calloc(NUMBERS, sizeof(*times));
	owners = calloc(NUMBERS, sizeof(*owners));
	scan.fn = take;
	CHECK(scan_trace(&scan, gp_collector_trace_path()));
	if (scan.error != NULL)
		fprintf(stderr, "%s\n", scan.error);
	CHECK(scan.error == NULL);
}

static uint32_t my_id(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/* ---- short threads ---- */

static uint32_t worker_ids[10000];

static void *work_shortly(void *number)
{
	uint32_t index = (uint32_t)(uintptr_t)number;

	pthread_setname_np(pthread_self(), "worker");
	worker_ids[index] = my_id();
	emit_call_surely(2 * index);
	emit_call_surely(2 * index + 1);
	return NULL;
}

static void short_threads(enum gp_ring_place place)
{
	start_in(place);
	for (uint32_t i = 0; i < MANY; i++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, work_shortly, (void *)(uintptr_t)i) == 0);
		CHECK(pthread_join(thread, NULL) == 0);
	}
	stop_and_read();
	CHECK(said.calls == 2 * MANY);
	for (uint32_t i = 0; i < 2 * MANY; i++)
		CHECK(times[i] == 1 && owners[i] == worker_ids[i / 2]);
	CHECK(said.named + said.counters[GP_COUNTER_LOST_NO_RING] +
		      said.counters[GP_COUNTER_LOST_RING_FULL] >=
	      MANY);
	/*
	 * rings were reused: there were far more owners than rings, and each owner had its own ring
	 * id
	 */
	CHECK(said.highest_ring + said.counters[GP_COUNTER_SHARED_RING] > MANY / 2);
}

/* ---- names that come after the first record ---- */

static void *be_named_late(void *unused)
{
	(void)unused;
	emit_call_surely(0);
	pthread_setname_np(pthread_self(), "worker");
	return NULL;
}

static void a_late_thread_name(void)
{
	pthread_t thread;

	start_in(GP_RINGS_MEMORY);
	CHECK(pthread_create(&thread, NULL, be_named_late, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	stop_and_read();
	CHECK(said.calls == 1 && said.named == 1);
}

static void ten_thousand_short_threads(void)
{
	short_threads(GP_RINGS_AUTO);
}

static void ten_thousand_short_threads_in_memory(void)
{
	short_threads(GP_RINGS_MEMORY);
}

/* ---- more concurrent threads than rings ---- */

#define CROWD 200u
#define EACH  300u

static pthread_barrier_t all_here;
static uint32_t crowd_lost;

static void *work_in_a_crowd(void *number)
{
	uint32_t index = (uint32_t)(uintptr_t)number;

	worker_ids[index] = my_id();
	pthread_barrier_wait(&all_here);
	for (uint32_t i = 0; i < EACH; i++)
		if (!emit_call(index * EACH + i))
			gp_add32(&crowd_lost, 1);
	pthread_barrier_wait(&all_here);
	return NULL;
}

static void many_threads_share_the_rings(void)
{
	pthread_t threads[CROWD];

	start_in(GP_RINGS_AUTO);
	CHECK(pthread_barrier_init(&all_here, NULL, CROWD) == 0);
	for (uint32_t i = 0; i < CROWD; i++)
		CHECK(pthread_create(&threads[i], NULL, work_in_a_crowd, (void *)(uintptr_t)i) ==
		      0);
	for (uint32_t i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	stop_and_read();
	CHECK(said.calls + crowd_lost == CROWD * EACH);
	for (uint32_t i = 0; i < CROWD * EACH; i++)
		CHECK(times[i] == 0 || (times[i] == 1 && owners[i] == worker_ids[i / EACH]));
	CHECK(said.counters[GP_COUNTER_SHARED_RING] > 0);
	/* names may be lost, too */
	CHECK(said.counters[GP_COUNTER_LOST_NO_RING] + said.counters[GP_COUNTER_LOST_RING_FULL] >=
	      crowd_lost);
}

/* ---- records from a thread's destructors ---- */

static pthread_key_t late_key;
static uint32_t late_thread;

static void emit_late(void *round)
{
	uintptr_t next = (uintptr_t)round + 1;

	CHECK(emit_call((uint32_t)next));
	if (next < PTHREAD_DESTRUCTOR_ITERATIONS)
		pthread_setspecific(late_key, (void *)next);
}

static void *end_slowly(void *unused)
{
	late_thread = my_id();
	pthread_setspecific(late_key, (void *)1);
	CHECK(emit_call(1));
	return unused;
}

static void a_thread_may_emit_while_it_ends(void)
{
	pthread_t thread;

	CHECK(pthread_key_create(&late_key, emit_late) == 0);
	start_in(GP_RINGS_AUTO);
	CHECK(pthread_create(&thread, NULL, end_slowly, NULL) == 0);
	pthread_join(thread, NULL);
	stop_and_read();
	for (uint32_t i = 1; i <= PTHREAD_DESTRUCTOR_ITERATIONS; i++)
		CHECK(times[i] == 1 && owners[i] == late_thread);
}

/* ---- signal handlers ---- */

static uint32_t from_handler, handler_lost;

#define SIGNALS 1000

/*
 * The next signal comes some time after this one was handled, so that slow handlers do not stop the
 * rest.
 */
static void signal_again(uint32_t count)
{
	const struct itimerval once = {{0, 0}, {0, count < SIGNALS ? 50 : 0}};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void emit_in_handler(int signal_number)
{
	uint32_t count = gp_add32(&from_handler, 1);

	(void)signal_number;
	if (!emit_call(NUMBERS / 2 + count))
		gp_add32(&handler_lost, 1);
	signal_again(count + 1);
}

static void handlers_interrupt_records(void)
{
	struct sigaction action = {.sa_handler = emit_in_handler}, ignore = {.sa_handler = SIG_IGN};
	uint32_t number = 0, lost = 0;

	start_in(GP_RINGS_AUTO);
	sigaction(SIGALRM, &action, NULL);
	signal_again(0);
	while (gp_load32(&from_handler) < SIGNALS && number < NUMBERS / 2)
		if (!emit_call(number++))
			lost++;
	sigaction(SIGALRM, &ignore, NULL); /* if all numbers are used */
	stop_and_read();
	CHECK(said.calls == number + from_handler - lost - handler_lost);
	for (uint32_t i = 0; i < NUMBERS; i++)
		CHECK(times[i] <= 1);
	for (uint32_t i = 0; i < number; i++)
		CHECK(times[i] == 0 || owners[i] == my_id());
	CHECK(lost + handler_lost == said.counters[GP_COUNTER_LOST_NESTED] +
					     said.counters[GP_COUNTER_LOST_NO_RING] +
					     said.counters[GP_COUNTER_LOST_RING_FULL]);
}

static sigjmp_buf way_out;

static void jump_away(int signal_number)
{
	siglongjmp(way_out, signal_number);
}

/*
 * A handler that jumps out leaves its thread inside gp_emit() for ever: the thread continues in the
 * shared ring.
 */
static void a_handler_may_jump_out(void)
{
	struct sigaction action = {.sa_handler = jump_away};
	volatile uint32_t number = 0;

	start_in(GP_RINGS_AUTO);
	sigaction(SIGALRM, &action, NULL);
	while (number < 100)
		emit_call_surely(number++);
	for (volatile uint32_t round = 0; round < ROUNDS; round++) {
		struct itimerval timer = {{0, 0}, {0, 30}};

		if (sigsetjmp(way_out, 1) == 0) {
			setitimer(ITIMER_REAL, &timer, NULL);
			while (number < NUMBERS / 2) {
				uint32_t next = number++;

				emit_call(next);
			}
		}
	}
	for (uint32_t i = 0; i < 1000; i++)
		emit_call(NUMBERS / 2 + i);
	stop_and_read();
	for (uint32_t i = 0; i < NUMBERS; i++)
		CHECK(times[i] <= 1);
	CHECK(said.calls >= 100);
}

/* ---- two threads and the writer ---- */

static void *emit_half(void *first)
{
	for (uint32_t i = (uint32_t)(uintptr_t)first; i < 400000; i += 2)
		emit_call_surely(i);
	return NULL;
}

static void busy_threads(void)
{
	pthread_t threads[2];

	start_in(GP_RINGS_AUTO);
	for (uintptr_t i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, emit_half, (void *)i) == 0);
	for (uint32_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	stop_and_read();
	for (uint32_t i = 0; i < 400000; i++)
		CHECK(times[i] == 1);
}

/* ---- threads without a ring ---- */

/* A thread without a record may announce a call. */
static void *call_without_a_ring(void *unused)
{
	gp_call_begins(8, gp_clock_ticks());
	gp_call_is_excluded();
	gp_count_hook(3);
	gp_count_nested();
	gp_count(GP_COUNTER_TEXTS_AGAIN, 5);
	return unused;
}

static void a_thread_without_a_ring_makes_calls(void)
{
	pthread_t thread;

	CHECK(call_without_a_ring(NULL) == NULL); /* without a recording */
	start_in(GP_RINGS_MEMORY);
	CHECK(pthread_create(&thread, NULL, call_without_a_ring, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	stop_and_read();
	CHECK(said.calls == 0 && said.counters[GP_COUNTER_NESTED_CALLBACKS] == 1);
	/* including the calls before the start */
	CHECK(said.counters[GP_COUNTER_TEXTS_AGAIN] == 2 * 5);
	CHECK(call_without_a_ring(NULL) == NULL);
}

/* ---- calls that last ---- */

static void a_call_is_seen_while_it_lasts(void)
{
	start_in(GP_RINGS_FILE);
	gp_call_begins(8, gp_clock_ticks()); /* the thread has no ring yet */
	emit_call_surely(0);
	CHECK(call_seen() == 0);
	gp_call_begins(9, gp_clock_ticks());
	CHECK(call_seen() == 9);
	emit_call_surely(1);
	CHECK(call_seen() == 0);
	gp_call_begins(9, gp_clock_ticks());
	gp_call_is_excluded();
	CHECK(call_seen() == 0);
	stop_and_read();
	gp_call_begins(9, gp_clock_ticks());
}

#define CASE(name)                                                                                 \
	static void test_##name(void **unused)                                                     \
	{                                                                                          \
		(void)unused;                                                                      \
		run_case(name);                                                                    \
	}
#define CASES(X)                                                                                   \
	X(ten_thousand_short_threads)                                                              \
	X(ten_thousand_short_threads_in_memory)                                                    \
	X(a_late_thread_name)                                                                      \
	X(many_threads_share_the_rings)                                                            \
	X(a_thread_may_emit_while_it_ends)                                                         \
	X(handlers_interrupt_records)                                                              \
	X(a_handler_may_jump_out)                                                                  \
	X(busy_threads)                                                                            \
	X(a_thread_without_a_ring_makes_calls)                                                     \
	X(a_call_is_seen_while_it_lasts)
CASES(CASE)

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test(test_##name),
		CASES(ROW)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

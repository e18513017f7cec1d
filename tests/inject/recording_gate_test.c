/* recording_gate: levels, concurrent opening and closing, and the excluded calls. */

#include "tests/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "inject/recording_gate.h"

#define THREADS 4
#define ROUNDS  20000

static uint32_t switched_on, switches, inside, overlaps;

static void switch_cupti(bool on)
{
	overlaps += gp_swap32(&inside, 1);
	switched_on = on;
	switches++;
	gp_swap32(&inside, 0);
}

static bool is_closed(void)
{
	return gp_load32(&gp_watch) & GP_WATCH_CLOSED;
}

static void begin(void **state)
{
	gp_watch = 0;
	switches = switched_on = 0;
	gp_recording_gate_init(true);
	gp_recording_gate_connect(switch_cupti);
}

static void rest(void)
{
	gp_recording_gate_poll(gp_sys_now_ns() + GP_RECORDING_GATE_LINGER_NS);
}

static void open_from_the_beginning(void **state)
{
	begin(state);
	assert_true(gp_recording_gate_is_open());
	assert_true(switched_on);
	assert_false(is_closed());
	assert_true(gp_recording_gate_poll(gp_sys_now_ns()) == UINT64_MAX);
}

static void closed_from_the_beginning(void **state)
{
	switches = switched_on = 0;
	gp_recording_gate_init(false);
	gp_recording_gate_connect(switch_cupti);
	assert_false(gp_recording_gate_is_open());
	assert_false(switched_on);
	assert_true(is_closed());
	gp_recording_gate_set(true, GP_GATE_API);
	assert_true(switched_on);
	assert_false(is_closed());
}

static void closing_leaves_cupti_on_for_a_while(void **state)
{
	uint64_t before_ns, wait_ns;

	begin(state);
	before_ns = gp_sys_now_ns();
	gp_recording_gate_set(false, GP_GATE_API);
	assert_true(is_closed());
	assert_true(switched_on);
	wait_ns = gp_recording_gate_poll(before_ns);
	assert_true(wait_ns >= GP_RECORDING_GATE_LINGER_NS);
	assert_true(wait_ns <= GP_RECORDING_GATE_LINGER_NS + (gp_sys_now_ns() - before_ns));
	assert_true(switched_on);
	rest();
	assert_false(switched_on);
	assert_int_equal(switches, 2);
	rest();
	assert_int_equal(switches, 2);
	gp_recording_gate_set(true, GP_GATE_API);
	assert_int_equal(switches, 3);
	assert_true(switched_on && !is_closed());
}

/* Its launches may last long.  Without CUPTI, nobody would learn of their ends. */
static void cupti_stays_on_while_a_window_of_counters_is_open(void **state)
{
	begin(state);
	gp_watch_set(GP_WATCH_WINDOW);
	gp_recording_gate_set(false, GP_GATE_API);
	assert_int_equal(gp_recording_gate_poll(gp_sys_now_ns() + 10 * GP_RECORDING_GATE_LINGER_NS),
			 GP_RECORDING_GATE_LINGER_NS);
	assert_true(switched_on);
	gp_watch_clear(GP_WATCH_WINDOW);
	rest();
	assert_false(switched_on);
}

static void setting_the_current_state_changes_nothing(void **state)
{
	begin(state);
	gp_recording_gate_set(true, GP_GATE_API);
	assert_int_equal(switches, 1);
	gp_recording_gate_set(false, GP_GATE_API);
	rest();
	gp_recording_gate_set(false, GP_GATE_API);
	assert_int_equal(switches, 2);
	assert_false(switched_on);
}

static void a_forked_child_does_not_switch(void **state)
{
	int status;
	pid_t child;

	begin(state);
	child = fork();
	if (child == 0) {
		gp_recording_gate_set(false, GP_GATE_API);
		_exit(switches == 1 && gp_recording_gate_is_open() ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void *open_and_close(void *seed)
{
	for (uintptr_t i = (uintptr_t)seed; i < ROUNDS; i++) {
		gp_recording_gate_set(i % 2 == 0, GP_GATE_API);
		if (i % 3 == 0)
			rest();
	}
	return NULL;
}

/* No thread waits, no two threads switch concurrently, and the last requested state is reached. */
static void concurrent_threads(void **state)
{
	pthread_t threads[THREADS];

	begin(state);
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(overlaps, 0);
	gp_recording_gate_set(true, GP_GATE_API);
	assert_true(switched_on && !is_closed());
	gp_recording_gate_set(false, GP_GATE_API);
	rest();
	assert_true(!switched_on && is_closed());
}

static void gpu_records_follow_their_calls(void **state)
{
	begin(state);
	gp_watch_set(GP_WATCH_GATE);
	for (uint32_t id = 1; id <= 10; id++)
		assert_true(gp_recording_gate_admits(id));
	gp_recording_gate_set(false, GP_GATE_API);
	assert_false(gp_recording_gate_has_excluded(11));
	for (uint32_t id = 11; id <= 20; id++)
		assert_false(gp_recording_gate_admits(id));
	gp_recording_gate_set(true, GP_GATE_API);
	for (uint32_t id = 21; id <= 30; id++)
		assert_true(gp_recording_gate_admits(id));
	for (uint32_t id = 1; id <= 40; id++)
		assert_int_equal(gp_recording_gate_has_excluded(id), id > 10 && id <= 20);
}

/* A gate that opens and closes again without a call does not hide what was excluded before. */
static void gaps_without_calls(void **state)
{
	begin(state);
	gp_watch_set(GP_WATCH_GATE);
	assert_true(gp_recording_gate_admits(100));
	gp_recording_gate_set(false, GP_GATE_API);
	assert_false(gp_recording_gate_admits(101));
	for (int i = 0; i < 6; i++)
		gp_recording_gate_set(i % 2 == 0, GP_GATE_API);
	gp_recording_gate_set(true, GP_GATE_API);
	assert_true(gp_recording_gate_admits(102));
	for (uint32_t id = 100; id <= 103; id++)
		assert_int_equal(gp_recording_gate_has_excluded(id), id == 101);
}

static void an_unmoved_gate_excludes_nothing(void **state)
{
	begin(state);
	assert_false(gp_recording_gate_has_excluded(1));
	assert_false(gp_recording_gate_has_excluded(UINT32_MAX));
}

static uint32_t next_id;
static uint8_t admitted[1000 + THREADS * ROUNDS];

static void *make_calls(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t id = gp_add32(&next_id, 1);

		admitted[id] = gp_recording_gate_admits(id);
	}
	return NULL;
}

/* For any interleaving of the threads, a recorded call has its GPU record. */
static void calls_of_threads_while_it_moves(void **state)
{
	pthread_t threads[THREADS];
	uint32_t missing = 0;

	begin(state);
	gp_watch_set(GP_WATCH_GATE);
	next_id = 1000; /* after the ids of the earlier tests */
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_calls, NULL), 0);
	for (int i = 0; i < 400; i++)
		gp_recording_gate_set(i % 2 != 0, GP_GATE_API);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t id = 1000; id < next_id; id++)
		missing += admitted[id] && gp_recording_gate_has_excluded(id);
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unmoved_gate_excludes_nothing),
		cmocka_unit_test(open_from_the_beginning),
		cmocka_unit_test(closing_leaves_cupti_on_for_a_while),
		cmocka_unit_test(cupti_stays_on_while_a_window_of_counters_is_open),
		cmocka_unit_test(setting_the_current_state_changes_nothing),
		cmocka_unit_test(a_forked_child_does_not_switch),
		cmocka_unit_test(gpu_records_follow_their_calls),
		cmocka_unit_test(gaps_without_calls),
		cmocka_unit_test(calls_of_threads_while_it_moves),
		cmocka_unit_test(concurrent_threads),
		cmocka_unit_test(closed_from_the_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

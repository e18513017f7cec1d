/* loader: a fork and iterating threads exclude each other, however long either takes. */

#include "tests/unit.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/sys.h"
#include "stacks/loader.h"
#include "stacks/lock.h"
#include "tests/lib/sleeping.h"

#define LONG_S       20
#define LONG_PAUSES  100 /* limit of a wait in pauses: far longer than an undisturbed operation */
#define SHORT_PAUSES 5

static long (*real_call)(long, long, long, long, long, long, long);
static uint32_t pauses, is_inside, in_fork, looks_beside_fork, asked_in_own_fork;
static bool holds_fork_up;

static long count_pauses(long number, long a, long b, long c, long d, long e, long f)
{
	gp_add32(&pauses, is_sleep(number, a, b));
	return real_call(number, a, b, c, d, e, f);
}

static void wait_until_reached(const uint32_t *number, uint32_t least)
{
	while (gp_load32_acquire(number) < least)
		sched_yield();
}

static int look(struct dl_phdr_info *info, size_t bytes, void *count)
{
	(void)info, (void)bytes;
	gp_add32(&looks_beside_fork, gp_load32_acquire(&in_fork));
	++*(int *)count;
	return 1;
}

/*
 * ---- handlers of forks: the first registered is the last called before it, and the first after it
 * ----
 */

static void before_fork(void)
{
	int count = 0;

	if (!holds_fork_up)
		return;
	asked_in_own_fork = gp_loader_iterate(look, &count);
	gp_store32_release(&in_fork, 1);
	wait_until_reached(&pauses, SHORT_PAUSES);
}

static void after_fork(void)
{
	gp_store32_release(&in_fork, 0);
}

static __attribute__((constructor(101))) void register_first(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- the tests ---- */

static int set_up(void **state)
{
	pauses = is_inside = looks_beside_fork = asked_in_own_fork = 0;
	real_call = gp_sys.call;
	gp_sys.call = count_pauses;
	return 0;
}

static int tear_down(void **state)
{
	gp_sys.call = real_call;
	return 0;
}

/* The loader's lock is free in the child. */
static void fork_and_ask(void)
{
	int status, count = 0;
	pid_t child = fork();

	if (child == 0) {
		alarm(LONG_S);
		dl_iterate_phdr(look, &count);
		_exit(count);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 1 << 8);
}

static int look_for_long(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	gp_store32_release(&is_inside, 1);
	wait_until_reached(&pauses, LONG_PAUSES);
	return 1;
}

static void *ask_for_long(void *unused)
{
	gp_loader_iterate(look_for_long, unused);
	return unused;
}

static void a_fork_waits_for_iterating_threads(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask_for_long, NULL), 0);
	wait_until_reached(&is_inside, 1);
	fork_and_ask();
	pthread_join(thread, NULL);
	assert_true(pauses >= LONG_PAUSES);
}

static void *ask_in_fork(void *count)
{
	wait_until_reached(&in_fork, 1);
	return gp_loader_iterate(look, count) ? count : NULL;
}

static void iterating_threads_wait_for_a_fork(void **state)
{
	pthread_t thread;
	void *result;
	int count = 0;

	assert_int_equal(pthread_create(&thread, NULL, ask_in_fork, &count), 0);
	holds_fork_up = true;
	fork_and_ask();
	holds_fork_up = false;
	pthread_join(thread, &result);
	assert_non_null(result);
	assert_int_equal(count, 1);
	assert_int_equal(looks_beside_fork, 0);
	assert_false(asked_in_own_fork);
}

static int fork_inside(struct dl_phdr_info *info, size_t bytes, void *status)
{
	pid_t child = fork();

	(void)info, (void)bytes;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, status, 0), child);
	return 1;
}

/* A signal handler may fork while its thread iterates. */
static void a_fork_does_not_wait_for_its_own_thread(void **state)
{
	int status = -1;

	assert_true(gp_loader_iterate(fork_inside, &status));
	assert_int_equal(status, 0);
	assert_int_equal(pauses, 0);
	fork_and_ask();
}

static sigjmp_buf away;

static void jump_away(int number)
{
	siglongjmp(away, number);
}

static int raise_inside(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	raise(SIGUSR1);
	gp_store32_release(&is_inside, 1);
	return 1;
}

static void *ask_once(void *count)
{
	return gp_loader_iterate(look, count) ? count : NULL;
}

/* The signal arrives when nothing is held any more. */
static void a_handler_that_jumps_out_leaves_nothing_held(void **state)
{
	volatile bool has_jumped = false;
	pthread_t thread;
	int count = 0;

	signal(SIGUSR1, jump_away);
	if (sigsetjmp(away, 1) == 0)
		gp_loader_iterate(raise_inside, NULL);
	else
		has_jumped = true;
	assert_true(has_jumped);
	assert_true(gp_load32_acquire(&is_inside));
	assert_int_equal(pthread_create(&thread, NULL, ask_once, &count), 0);
	pthread_join(thread, NULL);
	assert_int_equal(count, 1);
	fork_and_ask();
	assert_int_equal(pauses, 0);
	signal(SIGUSR1, SIG_DFL);
}

static int jump_inside(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	siglongjmp(away, 1);
}

static void *jump_out(void *unused)
{
	if (sigsetjmp(away, 1) == 0)
		gp_loader_iterate_quick(jump_inside, NULL);
	return unused;
}

static uint32_t pauses_of_a_fork(void)
{
	uint32_t before = gp_load32(&pauses);
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return gp_load32(&pauses) - before;
}

/*
 * A signal handler jumps out of gp_loader_iterate_quick(), which blocks no signals.  In a separate
 * process, because the loader's lock stays taken there.
 */
static void a_fork_waits_once_for_a_lost_thread(void **state)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		pthread_t thread;
		bool waits, waits_again;

		if (pthread_create(&thread, NULL, jump_out, NULL) != 0)
			_exit(1);
		pthread_join(thread, NULL);
		waits = pauses_of_a_fork() > 0;
		waits_again = pauses_of_a_fork() > 0;
		_exit(waits && !waits_again ? 0 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static uint32_t may_leave;

static int look_until_let_go(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	gp_store32_release(&is_inside, 1);
	wait_until_reached(&may_leave, 1);
	return 1;
}

static void *ask_until_let_go(void *unused)
{
	gp_loader_iterate(look_until_let_go, unused);
	return unused;
}

/*
 * The fork that timed out has counted the thread as lost.  The next fork must not count another
 * thread as lost.
 */
static void a_slow_thread_is_not_lost(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, ask_until_let_go, NULL), 0);
	wait_until_reached(&is_inside, 1);
	assert_true(pauses_of_a_fork() > 0);
	gp_store32_release(&may_leave, 1);
	pthread_join(thread, NULL);
	is_inside = pauses = 0;
	a_fork_waits_for_iterating_threads(state);
}

/* The lock of a thread that jumped out. */
static void a_lock_that_is_never_released_is_taken_eventually(void **state)
{
	static uint32_t lock = 2;

	gp_lock(&lock);
	gp_unlock(&lock);
	gp_lock(&lock);
	assert_int_equal(lock, 1);
	gp_unlock(&lock);
}

static uint32_t stopped_lock, waits_while_stopped;

/*
 * In the first wait the whole process is stopped, for longer than any waiter would wait.  In the
 * second wait the holder continues.
 */
static long stop_then_unlock(long number, long a, long b, long c, long d, long e, long f)
{
	const struct timespec stopped = {GP_LOCK_MOST_NS / 1000000000u + 1, 0};

	if (number != SYS_futex || a != (long)(uintptr_t)&stopped_lock || b != FUTEX_WAIT_PRIVATE)
		return real_call(number, a, b, c, d, e, f);
	if (++waits_while_stopped == 1)
		nanosleep(&stopped, NULL);
	else
		gp_unlock(&stopped_lock);
	return 0;
}

static void a_process_that_was_stopped_keeps_its_locks(void **state)
{
	stopped_lock = 1;
	gp_sys.call = stop_then_unlock;
	gp_lock(&stopped_lock);
	assert_int_equal(waits_while_stopped, 2);
	gp_unlock(&stopped_lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_fork_waits_for_iterating_threads, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(iterating_threads_wait_for_a_fork, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_fork_does_not_wait_for_its_own_thread, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_handler_that_jumps_out_leaves_nothing_held,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_fork_waits_once_for_a_lost_thread, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_slow_thread_is_not_lost, set_up, tear_down),
		cmocka_unit_test(a_lock_that_is_never_released_is_taken_eventually),
		cmocka_unit_test_setup_teardown(a_process_that_was_stopped_keeps_its_locks, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* own_threads: when a program has come to its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/own_threads.h"
#include "collector/since_fork.h"
#include "collector/sys.h"

#define MOST_SECONDS 20

enum { ALL_TOO_EARLY = 1, NOT_KNOWN, ENDED = 42 };

static uint32_t looks; /* of the profiler's thread, while the program's still ran */
static uint32_t program_ends;

static void *be_the_profilers(void *unused)
{
	bool is_known;

	gp_own_thread_begins();
	while (!gp_own_threads_are_all(&is_known)) {
		if (!is_known)
			_exit(NOT_KNOWN);
		gp_add32_ordered(&looks, 1);
	}
	_exit(gp_load32_acquire(&program_ends) ? ENDED : ALL_TOO_EARLY);
	return unused;
}

static void *be_the_programs(void *unused)
{
	while (gp_load32_acquire(&looks) < 100)
		;
	gp_store32_release(&program_ends, 1);
	return unused;
}

/* In a process of its own, of which the calling thread is the main one. */
static void leave_others_at_work(void)
{
	pthread_t thread;

	alarm(MOST_SECONDS);
	if (gp_since_fork_prepare() != 0 ||
	    pthread_create(&thread, NULL, be_the_programs, NULL) != 0 ||
	    pthread_create(&thread, NULL, be_the_profilers, NULL) != 0)
		_exit(NOT_KNOWN);
	pthread_exit(NULL);
}

static void a_program_ends_with_the_last_thread_of_its_own(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		leave_others_at_work();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENDED);
}

static void a_program_whose_main_thread_lives_goes_on(void **state)
{
	bool is_known = false;

	(void)state;
	assert_false(gp_own_threads_are_all(&is_known));
	assert_true(is_known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_ends_with_the_last_thread_of_its_own),
		cmocka_unit_test(a_program_whose_main_thread_lives_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

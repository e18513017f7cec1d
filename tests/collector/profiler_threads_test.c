/* profiler_threads: the end of a program whose main thread has left. */

#include "tests/unit.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/profiler_threads.h"
#include "collector/process_state.h"
#include "collector/sys.h"
#include "tests/lib/emulated.h"
#include "tests/lib/sanitizer.h"

#define MOST_SECONDS 20

enum { ALL_TOO_EARLY = 1, NOT_KNOWN, ENDED = 42 };

static const uint32_t *libc_threads;
static uint32_t poll_count; /* polls of the profiler thread while program threads were running */
static uint32_t program_ends;

static void *be_the_profilers(void *unused)
{
	bool may_change;

	gp_profiler_thread_begin();
	while (!gp_profiler_threads_are_last(libc_threads, &may_change)) {
		if (!may_change)
			_exit(NOT_KNOWN);
		gp_add32_ordered(&poll_count, 1);
	}
	_exit(gp_load32_acquire(&program_ends) ? ENDED : ALL_TOO_EARLY);
	return unused;
}

static void *be_the_programs(void *unused)
{
	while (gp_load32_acquire(&poll_count) < 100)
		;
	gp_store32_release(&program_ends, 1);
	return unused;
}

static void take_all_descriptors(void)
{
	struct rlimit none;

	getrlimit(RLIMIT_NOFILE, &none);
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
}

/* In a separate process, whose main thread is the calling thread. */
static void leave_others_at_work(bool has_proc)
{
	pthread_t thread;

	alarm(MOST_SECONDS);
	dlopen("libgcc_s.so.1", RTLD_NOW); /* pthread_exit() would load it */
	if (!has_proc)
		take_all_descriptors();
	if (gp_process_state_prepare() != 0 ||
	    pthread_create(&thread, NULL, be_the_programs, NULL) != 0 ||
	    pthread_create(&thread, NULL, be_the_profilers, NULL) != 0)
		_exit(NOT_KNOWN);
	pthread_exit(NULL);
}

static void check_end(bool has_proc)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		leave_others_at_work(has_proc);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENDED);
}

static void a_program_ends_with_its_last_thread(void **state)
{
	if (UNDER_TSAN || is_emulated(EMULATED_THREADS)) /* ThreadSanitizer has a thread, too */
		skip();
	check_end(true);
}

static void it_also_ends_without_proc(void **state)
{
	if (UNDER_TSAN || libc_threads == NULL || is_emulated(EMULATED_THREADS))
		skip();
	check_end(false);
}

static void a_program_with_a_main_thread_continues(void **state)
{
	bool may_change = false;

	assert_false(gp_profiler_threads_are_last(libc_threads, &may_change));
	assert_true(may_change);
}

/* As if the program had used up all descriptors.  It may release one later. */
static void unknown_counts_may_change_while_profiler_threads_run(void **state)
{
	struct rlimit before;
	bool may_change[2];

	getrlimit(RLIMIT_NOFILE, &before);
	take_all_descriptors();
	for (int i = 0; i < 2; i++) {
		gp_profiler_thread_begin();
		assert_false(gp_profiler_threads_are_last(NULL, &may_change[i]));
	}
	gp_profiler_thread_end();
	gp_profiler_thread_end();
	setrlimit(RLIMIT_NOFILE, &before);
	assert_false(may_change[0]);
	assert_true(may_change[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_ends_with_its_last_thread),
		cmocka_unit_test(it_also_ends_without_proc),
		cmocka_unit_test(a_program_with_a_main_thread_continues),
		cmocka_unit_test(unknown_counts_may_change_while_profiler_threads_run),
	};

	libc_threads = dlsym(RTLD_DEFAULT, "__nptl_nthreads");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

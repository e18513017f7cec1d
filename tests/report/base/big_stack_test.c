/* stack_room: a command that needs more stack than the process may have. */

#include "tests/unit.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/big_stack.h"

#define LIMIT_BYTES (128u << 10)
#define FRAME_BYTES (32u << 10)
#define FRAMES      128u /* 4 MiB */

/* Fills so many frames of the stack, and counts them. */
static __attribute__((noinline)) unsigned int take(unsigned int frames)
{
	volatile char room[FRAME_BYTES];

	for (size_t i = 0; i < sizeof(room); i += 512)
		room[i] = 1;
	return frames == 0 ? 0 : (unsigned int)room[0] + take(frames - 1);
}

static void *take_in_thread(void *sum)
{
	*(unsigned int *)sum = take(FRAMES);
	return NULL;
}

static int need_much(int argc, char **argv)
{
	unsigned int sum = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, take_in_thread, &sum) != 0 ||
	    pthread_join(thread, NULL) != 0)
		return 1;
	return sum == FRAMES && take(FRAMES) == FRAMES && argc == 2 && strcmp(argv[1], "b") == 0
		       ? 7
		       : 2;
}

static void note(int number)
{
	(void)number;
}

/* An interrupted wait tells that the handler ran on this thread. */
static int wait_for_signal(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = note};
	int ends[2];
	char byte;

	(void)argc;
	(void)argv;
	if (sigaction(SIGALRM, &action, NULL) != 0 || pipe(ends) != 0)
		return 1;
	alarm(1);
	return read(ends[0], &byte, 1) < 0 ? 9 : 2;
}

static int status_of(int (*command)(int argc, char **argv), rlim_t stack_bytes)
{
	const struct rlimit limit = {stack_bytes, stack_bytes};
	char *arguments[] = {"a", "b", NULL};
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (stack_bytes > 0 && setrlimit(RLIMIT_STACK, &limit) != 0)
			_exit(3);
		_exit(gp_big_stack_run(command, 2, arguments));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void a_small_limit_does_not_bound_it(void **state)
{
	assert_int_equal(status_of(need_much, LIMIT_BYTES), 7);
}

static void a_limit_that_is_large_enough_stays(void **state)
{
	assert_int_equal(status_of(need_much, GP_STACK_BYTES), 7);
}

static void signals_interrupt_it(void **state)
{
	assert_int_equal(status_of(wait_for_signal, LIMIT_BYTES), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_limit_does_not_bound_it),
		cmocka_unit_test(a_limit_that_is_large_enough_stays),
		cmocka_unit_test(signals_interrupt_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sys: threads of ours in programs that are not like others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "collector/sys.h"

/* As much as our threads' stacks, but for a few pages. */
static __thread volatile char large[250000];

static void *use_the_stack(void *unused)
{
	volatile char frame[150000];
	sigset_t blocked;

	(void)unused;
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)i;
	large[0] = frame[1];
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	return sigismember(&blocked, SIGUSR1) && large[0] == 1 ? (void *)1 : NULL;
}

static void thread_local_variables_do_not_take_our_stack(void **state)
{
	pthread_t thread;
	void *result = NULL;

	(void)state;
	large[0] = 0;
	assert_int_equal(gp_sys.thread(&thread, use_the_stack), 0);
	pthread_join(thread, &result);
	assert_non_null(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_local_variables_do_not_take_our_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whose a signal was.  The test is alone in a process group of its own. */
#include "tests/unit.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/run/witness.h"

static struct gp_witness witness;
static char *program[] = {"program", NULL};

static int set_up(void **state)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	return (getpgrp() == getpid() || setpgid(0, 0) == 0) &&
			       gp_witness_start(&witness, program) == 0
		       ? 0
		       : -1;
}

static int tear_down(void **state)
{
	struct timespec at_once = {0};
	sigset_t all;

	gp_witness_end(&witness);
	sigfillset(&all);
	while (sigtimedwait(&all, NULL, &at_once) > 0 || errno == EINTR)
		;
	return 0;
}

static void take(int number)
{
	siginfo_t info;
	sigset_t only;

	sigemptyset(&only);
	sigaddset(&only, number);
	assert_int_equal(sigwaitinfo(&only, &info), number);
}

static void a_signal_to_one_is_not_the_groups(void **state)
{
	kill(getpid(), SIGTERM);
	take(SIGTERM);
	assert_false(gp_witness_saw(&witness, SIGTERM));
}

static void a_signal_to_the_group_is_and_counts_once(void **state)
{
	for (int i = 0; i < 1000; i++) {
		kill(0, SIGTERM);
		take(SIGTERM);
		assert_true(gp_witness_saw(&witness, SIGTERM));
		assert_false(gp_witness_saw(&witness, SIGTERM));
	}
}

static void others_that_came_meanwhile_are_remembered(void **state)
{
	kill(0, SIGUSR1);
	kill(0, SIGTERM);
	kill(getpid(), SIGUSR2);
	take(SIGUSR2);
	assert_false(gp_witness_saw(&witness, SIGUSR2));
	take(SIGTERM);
	assert_true(gp_witness_saw(&witness, SIGTERM));
	take(SIGUSR1);
	assert_true(gp_witness_saw(&witness, SIGUSR1));
}

static void queued_signals_are_counted(void **state)
{
	int of_group = 0;

	for (int i = 0; i < 3; i++)
		kill(0, SIGRTMIN);
	kill(getpid(), SIGRTMIN);
	for (int i = 0; i < 4; i++) {
		take(SIGRTMIN);
		of_group += gp_witness_saw(&witness, SIGRTMIN);
	}
	assert_int_equal(of_group, 3);
}

static void a_stopped_witness_keeps_nobody(void **state)
{
	kill(witness.pid, SIGSTOP);
	assert_int_equal(waitpid(witness.pid, NULL, WUNTRACED), witness.pid);
	kill(0, SIGTERM);
	take(SIGTERM);
	assert_false(gp_witness_saw(&witness, SIGTERM));
	/* and ends, when it is to */
}

static void without_one_no_signal_is_the_groups(void **state)
{
	struct gp_witness none = {0};

	assert_false(gp_witness_saw(&none, SIGTERM));
	gp_witness_end(&none);
}

int main(void)
{
#define WITH_WITNESS(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_WITNESS(a_signal_to_one_is_not_the_groups),
		WITH_WITNESS(a_signal_to_the_group_is_and_counts_once),
		WITH_WITNESS(others_that_came_meanwhile_are_remembered),
		WITH_WITNESS(queued_signals_are_counted),
		WITH_WITNESS(a_stopped_witness_keeps_nobody),
		cmocka_unit_test(without_one_no_signal_is_the_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

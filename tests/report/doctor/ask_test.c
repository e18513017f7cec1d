/*
 * Commands that answer, fail, hang, leave others behind, say too much, or are ended by a signal to
 * us.
 */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/doctor/ask.h"
#include "tests/lib/temporary.h"

static struct gp_doctor_answer answer;
static char fifo[] = "/tmp/gpuprof-ask-test-XXXXXX";

static int make_name(void **state)
{
	return temporary_folder(fifo) && rmdir(fifo) == 0 ? 0 : -1;
}

static int remove_fifo(void **state)
{
	return unlink(fifo);
}

static int ask(const char *script, const char *folder, unsigned limit_s)
{
	char *arguments[] = {"/bin/sh", "-c", (char *)script, NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", "WORD=here", NULL};

	return gp_ask(&(struct gp_question){arguments, environment, folder, limit_s}, &answer);
}

static void test_an_answer(void **state)
{
	assert_int_equal(ask("echo $WORD; echo no >&2; pwd; cat", "/usr", 60), 0);
	assert_string_equal(answer.out, "here\n/usr\n"); /* and nothing is to be read */
	assert_string_equal(answer.errors, "no\n");
	assert_true(gp_answer_is_good(&answer));
	assert_int_equal(ask("exit 3", NULL, 60), 0);
	assert_int_equal(WEXITSTATUS(answer.status), 3);
	assert_false(gp_answer_is_good(&answer));
	assert_int_equal(ask("kill -SEGV $$", NULL, 60), 0);
	assert_int_equal(WTERMSIG(answer.status), SIGSEGV);
	assert_false(gp_answer_is_good(&answer));
}

static void test_what_cannot_be_run(void **state)
{
	char *arguments[] = {"/no/such/program", NULL};

	assert_int_equal(gp_ask(&(struct gp_question){arguments, environ, NULL, 60}, &answer), 0);
	assert_int_equal(WEXITSTATUS(answer.status), 127);
	assert_int_equal(ask("true", "/no/such/folder", 60), 0);
	assert_int_equal(WEXITSTATUS(answer.status), 127);
}

/* The grandchild holds the line's other end, which ends with it. */
static void test_what_hangs_is_ended_with_all_that_it_started(void **state)
{
	char byte, script[64];
	int line;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	line = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(line >= 0);
	snprintf(script, sizeof(script), "sleep 1000 >%s & echo started; wait", fifo);
	assert_int_equal(ask(script, NULL, 1), 0);
	assert_true(answer.timed_out);
	assert_string_equal(answer.out, "started\n");
	assert_false(gp_answer_is_good(&answer));
	assert_int_equal(fcntl(line, F_SETFL, 0), 0);
	assert_int_equal(read(line, &byte, 1), 0);
	close(line);
}

static void test_nobody_waits_for_what_is_left_behind(void **state)
{
	assert_int_equal(ask("sleep 1000 & echo $!", NULL, 60), 0);
	assert_true(gp_answer_is_good(&answer));
	assert_int_equal(kill(atoi(answer.out), SIGKILL), 0);
	assert_int_equal(ask("exec >&- 2>&-; exit 4", NULL, 60),
			 0); /* closed long before the end */
	assert_int_equal(WEXITSTATUS(answer.status), 4);
}

static void test_too_much_is_cut(void **state)
{
	assert_int_equal(ask("yes | head -c 1000000; printf 'a\\0b' >&2", NULL, 60), 0);
	assert_true(gp_answer_is_good(&answer));
	assert_int_equal(strlen(answer.out), GP_ANSWER_BYTES - 1);
	assert_string_equal(answer.errors, "ab");
}

/* The last one: from then on nothing is asked any more. */
static void test_a_signal_ends_what_is_asked(void **state)
{
	char script[64];

	gp_ask_hold_signals();
	assert_int_equal(gp_ask_signal(), 0);
	snprintf(script, sizeof(script), "kill -TERM %d; sleep 1000", (int)getpid());
	assert_int_equal(ask(script, NULL, 60), -EINTR);
	assert_int_equal(gp_ask_signal(), SIGTERM);
	assert_int_equal(ask("true", NULL, 60), -EINTR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_answer),
		cmocka_unit_test(test_what_cannot_be_run),
		cmocka_unit_test(test_what_hangs_is_ended_with_all_that_it_started),
		cmocka_unit_test(test_nobody_waits_for_what_is_left_behind),
		cmocka_unit_test(test_too_much_is_cut),
		cmocka_unit_test(test_a_signal_ends_what_is_asked),
	};

	return cmocka_run_group_tests(tests, make_name, remove_fifo);
}

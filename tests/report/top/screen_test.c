/*
 * screen: what a terminal gets, and what keys, time and signals do; a pseudo-terminal is the
 * user's.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "report/base/monotonic.h"
#include "report/top/screen.h"
#include "tests/unit.h"

#define S     UINT64_C(1000000000)
#define ENTER "\033[?1049h\033[?25l\033[?7l"
#define LEAVE "\033[?7h\033[?25h\033[?1049l"
#define HOME  "\033[H"

/* The user's side: the terminal of a child that shows a page, and all that it got so far. */
static struct {
	int fd;
	pid_t child;
	char text[8192];
	size_t length;
} user;

/* Until the text is there, from that place on; returns the place behind it. */
static size_t await(const char *text, size_t from)
{
	struct pollfd input = {.fd = user.fd, .events = POLLIN};
	const char *found;

	while ((found = strstr(user.text + from, text)) == NULL) {
		ssize_t got;

		assert_true(poll(&input, 1, 20000) > 0);
		got = read(user.fd, user.text + user.length, sizeof(user.text) - 1 - user.length);
		if (got <= 0)
			fail_msg("\"%s\" never came", text);
		user.length += (size_t)got;
		user.text[user.length] = '\0';
	}
	return (size_t)(found - user.text) + strlen(text);
}

/* The child: it says which event ended each wait, until one ends it. */
static void show_pages(void)
{
	static const char *const events[] = {"TIME", "REDRAW", "QUIT", "SIGNAL"};
	enum gp_screen_event event;
	size_t rows, columns;

	if (!gp_screen_is_possible())
		_exit(9);
	gp_screen_open();
	do {
		char page[256];

		gp_screen_size(&rows, &columns);
		snprintf(page, sizeof(page), "%zux%zu\nsecond\nthird\nfourth\nREADY", rows,
			 columns);
		gp_screen_show(page);
		event = gp_screen_wait(gp_monotonic_ns() + 20 * S);
		printf("[%s]", events[event]);
		fflush(stdout);
	} while (event == GP_SCREEN_REDRAW);
	gp_screen_close();
	_exit(event);
}

static void begin(unsigned short rows, bool ignores_hangup)
{
	const struct winsize size = {.ws_row = rows, .ws_col = 60};

	memset(&user, 0, sizeof(user));
	user.child = forkpty(&user.fd, NULL, NULL, &size);
	assert_true(user.child >= 0);
	if (user.child != 0)
		return;
	setenv("TERM", "xterm", 1);
	if (ignores_hangup)
		signal(SIGHUP, SIG_IGN);
	show_pages();
}

static int end(void)
{
	int status;

	assert_int_equal(waitpid(user.child, &status, 0), user.child);
	close(user.fd);
	return status;
}

static void press(const char *keys)
{
	assert_int_equal(write(user.fd, keys, strlen(keys)), strlen(keys));
}

static void a_page_is_shown_until_a_key_quits(void **state)
{
	struct termios now;
	size_t at;
	int status;

	begin(30, false);
	at = await(ENTER, 0);
	at = await(HOME
		   "30x60\033[K\r\nsecond\033[K\r\nthird\033[K\r\nfourth\033[K\r\nREADY\033[K\r\n"
		   "\033[K\033[J",
		   at);
	assert_int_equal(tcgetattr(user.fd, &now), 0);
	assert_int_equal(now.c_lflag & (ICANON | ECHO), 0);
	press("x");
	press("yq");
	at = await("[QUIT]", at);
	await(LEAVE, at);
	assert_int_equal(waitpid(user.child, &status, 0), user.child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == GP_SCREEN_QUIT);
	assert_int_equal(tcgetattr(user.fd, &now), 0);
	assert_int_equal(now.c_lflag & (ICANON | ECHO), ICANON | ECHO);
	close(user.fd);
}

/* The last row stays free. */
static void a_small_terminal_has_the_first_lines(void **state)
{
	size_t at;

	begin(4, false);
	at = await(HOME "4x60\033[K\r\nsecond\033[K\r\nthird\033[K\r\n\033[K\033[J", 0);
	assert_null(strstr(user.text, "fourth"));
	press("Q");
	await("[QUIT]", at);
	end();
}

static void another_size_draws_the_page_anew(void **state)
{
	const struct winsize size = {.ws_row = 10, .ws_col = 70};
	size_t at;

	begin(30, false);
	at = await("READY", 0);
	assert_int_equal(ioctl(user.fd, TIOCSWINSZ, &size), 0); /* SIGWINCH */
	at = await("[REDRAW]", at);
	at = await("10x70", at);
	press("q");
	await("[QUIT]", at);
	end();
}

/* The terminal is as it was, and the shell sees the signal. */
static void a_signal_ends_it_behind_the_page(void **state)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		size_t at;
		int status;

		begin(30, false);
		at = await("READY", 0);
		kill(user.child, signals[i]);
		at = await("[SIGNAL]", at);
		await(LEAVE, at);
		status = end();
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[i]);
	}
}

static void what_was_ignored_stays_ignored(void **state)
{
	size_t at;
	int status;

	begin(30, true);
	at = await("READY", 0);
	kill(user.child, SIGHUP);
	press("q");
	await("[QUIT]", at);
	status = end();
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == GP_SCREEN_QUIT);
}

/* A shell, which tells that what it started was stopped, and has it go on. */
static void be_shell(void)
{
	int status;
	pid_t child;

	signal(SIGTTOU, SIG_IGN);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);
		tcsetpgrp(STDIN_FILENO, getpid());
		signal(SIGTTOU, SIG_DFL);
		show_pages();
	}
	while (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
		struct termios now;

		tcgetattr(STDIN_FILENO, &now);
		printf("[STOPPED %s]", now.c_lflag & ICANON ? "cooked" : "raw");
		fflush(stdout);
		kill(child, SIGCONT);
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void a_stopped_one_gives_the_terminal_back(void **state)
{
	size_t at;

	memset(&user, 0, sizeof(user));
	user.child = forkpty(&user.fd, NULL, NULL, NULL);
	assert_true(user.child >= 0);
	setenv("TERM", "xterm", 1);
	if (user.child == 0)
		be_shell();
	at = await("READY", 0);
	press("\032"); /* Ctrl-Z */
	at = await(LEAVE, at);
	at = await("[STOPPED cooked]", at);
	at = await(ENTER, at);
	at = await("[REDRAW]", at);
	at = await("READY", at);
	press("q");
	await("[QUIT]", at);
	assert_int_equal(WEXITSTATUS(end()), GP_SCREEN_QUIT);
}

/* ---- without a terminal ---- */

static void a_time_that_is_over_is_only_a_look(void **state)
{
	uint64_t start_ns = gp_monotonic_ns();

	assert_int_equal(gp_screen_wait(0), GP_SCREEN_TIME_IS_UP);
	assert_true(gp_monotonic_ns() - start_ns < S);
	assert_int_equal(gp_screen_wait(start_ns + S / 5), GP_SCREEN_TIME_IS_UP);
	assert_true(gp_monotonic_ns() - start_ns >= S / 5);
}

static int possible_with(const char *term, bool is_terminal)
{
	int fd, status;
	pid_t child = forkpty(&fd, NULL, NULL, NULL);

	assert_true(child >= 0);
	if (child == 0) {
		if (term)
			setenv("TERM", term, 1);
		else
			unsetenv("TERM");
		if (!is_terminal)
			dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
		_exit(gp_screen_is_possible());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	close(fd);
	return WEXITSTATUS(status);
}

static void only_terminals_that_understand_get_pages(void **state)
{
	assert_int_equal(possible_with("xterm", true), 1);
	assert_int_equal(possible_with("xterm", false), 0);
	assert_int_equal(possible_with("dumb", true), 0);
	assert_int_equal(possible_with("", true), 0);
	assert_int_equal(possible_with(NULL, true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_that_is_over_is_only_a_look),
		cmocka_unit_test(only_terminals_that_understand_get_pages),
		cmocka_unit_test(a_page_is_shown_until_a_key_quits),
		cmocka_unit_test(a_small_terminal_has_the_first_lines),
		cmocka_unit_test(another_size_draws_the_page_anew),
		cmocka_unit_test(a_signal_ends_it_behind_the_page),
		cmocka_unit_test(what_was_ignored_stays_ignored),
		cmocka_unit_test(a_stopped_one_gives_the_terminal_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

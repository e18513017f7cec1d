/*
 * log: the files to which our lines are written as standard error, and the escaping of foreign
 * text.
 */

#include "tests/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/log.h"

/*
 * Whether a log line is visible with these files as standard output and standard error.  Restores
 * both.
 */
static bool is_heard(int output, int error)
{
	int outputs = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);
	bool heard;

	fflush(stdout);
	gp_log_remember_stderr();
	dup2(output, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	heard = gp_log_is_visible();
	dup2(outputs, STDOUT_FILENO);
	dup2(errors, STDERR_FILENO);
	close(outputs);
	close(errors);
	return heard;
}

static int open_again(int fd, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | flags);
	assert_true(fd >= 0);
	return fd;
}

static void the_original_stderr_is_visible(void **state)
{
	assert_true(is_heard(open("/dev/null", O_WRONLY), STDERR_FILENO));
}

static void a_file_is_a_log_where_it_is_appended_to_and_standard_output_goes_there(void **state)
{
	int file = memfd_create("log", 0);
	int output = open_again(file, O_APPEND), error = open_again(file, O_APPEND);

	assert_true(is_heard(output, error));
	assert_false(is_heard(STDOUT_FILENO, error));
	assert_false(is_heard(output, open_again(file, 0)));
	assert_false(is_heard(file, open_again(file, 0)));
	assert_false(is_heard(output, open_again(memfd_create("other", 0), O_APPEND)));
}

static void a_pipe_is_a_log_if_standard_output_uses_it(void **state)
{
	int ends[2], others[2];

	assert_int_equal(pipe(ends) | pipe(others), 0);
	assert_true(is_heard(ends[1], ends[1]));
	assert_false(is_heard(ends[1], others[1]));
}

/* Files into which a line must not be written. */
static void neither_terminals_nor_events_are_logs(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(master >= 0);
	assert_false(is_heard(master, master));
	assert_false(is_heard(eventfd(0, 0), eventfd(0, 0)));
}

/* A log line, read from a pipe. */
static const char *said(const char *path)
{
	static char line[16384];
	int errors = dup(STDERR_FILENO), ends[2];
	ssize_t bytes;

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	gp_log_remember_stderr();
	gp_log("%s cannot be written", path);
	dup2(errors, STDERR_FILENO);
	bytes = read(ends[0], line, sizeof(line) - 1);
	assert_true(bytes > 0);
	line[bytes] = '\0';
	close(ends[0]);
	close(ends[1]);
	close(errors);
	return line;
}

static void a_terminal_is_given_no_commands(void **state)
{
	assert_string_equal(said("\x1b[2J\n\xff\xe2\x80\xae\xc3\xa9"),
			    "gpuprof: \\x1b[2J\\n\\xff\\u{202e}\xc3\xa9 cannot be written\n");
}

static void a_line_that_is_too_long_is_cut_between_characters(void **state)
{
	static char path[15001];
	const char *line;

	for (size_t i = 0; i < 5000; i++)
		memcpy(path + 3 * i, "\xe2\x82\xac", 4);
	line = said(path);
	assert_in_range(strlen(line), 12280, 12288);
	assert_string_equal(line + strlen(line) - 7, "\xe2\x82\xac...\n");
	memset(path, '\033', sizeof(path) - 1);
	line = said(path);
	assert_string_equal(line + strlen(line) - 8, "\\x1b...\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_is_given_no_commands),
		cmocka_unit_test(a_line_that_is_too_long_is_cut_between_characters),
		cmocka_unit_test(the_original_stderr_is_visible),
		cmocka_unit_test(
			a_file_is_a_log_where_it_is_appended_to_and_standard_output_goes_there),
		cmocka_unit_test(a_pipe_is_a_log_if_standard_output_uses_it),
		cmocka_unit_test(neither_terminals_nor_events_are_logs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

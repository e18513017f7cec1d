/* streams: what is printed into a pipe that somebody made non-blocking. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/streams.h"

#define BYTES 1000000 /* more than a pipe holds */

/* As the program `gpuprof`, beside others that have the same pipe: what they see of it stays. */
static void write_all(int writing)
{
	static const char thousand[1000];
	int thousands = 0;

	dup2(writing, STDOUT_FILENO);
	gp_streams_wait();
	while (thousands < BYTES / 1000 && write(STDOUT_FILENO, thousand, 1000) == 1000)
		thousands++;
	_exit(thousands == BYTES / 1000 && (fcntl(writing, F_GETFL) & O_NONBLOCK) ? 0 : 1);
}

static void what_is_written_waits_for_the_reader(void **state)
{
	char bytes[512];
	int ends[2], status;
	ssize_t length;
	size_t all = 0;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	child = fork();
	if (child == 0)
		write_all(ends[1]);
	close(ends[1]);
	while ((length = read(ends[0], bytes, sizeof(bytes))) > 0)
		all += (size_t)length;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(all, BYTES);
}

/* It ends: nobody ever reads that pipe. */
static void a_pipe_without_a_reader_stays_as_it_is(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	gp_streams_wait();
	assert_true((fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK) != 0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_waits_for_the_reader),
		cmocka_unit_test(a_pipe_without_a_reader_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

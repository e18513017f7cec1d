/* streams: what is printed into a pipe or a file that somebody made non-blocking. */

#include "tests/unit.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/streams.h"
#include "tests/lib/temporary.h"

#define BYTES 1000000 /* more than a pipe holds */

/* As the program `gpuprof`, beside others that have the same pipe: what they see of it stays. */
static void write_all(int writing, int stream)
{
	static const char thousand[1000];
	int thousands = 0;

	dup2(writing, stream);
	gp_streams_wait();
	while (thousands < BYTES / 1000 &&
	       fwrite(thousand, 1000, 1, stream == STDOUT_FILENO ? stdout : stderr) == 1)
		thousands++;
	if (fflush(stdout) != 0)
		_exit(2);
	_exit(thousands == BYTES / 1000 && (fcntl(writing, F_GETFL) & O_NONBLOCK) ? 0 : 1);
}

static void check_that_it_waits(int ends[2], int stream)
{
	char bytes[512];
	int status;
	ssize_t length;
	size_t all = 0;
	pid_t child;

	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	child = fork();
	if (child == 0)
		write_all(ends[1], stream);
	close(ends[1]);
	while ((length = read(ends[0], bytes, sizeof(bytes))) > 0)
		all += (size_t)length;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(all, BYTES);
}

static void what_is_written_waits_for_the_reader(void **state)
{
	int ends[2];

	for (int stream = STDOUT_FILENO; stream <= STDERR_FILENO; stream++) {
		assert_int_equal(pipe(ends), 0);
		check_that_it_waits(ends, stream);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		check_that_it_waits(ends, stream);
	}
}

/* It ends: nobody ever reads that pipe, which has a name, for which the kernel would wait. */
static void a_pipe_without_a_reader_stays_as_it_is(void **state)
{
	char folder[] = "/tmp/gpuprof-streams-XXXXXX", path[64];
	int reading, writing, flags, saved = dup(STDERR_FILENO);

	assert_non_null(temporary_folder(folder));
	snprintf(path, sizeof(path), "%s/pipe", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	reading = open(path, O_RDONLY | O_NONBLOCK);
	writing = open(path, O_WRONLY | O_NONBLOCK);
	assert_true(reading >= 0 && writing >= 0);
	close(reading);
	dup2(writing, STDERR_FILENO);
	gp_streams_wait();
	flags = fcntl(STDERR_FILENO, F_GETFL);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(writing);
	unlink(path);
	rmdir(folder);
	assert_true((flags & O_NONBLOCK) != 0);
}

/* Nobody is waited for there; opened again, it would be written from its beginning. */
static void a_file_is_written_where_it_ends(void **state)
{
	char path[] = "/tmp/gpuprof-streams-XXXXXX", bytes[32] = "";
	int file = temporary_file(path), saved = dup(STDERR_FILENO);

	unlink(path);
	assert_int_equal(write(file, "the program's, ", 15), 15);
	assert_int_equal(fcntl(file, F_SETFL, O_NONBLOCK), 0);
	dup2(file, STDERR_FILENO);
	gp_streams_wait();
	assert_int_equal(write(STDERR_FILENO, "ours", 4), 4);
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(pread(file, bytes, sizeof(bytes) - 1, 0), 19);
	assert_string_equal(bytes, "the program's, ours");
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_waits_for_the_reader),
		cmocka_unit_test(a_pipe_without_a_reader_stays_as_it_is),
		cmocka_unit_test(a_file_is_written_where_it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

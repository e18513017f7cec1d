#include "report/base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/io.h"

void gp_streams_keep_free(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Only for these can a second open file description be made. A regular file never blocks, and
 * opened again it would be written from its beginning. The master side of a terminal opened again
 * is another terminal.
 */
static bool is_pipe_or_terminal(int stream)
{
	struct stat status;
	int number;

	if (isatty(stream))
		return ioctl(stream, TIOCGPTN, &number) != 0;
	return fstat(stream, &status) == 0 && S_ISFIFO(status.st_mode);
}

/*
 * Opens the same pipe or terminal with flags of its own. Returns -1 on failure. O_NONBLOCK: the
 * open does not wait for a reader of the pipe.
 */
static int open_again(int stream, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", stream);
	return open(path, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static ssize_t write_waiting(void *stream, const char *bytes, size_t count)
{
	int error = gp_write_all((int)(intptr_t)stream, bytes, count);

	errno = -error;
	return error == 0 ? (ssize_t)count : 0;
}

/* A socket cannot be opened again: each write waits until the socket takes bytes. */
static void print_waiting(FILE **file, int stream)
{
	const cookie_io_functions_t functions = {.write = write_waiting};
	FILE *waiting = fopencookie((void *)(intptr_t)stream, "w", functions);

	if (!waiting)
		return;
	if (stream == STDERR_FILENO)
		setvbuf(waiting, NULL, _IONBF, 0);
	fflush(*file);
	*file = waiting;
}

static bool is_socket(int stream)
{
	struct stat status;

	return fstat(stream, &status) == 0 && S_ISSOCK(status.st_mode);
}

static void let_wait(FILE **file, int stream)
{
	int flags = fcntl(stream, F_GETFL);
	int fd;

	if (flags < 0 || !(flags & O_NONBLOCK))
		return;
	if (is_socket(stream))
		print_waiting(file, stream);
	if (!is_pipe_or_terminal(stream))
		return;
	fd = open_again(stream, flags);
	if (fd < 0)
		return;
	if (fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
		dup2(fd, stream);
	close(fd);
}

void gp_streams_wait(void)
{
	let_wait(&stdout, STDOUT_FILENO);
	let_wait(&stderr, STDERR_FILENO);
}

#include "report/streams.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

void gp_streams_keep_free(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Not a file, which never makes anybody wait, and opened again would be written from its beginning; nor the master's side of a
 * terminal, which opened again is another terminal. */
static bool is_pipe_or_terminal(int stream)
{
	struct stat status;
	int number;

	if (isatty(stream))
		return ioctl(stream, TIOCGPTN, &number) != 0;
	return fstat(stream, &status) == 0 && S_ISFIFO(status.st_mode);
}

/* The same pipe or terminal, opened for us alone.  -1: it cannot be; and a pipe that nobody reads is not waited for. */
static int open_again(int stream, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", stream);
	return open(path, (flags & (O_ACCMODE | O_APPEND)) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void let_wait(int stream)
{
	int flags = fcntl(stream, F_GETFL);
	int fd;

	if (flags < 0 || !(flags & O_NONBLOCK) || !is_pipe_or_terminal(stream))
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
	let_wait(STDOUT_FILENO);
	let_wait(STDERR_FILENO);
}

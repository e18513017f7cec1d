#include "report/base/io.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

/* Whether to repeat the write that set errno. Waits until the descriptor takes bytes. */
static bool goes_on(int fd)
{
	struct pollfd room = {.fd = fd, .events = POLLOUT};

	if (errno == EINTR)
		return true;
	if (errno != EAGAIN)
		return false;
	return poll(&room, 1, -1) >= 0 || errno == EINTR;
}

int gp_write_all(int fd, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t written = write(fd, (const char *)from + done, bytes - done);

		if (written < 0 && !goes_on(fd))
			return -errno;
		if (written > 0)
			done += (size_t)written;
	}
	return 0;
}

#include "report/write_all.h"

#include <errno.h>
#include <sys/types.h>
#include <unistd.h>

int gp_write_all(int fd, const void *from, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t written = write(fd, (const char *)from + done, bytes - done);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written > 0)
			done += (size_t)written;
	}
	return 0;
}

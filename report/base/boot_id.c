#include "report/base/boot_id.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool gp_boot_id(char id[GP_BOOT_ID_TEXT_BYTES])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, id, GP_BOOT_ID_TEXT_BYTES - 1);

	if (fd >= 0)
		close(fd);
	id[got > 0 ? got : 0] = '\0';
	id[strcspn(id, "\n")] = '\0';
	return got > 0;
}

#include "report/base/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gp_named_file_open(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

bool gp_named_file_is_of_kernel(const char *path)
{
	static const char *const folders[] = {"proc", "dev", "sys"};
	const char *first = "";
	size_t depth = 0, bytes;

	for (; *path; path += bytes) {
		path += strspn(path, "/");
		bytes = strcspn(path, "/");
		if (bytes == 0 || (bytes == 1 && *path == '.'))
			continue;
		if (bytes == 2 && strncmp(path, "..", 2) == 0)
			depth -= depth > 0;
		else if (depth++ == 0)
			first = path;
	}
	for (size_t i = 0; depth > 0 && i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(first, folders[i], strlen(folders[i])) == 0 &&
		    strchr("/", first[strlen(folders[i])]))
			return true;
	return false;
}

#include "report/base/named_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int gp_named_file_open(const char *path, int flags)
{
	int place = open(path, O_PATH | O_CLOEXEC | flags), fd = -EINVAL;
	struct stat status;
	char name[32];

	if (place < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	if (fstat(place, &status) == 0 && S_ISREG(status.st_mode)) {
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			fd = -errno;
	}
	close(place);
	return fd;
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

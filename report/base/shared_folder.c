#include "report/base/shared_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as the kernel follows */

bool gp_owner_is_trusted(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/* Length of the folder part of a path, with its slash. */
static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The owner of a folder may place names there like anybody whom its mode lets. */
static bool is_shared(const char *path)
{
	char folder[PATH_MAX];
	struct stat status;
	size_t bytes = folder_bytes(path);

	snprintf(folder, sizeof(folder), "%.*s", bytes ? (int)bytes : 1, bytes ? path : ".");
	return stat(folder, &status) != 0 || !gp_owner_is_trusted(status.st_uid) ||
	       (status.st_mode & (S_IWGRP | S_IWOTH));
}

/* Replaces a path by the target of the link there. */
static int follow(int link, char path[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(link, "", target, sizeof(target));
	size_t folder;

	if (length < 0)
		return -errno;
	folder = length > 0 && target[0] == '/' ? 0 : folder_bytes(path);
	if (folder + (size_t)length >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(path + folder, target, (size_t)length);
	path[folder + (size_t)length] = '\0';
	return 0;
}

/* /proc/self/fd/1, which /dev/stdout leads to: the target is no name. */
static bool is_descriptor(int link)
{
	struct statfs system;

	return fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* Opens the file that was examined; it may have been replaced since. */
static int open_same(const char *path, const struct stat *examined, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (flags & ~O_TRUNC));
	struct stat status;
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) != 0 || status.st_dev != examined->st_dev ||
	    status.st_ino != examined->st_ino)
		error = -EPERM;
	else if ((flags & O_TRUNC) && S_ISREG(status.st_mode) && ftruncate(fd, 0) != 0)
		error = -errno;
	if (!error)
		return fd;
	close(fd);
	return error;
}

/*
 * Opens an existing name, or replaces path by the target of a link there. Returns a descriptor,
 * -ELOOP for a link, or another negative errno value. place: the name itself.
 */
static int open_named(int place, char path[PATH_MAX], int flags)
{
	struct stat status;
	int fd;

	if (fstat(place, &status) != 0)
		return -errno;
	if (!S_ISLNK(status.st_mode))
		return !gp_owner_is_trusted(status.st_uid) && is_shared(path)
			       ? -EPERM
			       : open_same(path, &status, flags);
	if (!gp_owner_is_trusted(status.st_uid))
		return -EPERM;
	if (!is_descriptor(place)) {
		int error = follow(place, path);

		return error ? error : -ELOOP;
	}
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

static int open_here(char path[PATH_MAX], int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (flags & ~O_TRUNC), 0600);
	int place, result;

	if (fd >= 0 || errno != EEXIST)
		return fd >= 0 ? fd : -errno;
	place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0)
		return -errno;
	result = open_named(place, path, flags);
	close(place);
	return result;
}

int gp_shared_folder_open(const char *name, int flags)
{
	char path[PATH_MAX];
	int result = -ELOOP;

	if (snprintf(path, sizeof(path), "%s", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	for (int i = 0; i < MOST_LINKS && result == -ELOOP; i++)
		result = open_here(path, flags);
	return result;
}

const char *gp_shared_folder_error(int error)
{
	return error == -EPERM ? "another user's file has that name" : strerror(-error);
}

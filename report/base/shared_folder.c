#include "report/base/shared_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stats the folder of a path. Returns false if that fails. */
static bool look_at_folder(const char *path, struct stat *status)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	if (!slash)
		return stat(".", status) == 0;
	if (snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path) + 1, path) >=
	    (int)sizeof(folder))
		return false;
	return stat(folder, status) == 0;
}

static bool is_shared(const struct stat *folder)
{
	return (folder->st_mode & S_IWOTH) ||
	       ((folder->st_mode & S_ISVTX) && (folder->st_mode & S_IWGRP));
}

/*
 * Files of the folder's owner are accepted: the owner can change everything in the folder anyway.
 */
static bool is_planted(const struct stat *status, const char *path)
{
	struct stat folder;

	return look_at_folder(path, &folder) && is_shared(&folder) && status->st_uid != geteuid() &&
	       status->st_uid != folder.st_uid;
}

static bool is_link(const char *path, struct stat *status)
{
	return lstat(path, status) == 0 && S_ISLNK(status->st_mode);
}

/* Only an open file is certain to be the one that is checked. */
static int check_opened(int fd, const char *path, bool was_link, int flags)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	if (!was_link && is_planted(&status, path))
		return -EPERM;
	if ((flags & O_TRUNC) && S_ISREG(status.st_mode) && ftruncate(fd, 0) != 0)
		return -errno;
	return 0;
}

/*
 * Others cannot replace a link of ours in a folder with the sticky bit, so it may be checked
 * before.
 */
int gp_shared_folder_open(const char *path, int flags)
{
	struct stat status;
	bool was_link = is_link(path, &status);
	int fd, error;

	if (was_link && is_planted(&status, path))
		return -EPERM;
	fd = open(path,
		  O_WRONLY | O_CREAT | O_CLOEXEC | (flags & ~O_TRUNC) | (was_link ? 0 : O_NOFOLLOW),
		  0600);
	if (fd < 0)
		return -errno;
	error = check_opened(fd, path, was_link, flags);
	if (!error)
		return fd;
	close(fd);
	return error;
}

const char *gp_shared_folder_error(int error)
{
	return error == -EPERM ? "another user's file has that name" : strerror(-error);
}

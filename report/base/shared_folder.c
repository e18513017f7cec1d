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

/* ---- the folder ---- */

/* A walk along a path, part by part. */
struct walk {
	int links;  /* followed so far */
	char *link; /* the path of the refused link; "" = none */
};

static int enter(int from, const char *path, struct walk *walk);

/* from: the folder of the link. */
static int enter_target(int from, int link, struct walk *walk)
{
	char target[PATH_MAX];
	struct stat of_link, of_target;
	ssize_t length;
	int folder;

	if (fstat(link, &of_link) != 0)
		return -errno;
	if (!S_ISLNK(of_link.st_mode))
		return -ENOTDIR;
	length = readlinkat(link, "", target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	if (++walk->links > MOST_LINKS)
		return -ELOOP;
	target[length] = '\0';
	folder = enter(from, target, walk);
	if (folder < 0 || gp_owner_is_trusted(of_link.st_uid))
		return folder;
	if (fstat(folder, &of_target) == 0 && of_target.st_uid == of_link.st_uid)
		return folder;
	close(folder);
	return -EPERM;
}

static void name_link(const struct walk *walk, int folder, const char *name)
{
	char descriptor[32];
	ssize_t length;

	snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", folder);
	length = readlink(descriptor, walk->link, PATH_MAX - 1);
	length = length < 0 ? 0 : length;
	snprintf(walk->link + length, PATH_MAX - (size_t)length, "/%s", name);
}

/* O_DIRECTORY also mounts what an automounter provides. */
static int enter_part(int from, const char *name, struct walk *walk)
{
	int folder = openat(from, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int link;

	if (folder >= 0 || errno != ENOTDIR)
		return folder >= 0 ? folder : -errno;
	link = openat(from, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (link < 0)
		return -errno;
	folder = enter_target(from, link, walk);
	close(link);
	if (folder == -EPERM && walk->link[0] == '\0')
		name_link(walk, from, name);
	return folder;
}

static int enter(int from, const char *path, struct walk *walk)
{
	int folder = openat(from, path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];

	if (folder < 0)
		return -errno;
	while (folder >= 0 && *(path += strspn(path, "/"))) {
		size_t bytes = strcspn(path, "/");
		int parent = folder;

		snprintf(name, sizeof(name), "%.*s", (int)bytes, path);
		folder = bytes < sizeof(name) ? enter_part(parent, name, walk) : -ENAMETOOLONG;
		close(parent);
		path += bytes;
	}
	return folder;
}

int gp_shared_folder_enter(const char *folder, char link[PATH_MAX])
{
	struct walk walk = {.link = link};

	link[0] = '\0';
	return enter(AT_FDCWD, folder, &walk);
}

/* ---- the file ---- */

/* The owner of a folder may place names there like anybody whom its mode lets. */
static bool is_shared(int folder)
{
	struct stat status;

	return fstat(folder, &status) != 0 || !gp_owner_is_trusted(status.st_uid) ||
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
static int open_same(int folder, const char *name, const struct stat *examined, int flags)
{
	int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | (flags & ~O_TRUNC));
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
static int open_named(int folder, int place, char path[PATH_MAX], int flags)
{
	const char *name = path + folder_bytes(path);
	struct stat status;
	int fd;

	if (fstat(place, &status) != 0)
		return -errno;
	if (!S_ISLNK(status.st_mode))
		return !gp_owner_is_trusted(status.st_uid) && is_shared(folder)
			       ? -EPERM
			       : open_same(folder, name, &status, flags);
	if (!gp_owner_is_trusted(status.st_uid))
		return -EPERM;
	if (!is_descriptor(place)) {
		int error = follow(place, path);

		return error ? error : -ELOOP;
	}
	fd = openat(folder, name, O_WRONLY | O_CLOEXEC | flags);
	return fd < 0 ? -errno : fd;
}

static int open_in(int folder, char path[PATH_MAX], int flags)
{
	const char *name = path + folder_bytes(path);
	int fd = openat(folder, name[0] ? name : ".",
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (flags & ~O_TRUNC), 0600);
	int place, result;

	if (fd >= 0 || errno != EEXIST)
		return fd >= 0 ? fd : -errno;
	place = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0)
		return -errno;
	result = open_named(folder, place, path, flags);
	close(place);
	return result;
}

/* The folder of a path. */
static int enter_folder_of(const char *path, char link[PATH_MAX])
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", (int)folder_bytes(path), path);
	return gp_shared_folder_enter(folder, link);
}

static int open_here(char path[PATH_MAX], int flags)
{
	char link[PATH_MAX];
	int folder = enter_folder_of(path, link), result;

	if (folder < 0)
		return folder;
	result = open_in(folder, path, flags);
	close(folder);
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

const char *gp_shared_folder_error(int error, const char *path, char text[GP_SHARED_FOLDER_TEXT])
{
	char link[PATH_MAX];
	int folder;

	if (error != -EPERM)
		return strerror(-error);
	folder = enter_folder_of(path, link);
	if (folder >= 0)
		close(folder);
	if (folder != -EPERM || link[0] == '\0')
		return "another user's file has that name";
	snprintf(text, GP_SHARED_FOLDER_TEXT,
		 "%s is another user's link to a folder that is not owned by that user", link);
	return text;
}

#include "report/finish/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/option.h"
#include "report/base/boot_id.h"

#define PREFIX     "gpuprof-run-"
#define MARK_BYTES 9 /* of this boot */
#define LOCK_TRIES 10

/* One announced trace: a link named PID-STARTTIME. */
struct announced {
	unsigned long pid;
	unsigned long long start_time;
	int zeros; /* their number grows with each exec */
	char *trace;
};

static int open_folder(int place, const char *path)
{
	return openat(place, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/*
 * A session holds only links. Other files belong to somebody else, or the folder is another folder
 * of this user that somebody has renamed.
 */
static void remove_links(int folder)
{
	DIR *listing = fdopendir(dup(folder));
	const struct dirent *entry;
	struct stat status;

	while (listing && (entry = readdir(listing)) != NULL)
		if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISLNK(status.st_mode))
			unlinkat(folder, entry->d_name, 0);
	if (listing)
		closedir(listing);
}

/* Removes a folder of this user that nobody has locked. */
static void remove_abandoned(int place, const char *name)
{
	int folder = open_folder(place, name);
	struct stat status;

	if (folder < 0)
		return;
	if (fstat(folder, &status) == 0 && status.st_uid == geteuid() &&
	    flock(folder, LOCK_EX | LOCK_NB) == 0) {
		remove_links(folder);
		unlinkat(place, name, AT_REMOVEDIR);
	}
	close(folder);
}

/*
 * The beginning of this boot's id, which is in the folder's name: on a file system of several hosts a
 * lock may be seen by its own host alone.
 */
static void mark_of_boot(char mark[MARK_BYTES])
{
	char id[GP_BOOT_ID_TEXT_BYTES];

	snprintf(mark, MARK_BYTES, "%.*s", MARK_BYTES - 1, gp_boot_id(id) ? id : "unknown");
}

static void remove_all_abandoned(const char *place)
{
	DIR *listing = opendir(place);
	const struct dirent *entry;
	char prefix[sizeof(PREFIX) + MARK_BYTES] = PREFIX;

	mark_of_boot(prefix + strlen(PREFIX));
	while (listing && (entry = readdir(listing)) != NULL)
		if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
			remove_abandoned(dirfd(listing), entry->d_name);
	if (listing)
		closedir(listing);
}

/* Returns false if another launcher removed the folder as abandoned before it was locked. */
static bool lock_folder(struct gp_session *session)
{
	session->lock = open_folder(AT_FDCWD, session->path);
	if (session->lock < 0)
		return errno != ENOENT;
	/* fails on a file system without locks, where no launcher removes folders */
	(void)flock(session->lock, LOCK_EX);
	if (access(session->path, F_OK) == 0)
		return true;
	close(session->lock);
	return false;
}

static int make_folder(struct gp_session *session, const char *place)
{
	char mark[MARK_BYTES];

	if (place[0] != '/' || strpbrk(place, " :"))
		return -ENOENT;
	mark_of_boot(mark);
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (snprintf(session->path, sizeof(session->path), "%s/" PREFIX "%s-XXXXXX", place,
			     mark) >= (int)sizeof(session->path))
			return -ENAMETOOLONG;
		if (!mkdtemp(session->path))
			return -errno;
		if (lock_folder(session))
			return 0;
	}
	return -EAGAIN;
}

int gp_session_open(struct gp_session *session)
{
	const char *places[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp", "/dev/shm"};
	int error = -ENOENT;

	for (size_t i = 0; error && i < sizeof(places) / sizeof(*places); i++) {
		if (!places[i])
			continue;
		error = make_folder(session, places[i]);
		if (!error)
			remove_all_abandoned(places[i]);
	}
	if (error)
		session->path[0] = 0;
	return error;
}

int gp_session_link(const struct gp_session *session, const char *name, const char *target,
		    char *link, size_t link_bytes)
{
	if (snprintf(link, link_bytes, "%s/%s", session->path, name) >= (int)link_bytes)
		return -ENAMETOOLONG;
	return symlink(target, link) < 0 ? -errno : 0;
}

void gp_session_tell_outer(const char *what)
{
	const char *outer = getenv(GP_SESSION_VARIABLE);
	char link[PATH_MAX];

	if (outer && outer[0] == '/' &&
	    snprintf(link, sizeof(link), "%s/%s", outer, what) < (int)sizeof(link))
		(void)!symlink(what, link);
}

bool gp_session_was_told(const struct gp_session *session, const char *what)
{
	char link[PATH_MAX], target[2];

	return snprintf(link, sizeof(link), "%s/%s", session->path, what) < (int)sizeof(link) &&
	       readlink(link, target, sizeof(target)) >= 0;
}

/* Returns false if the entry announces no trace. */
static bool read_announced(int folder, const char *name, struct announced *announced)
{
	char target[PATH_MAX];
	int end = 0;
	ssize_t length;

	if (sscanf(name, "%lu-%llu%n", &announced->pid, &announced->start_time, &end) != 2 ||
	    name[end])
		return false;
	length = readlinkat(folder, name, target, sizeof(target));
	if (length <= 0 || length == sizeof(target))
		return false;
	announced->zeros = (int)strspn(strchr(name, '-') + 1, "0");
	announced->trace = strndup(target, (size_t)length);
	return announced->trace != NULL;
}

static int compare_announced(const void *left, const void *right)
{
	const struct announced *a = left, *b = right;

	if (a->start_time != b->start_time)
		return a->start_time < b->start_time ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->zeros - b->zeros;
}

/* Collects the announced traces of the folder. */
static void read_folder(DIR *folder, struct announced **all, size_t *count)
{
	struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		struct announced one;
		struct announced *grown;

		if (!read_announced(dirfd(folder), entry->d_name, &one))
			continue;
		grown = reallocarray(*all, *count + 1, sizeof(**all));
		*all = grown;
		grown[(*count)++] = one;
	}
}

/* Sorts the traces, and returns only their paths. */
static void to_traces(struct announced *all, size_t count, char ***traces)
{
	if (count)
		qsort(all, count, sizeof(*all), compare_announced);
	*traces = calloc(count + 1, sizeof(**traces));
	for (size_t i = 0; i < count; i++)
		(*traces)[i] = all[i].trace;
}

int gp_session_traces(const struct gp_session *session, char ***traces, size_t *count)
{
	struct announced *all = NULL;
	DIR *folder = opendir(session->path);

	*traces = NULL;
	*count = 0;
	if (!folder)
		return -errno;
	read_folder(folder, &all, count);
	closedir(folder);
	to_traces(all, *count, traces);
	for (size_t i = 0; 0 && i < *count; i++)
		free(all[i].trace);
	free(all);
	return 0;
}

void gp_session_free_traces(char **traces, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(traces[i]);
	free(traces);
}

void gp_session_close(struct gp_session *session)
{
	if (!session->path[0])
		return;
	if (session->lock >= 0) {
		remove_links(session->lock);
		rmdir(session->path);
		close(session->lock);
	}
	session->path[0] = 0;
}

/*
 * temporary: folders and files of a test, which are removed at the end of its program, also if the
 * test fails before it removes them itself.
 *
 * 	char folder[] = "/tmp/gpuprof-test-XXXXXX";
 *
 * 	assert_non_null(temporary_folder(folder));
 */
#ifndef TESTS_LIB_TEMPORARY_H
#define TESTS_LIB_TEMPORARY_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEMPORARY_MOST 256

/* Without malloc(): some tests count allocations. */
static struct {
	char paths[TEMPORARY_MOST][128];
	pid_t pid; /* not of a forked child */
} temporary;

static inline int remove_one(const char *path, const struct stat *about, int flag,
			     struct FTW *place)
{
	(void)about;
	(void)flag;
	(void)place;
	(void)remove(path);
	return 0;
}

static inline void remove_temporary(void)
{
	if (temporary.pid != getpid())
		return;
	for (size_t i = 0; i < TEMPORARY_MOST; i++)
		if (temporary.paths[i][0])
			(void)nftw(temporary.paths[i], remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Takes the place of one that is gone. */
static inline void note_temporary(const char *path)
{
	size_t i = 0;

	if (temporary.pid == 0) {
		temporary.pid = getpid();
		atexit(remove_temporary);
	}
	while (i < TEMPORARY_MOST && temporary.paths[i][0] && access(temporary.paths[i], F_OK) == 0)
		i++;
	if (i < TEMPORARY_MOST)
		snprintf(temporary.paths[i], sizeof(temporary.paths[i]), "%s", path);
}

/* As mkdtemp(). */
static inline char *temporary_folder(char *path)
{
	if (!mkdtemp(path))
		return NULL;
	note_temporary(path);
	return path;
}

/* As mkstemp(). */
static inline int temporary_file(char *path)
{
	int fd = mkstemp(path);

	if (fd >= 0)
		note_temporary(path);
	return fd;
}

#endif

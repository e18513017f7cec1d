/*
 * case_folder: a folder for a test case, and a check that ends the process; for tests that use only
 * libc.
 */
#ifndef TESTS_LIB_CASE_FOLDER_H
#define TESTS_LIB_CASE_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static inline const char *new_folder(void)
{
	static char name[64];

	strcpy(name, "/tmp/gpuprof-test-XXXXXX");
	CHECK(mkdtemp(name) != NULL);
	return name;
}

static inline int remove_entry(const char *path, const struct stat *status, int type,
			       struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static inline void remove_folder(const char *name)
{
	nftw(name, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The folder of the current case; set by the caller of the case. */
static const char *case_folder __attribute__((unused));

/* A path in the folder, valid for three more calls. */
static inline const char *in_folder(const char *name)
{
	static char paths[4][256];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, 256, "%s/%s", case_folder, name);
	return path;
}

#endif

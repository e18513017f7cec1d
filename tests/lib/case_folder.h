/*
 * case_folder: a folder for a test case, and a check that ends the process; for tests that use only
 * libc.
 */
#ifndef TESTS_LIB_CASE_FOLDER_H
#define TESTS_LIB_CASE_FOLDER_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/temporary.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);            \
			remove_temporary();                                                        \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static inline const char *new_folder(void)
{
	static char name[64];

	strcpy(name, "/tmp/gpuprof-test-XXXXXX");
	CHECK(temporary_folder(name) != NULL);
	return name;
}

static inline void remove_folder(const char *name)
{
	nftw(name, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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

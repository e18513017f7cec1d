#include "hardware/cupti_places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The major version in "libcupti.so.13" or "libcupti.so.11.8"; 0 if the name has none, as that of
 * the link for developers.
 */
static uint32_t major_of(const char *file)
{
	const char *suffix = strstr(file, "libcupti.so.");
	long major = suffix != NULL ? strtol(suffix + strlen("libcupti.so."), NULL, 10) : 0;

	return major > 0 && major < 1000 ? (uint32_t)major
					 : 0; /* 2025.3.1: the version in the name of the file */
}

static int compare_newest_first(const void *left, const void *right)
{
	uint32_t a = major_of(*(char *const *)left), b = major_of(*(char *const *)right);

	return a != b ? (a < b ? 1 : -1) : -strcmp(*(char *const *)left, *(char *const *)right);
}

/* Try the matches of a pattern, the newest first, but none newer than the driver. */
static bool try_pattern(const char *folder, const char *pattern, uint32_t newest_major,
			gp_cupti_try *try, void *context)
{
	static char path[PATH_MAX]; /* static: the thread's stack may be small */
	glob_t matches;
	bool found = false;

	if (snprintf(path, sizeof(path), "%s/%s", folder, pattern) >= (int)sizeof(path) ||
	    glob(path, 0, NULL, &matches) != 0)
		return false;
	qsort(matches.gl_pathv, matches.gl_pathc, sizeof(char *), compare_newest_first);
	for (size_t i = 0; i < matches.gl_pathc && !found; i++) {
		uint32_t major = major_of(matches.gl_pathv[i]);

		if (major != 0 && (newest_major == 0 || major <= newest_major))
			found = try(context, matches.gl_pathv[i]);
	}
	globfree(&matches);
	return found;
}

bool gp_cupti_try_folder(const char *folder, const char *const *patterns, uint32_t newest_major,
			 gp_cupti_try *try, void *context)
{
	for (; folder != NULL && folder[0] != '\0' && *patterns != NULL; patterns++)
		if (try_pattern(folder, *patterns, newest_major, try, context))
			return true;
	return false;
}

static const char *const in_toolkit[] = {
	"extras/CUPTI/lib64/libcupti.so.*",
	"lib64/libcupti.so.*",
	"targets/*-linux/lib/libcupti.so.*",
	NULL,
};

static const char *const in_environment[] = {
	"lib/libcupti.so.*",
	"targets/*-linux/lib/libcupti.so.*",
	NULL,
};

static const char *const installed[] = {
	"local/cuda/extras/CUPTI/lib64/libcupti.so.*",
	"local/cuda/lib64/libcupti.so.*",
	"local/cuda-*/extras/CUPTI/lib64/libcupti.so.*",
	"local/cuda-*/targets/*-linux/lib/libcupti.so.*",
	"local/cuda-*/lib*/libcupti.so.*",
	"lib/*-linux-gnu/libcupti.so.*",
	"lib64/libcupti.so.*",
	NULL,
};

/* By bare name, through the loader's own search: LD_LIBRARY_PATH, ld.so.cache. */
static bool try_loader_path(uint32_t newest_major, gp_cupti_try *try, void *context)
{
	for (uint32_t major = newest_major != 0 ? newest_major : 13; major >= 12; major--) {
		char name[32];

		snprintf(name, sizeof(name), "libcupti.so.%u", major);
		if (try(context, name))
			return true;
	}
	return try(context, "libcupti.so.11.8");
}

bool gp_cupti_try_installed(uint32_t newest_major, gp_cupti_try *try, void *context)
{
	return try_loader_path(newest_major, try, context) ||
	       gp_cupti_try_folder(secure_getenv("CONDA_PREFIX"), in_environment, newest_major, try,
				   context) ||
	       gp_cupti_try_folder(secure_getenv("CUDA_HOME"), in_toolkit, newest_major, try,
				   context) ||
	       gp_cupti_try_folder(secure_getenv("CUDA_PATH"), in_toolkit, newest_major, try,
				   context) ||
	       gp_cupti_try_folder("/usr", installed, newest_major, try, context);
}

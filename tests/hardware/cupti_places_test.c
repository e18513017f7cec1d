/* The order in which copies of libcupti are tried, and which ones are left out. */
#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hardware/cupti_places.h"
#include "tests/lib/case_folder.h"

#define MOST 64

static struct {
	char files[MOST][512];
	uint32_t count;
} tried;

static bool note(void *unused, const char *file)
{
	(void)unused;
	if (tried.count < MOST)
		snprintf(tried.files[tried.count++], sizeof(tried.files[0]), "%s", file);
	return false;
}

/* Where a file was tried; MOST if it was not. */
static uint32_t place_of(const char *file)
{
	uint32_t i = 0;

	while (i < tried.count && strcmp(tried.files[i], file) != 0)
		i++;
	return i < tried.count ? i : MOST;
}

/* A copy in a folder of the case, whose path is returned. */
static const char *put(const char *folder, const char *name)
{
	static char paths[4][512];
	static uint32_t next;
	char *path = paths[next++ % 4];
	FILE *file;

	mkdir(in_folder(folder), 0700);
	snprintf(path, sizeof(paths[0]), "%s/lib64", in_folder(folder));
	mkdir(path, 0700);
	snprintf(path, sizeof(paths[0]), "%s/lib", in_folder(folder));
	mkdir(path, 0700);
	snprintf(path, sizeof(paths[0]), "%s/%s", in_folder(folder), name);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	return path;
}

static void an_environment_comes_before_toolkits(void **state)
{
	const char *newer, *fits, *older, *toolkit;

	case_folder = new_folder();
	newer = put("conda", "lib/libcupti.so.13");
	fits = put("conda", "lib/libcupti.so.12");
	older = put("conda", "lib/libcupti.so.11.8");
	toolkit = put("toolkit", "lib64/libcupti.so.12");
	setenv("CONDA_PREFIX", in_folder("conda"), 1);
	setenv("CUDA_HOME", in_folder("toolkit"), 1);
	unsetenv("CUDA_PATH");
	assert_false(gp_cupti_try_installed(12, note, NULL));
	assert_int_equal(place_of("libcupti.so.12"), 0); /* the loader's */
	assert_int_equal(place_of(newer), MOST);
	assert_true(place_of("libcupti.so.11.8") < place_of(fits));
	assert_int_equal(place_of(older), place_of(fits) + 1);
	assert_int_equal(place_of(toolkit), place_of(older) + 1);
	remove_folder(case_folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_environment_comes_before_toolkits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

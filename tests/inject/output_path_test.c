/* output_path: templates of file names. */

#include "tests/unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/output_path.h"
#include "tests/lib/temporary.h"

static char start[PATH_MAX];

static int remember(void **state)
{
	gp_output_path_remember();
	return getcwd(start, sizeof(start)) == NULL || chdir("/") != 0;
}

static void names_are_relative_to_the_initial_directory(void **state)
{
	char path[PATH_MAX], expected[PATH_MAX + 16];

	assert_int_equal(gp_output_path_expand("run", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "%s/run", start);
	assert_string_equal(path, expected);
}

static void sequences_are_expanded(void **state)
{
	char path[PATH_MAX], expected[64];

	setenv("GPUPROF_TEST_RANK", "7", 1);
	assert_int_equal(
		gp_output_path_expand("/d/%p-%q{GPUPROF_TEST_RANK}-%%", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "/d/%d-7-%%", (int)getpid());
	assert_string_equal(path, expected);
	assert_int_equal(gp_output_path_expand("/%q{GPUPROF_TEST_ABSENT}x", path, sizeof(path)), 0);
	assert_string_equal(path, "/x");
}

static void an_existing_folder_needs_no_slash(void **state)
{
	char path[PATH_MAX], expected[PATH_MAX + 64];

	assert_int_equal(gp_output_path_expand("/tmp", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "/tmp/gpuprof-output_path_test-%d", (int)getpid());
	assert_string_equal(path, expected);
	assert_int_equal(gp_output_path_expand(".", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "%s/gpuprof-output_path_test-%d", start,
		 (int)getpid());
	assert_string_equal(path, expected);
}

static void the_suffix_is_there_once(void **state)
{
	char path[PATH_MAX];

	assert_int_equal(gp_output_path_expand("/d/fixed.gpuprof", path, sizeof(path)), 0);
	assert_string_equal(path, "/d/fixed");
	assert_int_equal(gp_output_path_expand("/d/.gpuprof", path, sizeof(path)), 0);
	assert_string_equal(path, "/d/.gpuprof");
}

static void folders_of_sequences_are_made(void **state)
{
	char folder[] = "/tmp/gpuprof-output-XXXXXX", template[PATH_MAX], path[PATH_MAX],
	     made[PATH_MAX];

	assert_non_null(temporary_folder(folder));
	setenv("GPUPROF_TEST_NODE", "n%1", 1);
	snprintf(template, sizeof(template), "%s/a/%%%%/%%q{GPUPROF_TEST_NODE}/b/%%r", folder);
	assert_int_equal(gp_output_path_expand(template, path, sizeof(path)), 0);
	snprintf(made, sizeof(made), "%s/a", folder); /* names no sequence: it is the user's */
	gp_output_path_make_folders(template, path);
	assert_int_equal(access(made, F_OK), -1);
	snprintf(template, sizeof(template), "%s/%%q{GPUPROF_TEST_NODE}/b/%%r", folder);
	assert_int_equal(gp_output_path_expand(template, path, sizeof(path)), 0);
	gp_output_path_make_folders(template, path);
	snprintf(made, sizeof(made), "%s/n%%1/b", folder);
	assert_int_equal(rmdir(made), 0);
	*strrchr(made, '/') = '\0';
	assert_int_equal(rmdir(made), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void program_and_host_are_names_not_paths(void **state)
{
	char path[PATH_MAX];

	assert_int_equal(gp_output_path_expand("/%n", path, sizeof(path)), 0);
	assert_string_equal(path, "/output_path_test");
	assert_int_equal(gp_output_path_expand("/%h", path, sizeof(path)), 0);
	assert_true(strlen(path) > 1);
}

/* A variable must not send the file to another folder. */
static void values_cannot_hold_slashes(void **state)
{
	char path[PATH_MAX];

	setenv("GPUPROF_TEST_RANK", "../../etc/x", 1);
	assert_int_equal(gp_output_path_expand("/d/%q{GPUPROF_TEST_RANK}", path, sizeof(path)), 0);
	assert_string_equal(path, "/d/_._.._etc_x");
}

/* Shortened between characters, so that suffixes fit; the rest of the template stays. */
static void a_long_value_is_shortened(void **state)
{
	char path[PATH_MAX], value[251] = "x", expected[PATH_MAX];

	for (int i = 1; i < 249; i += 2)
		memcpy(value + i, "\xc3\xa9", 2);
	setenv("GPUPROF_TEST_LONG", value, 1);
	assert_int_equal(gp_output_path_expand("/d/%q{GPUPROF_TEST_LONG}-%p", path, sizeof(path)),
			 0);
	value[127] = '\0';
	snprintf(expected, sizeof(expected), "/d/%s-%d", value, (int)getpid());
	assert_string_equal(path, expected);
	memset(value, 'n', 200);
	value[200] = '\0';
	setenv("GPUPROF_TEST_LONG", value, 1);
	assert_int_equal(gp_output_path_expand("/d/%q{GPUPROF_TEST_LONG}", path, sizeof(path)), 0);
	assert_string_equal(path + strlen("/d/"), value);
}

static void a_folder_gets_the_default_name(void **state)
{
	char path[PATH_MAX], expected[64];

	snprintf(expected, sizeof(expected), "/d/gpuprof-output_path_test-%d", (int)getpid());
	assert_int_equal(gp_output_path_expand("/d/", path, sizeof(path)), 0);
	assert_string_equal(path, expected);
}

/* A later expansion then finds the same folder. */
static void a_template_can_be_made_absolute(void **state)
{
	static char place[] = "/tmp/100%-gpuprof-XXXXXX";
	char path[PATH_MAX], expected[64];

	assert_non_null(temporary_folder(place));
	assert_int_equal(chdir(place), 0);
	gp_output_path_remember();
	assert_int_equal(gp_output_path_absolute("a%p", path, sizeof(path)), 0);
	snprintf(expected, sizeof(expected), "/tmp/100%%%%%s/a%%p", strchr(place, '-'));
	assert_string_equal(path, expected);
	assert_int_equal(gp_output_path_absolute("/a%p", path, sizeof(path)), 0);
	assert_string_equal(path, "/a%p");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(place), 0);
}

static void bad_templates_are_refused(void **state)
{
	char path[PATH_MAX], tiny[8];

	assert_int_equal(gp_output_path_expand("a%z", path, sizeof(path)), -EINVAL);
	assert_int_equal(gp_output_path_expand("a%", path, sizeof(path)), -EINVAL);
	assert_int_equal(gp_output_path_expand("a%q{HOME", path, sizeof(path)), -EINVAL);
	assert_int_equal(gp_output_path_expand("a%qHOME}", path, sizeof(path)), -EINVAL);
	assert_int_equal(gp_output_path_expand("/far-too-long", tiny, sizeof(tiny)), -ENAMETOOLONG);
}

static void the_library_knows_its_own_file(void **state)
{
	const char *slash = strrchr(gp_output_path_library(), '/');

	assert_non_null(slash);
	/* here the library is part of the test program */
	assert_string_equal(slash, "/output_path_test");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_relative_to_the_initial_directory),
		cmocka_unit_test(sequences_are_expanded),
		cmocka_unit_test(an_existing_folder_needs_no_slash),
		cmocka_unit_test(the_suffix_is_there_once),
		cmocka_unit_test(folders_of_sequences_are_made),
		cmocka_unit_test(program_and_host_are_names_not_paths),
		cmocka_unit_test(values_cannot_hold_slashes),
		cmocka_unit_test(a_long_value_is_shortened),
		cmocka_unit_test(a_folder_gets_the_default_name),
		cmocka_unit_test(bad_templates_are_refused),
		cmocka_unit_test(the_library_knows_its_own_file),
		cmocka_unit_test(a_template_can_be_made_absolute),
	};

	return cmocka_run_group_tests(tests, remember, NULL);
}

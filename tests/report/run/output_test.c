#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "report/run/output.h"
#include "tests/lib/temporary.h"

static char folder[] = "/tmp/gpuprof-output-test-100%-XXXXXX";
static char name[GP_OUTPUT_BYTES], message[2 * GP_OUTPUT_BYTES];

static int enter_folder(void **state)
{
	return temporary_folder(folder) && !chdir(folder) ? 0 : -1;
}

static int leave_folder(void **state)
{
	return chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static void test_names_become_absolute(void **state)
{
	char expected[GP_OUTPUT_BYTES];

	snprintf(expected, sizeof(expected), "/tmp/gpuprof-output-test-100%%%%%s/report.txt",
		 strrchr(folder, '-'));
	assert_int_equal(gp_output_summary("report.txt", name, message, sizeof(message)), 0);
	assert_string_equal(name, expected);
	assert_int_equal(gp_output_summary("/tmp/%p.txt", name, message, sizeof(message)), 0);
	assert_string_equal(name, "/tmp/%p.txt");
}

static void test_a_percent_of_the_folder_stands_for_itself(void **state)
{
	const char *template = "/tmp/gpuprof-output-test-100%%-";

	assert_int_equal(gp_output_template("%h-%p", name, message, sizeof(message)), 0);
	assert_memory_equal(name, template, strlen(template));
	assert_string_equal(strrchr(name, '/'), "/%h-%p");
}

static void test_what_only_a_process_can_expand_is_not_checked(void **state)
{
	assert_int_equal(gp_output_template("%h/%p", name, message, sizeof(message)), 0);
	assert_int_equal(gp_output_template("/tmp/%q{X}/y/z", name, message, sizeof(message)), 0);
	assert_int_equal(gp_output_template("missing/%p", name, message, sizeof(message)), -ENOENT);
	assert_int_equal(gp_output_template("mis%%ing/%p", name, message, sizeof(message)),
			 -ENOENT);
	assert_non_null(strstr(message, "/mis%ing"));
}

static void test_a_folder_may_stand_for_the_default_name_in_it(void **state)
{
	assert_int_equal(gp_output_template("/tmp/", name, message, sizeof(message)), 0);
	assert_string_equal(name, "/tmp/");
	assert_int_equal(gp_output_template("missing/", name, message, sizeof(message)), -ENOENT);
	assert_non_null(strstr(message, "mkdir -p "));
}

static void test_bad_names_get_one_line(void **state)
{
	char endless[2 * GP_OUTPUT_BYTES];

	memset(endless, 'x', sizeof(endless));
	endless[sizeof(endless) - 1] = 0;
	assert_int_equal(gp_output_template("", name, message, sizeof(message)), -ENOENT);
	assert_int_equal(gp_output_summary("", name, message, sizeof(message)), -EISDIR);
	assert_int_equal(gp_output_summary("/tmp/", name, message, sizeof(message)), -EISDIR);
	assert_int_equal(gp_output_template("mis sing/x", name, message, sizeof(message)), -ENOENT);
	assert_non_null(strstr(message, "; type: mkdir -p '"));
	assert_non_null(strstr(message, "/mis sing'"));
	assert_int_equal(gp_output_template("/proc/none/a/%p", name, message, sizeof(message)),
			 -ENOENT);
	assert_string_equal(
		message,
		"cannot write traces to /proc/none/a: No such file or directory; name another folder with -o");
	assert_int_equal(gp_output_template("/proc/x", name, message, sizeof(message)), -EPERM);
	assert_string_equal(
		message,
		"cannot write traces to /proc: Operation not permitted; name another folder with -o");
	assert_int_equal(gp_output_template("/dev/null", name, message, sizeof(message)), -ENOTSUP);
	assert_string_equal(
		message,
		"cannot write /dev/null: it is a device, and traces are files (NAME.gpuprof); use another name");
	assert_int_equal(gp_output_summary("/dev/null", name, message, sizeof(message)), 0);
	assert_int_equal(gp_output_summary("/dev/null/x", name, message, sizeof(message)),
			 -ENOTDIR);
	assert_non_null(strstr(message, "/dev/null"));
	assert_non_null(strstr(message, "; name another folder with -s"));
	assert_null(strchr(message, '\n'));
	assert_int_equal(gp_output_template(endless, name, message, sizeof(message)),
			 -ENAMETOOLONG);
}

static void test_parts_that_nobody_can_expand_are_refused(void **state)
{
	static const char *const good[] = {"%p", "%%z", "%q{A}%h", "a%n"},
				 *const bad[] = {"%z", "a%", "%q", "%q{A", "%%%", "%pq%%%x"};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(gp_output_template(good[i], name, message, sizeof(message)), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(gp_output_template(bad[i], name, message, sizeof(message)),
				 -EINVAL);
	assert_non_null(strstr(message, "'%x'"));
}

static void test_a_pattern_finds_the_traces_of_a_template(void **state)
{
	static const char *const pairs[][2] = {
		{"/tmp/x-%p", "/tmp/x-*"
			      "*.gpuprof"},
		{"/tmp/%q{A}/%%y[1]*.gpuprof", "/tmp/*/%y\\[1]\\**.gpuprof"},
		{"/tmp/a.gpuprof.d/b", "/tmp/a.gpuprof.d/b*.gpuprof"},
		{"/tmp", "/tmp/*.gpuprof"},
		{"/none/", "/none//*.gpuprof"},
	};
	char pattern[GP_OUTPUT_PATTERN_BYTES];

	for (size_t i = 0; i < COUNT(pairs); i++) {
		gp_output_pattern(pairs[i][0], pattern);
		assert_string_equal(pattern, pairs[i][1]);
	}
}

static void test_an_unwritable_folder_is_found(void **state)
{
	if (geteuid() == 0)
		skip(); /* root can write everywhere */
	assert_int_equal(chmod(folder, 0500), 0);
	assert_int_equal(gp_output_template("x", name, message, sizeof(message)), -EACCES);
	assert_non_null(strstr(message, "; name another folder with -o"));
	assert_int_equal(chmod(folder, 0700), 0);
}

static void test_a_folder_that_is_gone_is_said(void **state)
{
	char gone[] = "/tmp/gpuprof-output-test-XXXXXX";

	assert_non_null(temporary_folder(gone));
	assert_int_equal(chdir(gone), 0);
	assert_int_equal(rmdir(gone), 0);
	assert_int_equal(gp_output_template("x", name, message, sizeof(message)), -ENOENT);
	assert_string_equal(
		message,
		"cannot write traces: the current folder is gone; name another folder with -o");
	assert_int_equal(chdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_become_absolute),
		cmocka_unit_test(test_a_percent_of_the_folder_stands_for_itself),
		cmocka_unit_test(test_what_only_a_process_can_expand_is_not_checked),
		cmocka_unit_test(test_a_folder_may_stand_for_the_default_name_in_it),
		cmocka_unit_test(test_bad_names_get_one_line),
		cmocka_unit_test(test_parts_that_nobody_can_expand_are_refused),
		cmocka_unit_test(test_a_pattern_finds_the_traces_of_a_template),
		cmocka_unit_test(test_an_unwritable_folder_is_found),
		cmocka_unit_test(test_a_folder_that_is_gone_is_said),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

#include "tests/unit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/finish/session.h"
#include "tests/lib/temporary.h"

static void announce(const struct gp_session *session, const char *name, const char *target)
{
	char link[PATH_MAX];

	assert_int_equal(gp_session_link(session, name, target, link, sizeof(link)), 0);
}

static void test_a_session_is_private_and_vanishes(void **state)
{
	struct gp_session session;
	struct stat status;
	char path[sizeof(session.path)];

	assert_int_equal(gp_session_open(&session), 0);
	strcpy(path, session.path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	announce(&session, "12-34", "/somewhere/x.gpuprof");
	gp_session_close(&session);
	assert_int_equal(access(path, F_OK), -1);
	assert_string_equal(session.path, "");
	gp_session_close(&session); /* harmless */
}

static void test_traces_come_in_the_order_of_their_processes(void **state)
{
	struct gp_session session;
	char **traces;
	size_t count;

	assert_int_equal(gp_session_open(&session), 0);
	assert_int_equal(gp_session_traces(&session, &traces, &count), 0);
	assert_int_equal(count, 0);
	gp_session_free_traces(traces, count);
	announce(&session, "9-200", "/b");
	announce(&session, "10-1000", "/d");
	announce(&session, "10-200", "/c");
	announce(&session, "77-5", "/a");
	announce(&session, "lib", "/not a trace");
	announce(&session, "1-2-3", "/nor this");
	assert_int_equal(gp_session_traces(&session, &traces, &count), 0);
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(traces[i][1], "abcd"[i]);
	gp_session_free_traces(traces, count);
	gp_session_close(&session);
}

static void test_places_that_the_loader_would_cut_are_passed_over(void **state)
{
	struct gp_session session;

	setenv("XDG_RUNTIME_DIR", "/tmp/with space", 1);
	setenv("TMPDIR", "relative", 1);
	assert_int_equal(gp_session_open(&session), 0);
	assert_memory_equal(session.path, "/tmp/gpuprof-", 13);
	gp_session_close(&session);
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("TMPDIR");
}

/* A folder of this user's that somebody has given the name of an abandoned session. */
static void test_only_links_are_removed(void **state)
{
	char place[32] = "/tmp/gpuprof-test-XXXXXX", folder[96], file[112], other[64];
	struct gp_session session;

	assert_non_null(temporary_folder(place));
	setenv("XDG_RUNTIME_DIR", place, 1);
	assert_int_equal(gp_session_open(&session), 0);
	snprintf(folder, sizeof(folder), "%.80s", session.path);
	strcpy(strrchr(folder, '-'), "-oldone");
	gp_session_close(&session);
	snprintf(file, sizeof(file), "%s/file", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(mknod(file, S_IFREG | 0600, 0), 0);
	snprintf(other, sizeof(other), "%s/gpuprof-run-00000000-oldone",
		 place); /* of another host */
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(gp_session_open(&session), 0);
	gp_session_close(&session);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(gp_session_open(&session), 0);
	gp_session_close(&session);
	assert_int_equal(access(folder, F_OK), -1);
	assert_int_equal(rmdir(other), 0);
	unsetenv("XDG_RUNTIME_DIR");
	assert_int_equal(rmdir(place), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_session_is_private_and_vanishes),
		cmocka_unit_test(test_traces_come_in_the_order_of_their_processes),
		cmocka_unit_test(test_only_links_are_removed),
		cmocka_unit_test(test_places_that_the_loader_would_cut_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

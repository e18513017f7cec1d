/* Which files are opened because a trace names them. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/named_file.h"
#include "tests/lib/temporary.h"

static void only_regular_files_are_opened(void **state)
{
	char folder[32] = "/tmp/gpuprof-test-XXXXXX", file[64], pipe[64], link[64], events[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	assert_non_null(temporary_folder(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(pipe, sizeof(pipe), "%s/pipe", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(mkfifo(pipe, 0600) | mknod(file, S_IFREG | 0600, 0), 0);
	assert_int_equal(symlink("file", link), 0);
	assert_true(inotify_add_watch(watch, folder, IN_OPEN) >= 0);

	assert_int_equal(gp_named_file_open(pipe, 0), -EINVAL);
	assert_int_equal(gp_named_file_open(folder, 0), -EINVAL);
	assert_int_equal(gp_named_file_open("/dev/null", 0), -EINVAL);
	assert_int_equal(gp_named_file_open("/no/such/file", 0), -ENOENT);
	assert_int_equal(gp_named_file_open(link, O_NOFOLLOW), -EINVAL);
	assert_int_equal(read(watch, events, sizeof(events)), -1); /* none was opened */
	fd = gp_named_file_open(link, 0);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_true(read(watch, events, sizeof(events)) > 0);

	close(fd);
	close(watch);
	assert_int_equal(unlink(file) | unlink(pipe) | unlink(link) | rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_regular_files_are_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Names in folders where another user may have been first. */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/shared_folder.h"
#include "tests/lib/temporary.h"

#define OTHER 65534

static char folder[] = "/tmp/gpuprof-shared-folder-test-XXXXXX";

static int enter_folder(void **state)
{
	return temporary_folder(folder) && !chdir(folder) && !chmod(folder, 01777) ? 0 : -1;
}

static int leave_folder(void **state)
{
	return chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

static int clear(void **state)
{
	unlink("name");
	unlink("behind");
	return 0;
}

static void write_file(const char *name, const char *text)
{
	int fd = gp_shared_folder_open(name, O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static off_t size_of(const char *name)
{
	struct stat status;

	assert_int_equal(stat(name, &status), 0);
	return status.st_size;
}

static void open_and_close(const char *name, int flags)
{
	int fd = gp_shared_folder_open(name, flags);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

static void our_own_files_are_opened(void **state)
{
	mode_t mask = umask(0);
	struct stat status;

	open_and_close("name", O_APPEND);
	umask(mask);
	assert_int_equal(stat("name", &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	write_file("name", "text");
	open_and_close("name", O_APPEND);
	assert_int_equal(size_of("name"), 4);
	open_and_close("name", O_TRUNC);
	assert_int_equal(size_of("name"), 0);
	open_and_close("/dev/null", O_TRUNC);
	assert_int_equal(gp_shared_folder_open("missing/name", 0), -ENOENT);
	assert_int_equal(gp_shared_folder_open(".", 0), -EISDIR);
}

static void our_own_links_are_followed(void **state)
{
	write_file("behind", "text");
	assert_int_equal(symlink("behind", "name"), 0);
	open_and_close("name", O_APPEND);
	assert_int_equal(size_of("behind"), 4);
	open_and_close("name", O_TRUNC);
	assert_int_equal(size_of("behind"), 0);
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip();
}

/* The folder may be somebody else's: what its owner put there is not ours, either. */
static void set_owner(uid_t of_folder, uid_t of_name)
{
	assert_int_equal(chown(folder, of_folder, (gid_t)-1), 0);
	assert_int_equal(lchown("name", of_name, (gid_t)-1), 0);
}

static void what_others_planted_is_refused(int flags, int in_folder_of_ours)
{
	const struct {
		mode_t mode;
		uid_t owner;
		int expected;
	} folders[] = {
		{01777, OTHER - 1, -EPERM},   {0777, OTHER - 1, -EPERM}, {01770, OTHER - 1, -EPERM},
		{01777, OTHER, -EPERM},       {0770, 0, -EPERM},         {0755, OTHER, -EPERM},
		{0755, 0, in_folder_of_ours},
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int fd;

		set_owner(folders[i].owner, OTHER);
		assert_int_equal(chmod(folder, folders[i].mode), 0);
		fd = gp_shared_folder_open("name", flags);
		set_owner(0, 0);
		assert_int_equal(chmod(folder, 01777), 0);
		assert_int_equal(fd < 0 ? fd : 0, folders[i].expected);
		if (fd >= 0)
			close(fd);
		else
			assert_int_equal(size_of("name"), 4);
		write_file("name", "text");
	}
}

static void links_of_others_are_not_followed(void **state)
{
	need_root();
	write_file("behind", "text");
	assert_int_equal(symlink("behind", "name"), 0);
	what_others_planted_is_refused(O_TRUNC, -EPERM);
	what_others_planted_is_refused(O_APPEND, -EPERM);
	unlink("name");
	assert_int_equal(symlink("chain", "name"), 0);
	assert_int_equal(symlink("behind", "chain"), 0);
	assert_int_equal(lchown("chain", OTHER, (gid_t)-1), 0);
	assert_int_equal(gp_shared_folder_open("name", O_TRUNC), -EPERM);
	assert_int_equal(size_of("behind"), 4);
	unlink("chain");
	assert_int_equal(symlink("name", "chain"), 0);
	assert_int_equal(gp_shared_folder_open("name", O_TRUNC), -ELOOP);
	unlink("chain");
}

static void files_of_others_are_not_written_to(void **state)
{
	need_root();
	write_file("name", "text");
	what_others_planted_is_refused(O_TRUNC, 0);
	what_others_planted_is_refused(O_APPEND, 0);
}

static void the_reason_is_said(void **state)
{
	char text[GP_SHARED_FOLDER_TEXT];

	assert_string_equal(gp_shared_folder_error(-EPERM, "name", text),
			    "another user's file has that name");
	assert_string_equal(gp_shared_folder_error(-ENOENT, "name", text), strerror(ENOENT));
}

/* ---- links of folders ---- */

static int make_folders(void **state)
{
	return mkdir("ours", 0755) || mkdir("ours/in", 0755) || mkdir("theirs", 0755) ||
			       mkdir("theirs/in", 0755) || mkdir("theirs/ours", 0755) ||
			       chown("theirs/in", OTHER, OTHER) || chown("theirs", OTHER, OTHER)
		       ? -1
		       : 0;
}

static int remove_folders(void **state)
{
	unlink("link");
	unlink("chain");
	rmdir("theirs/ours");
	rmdir("theirs/in");
	rmdir("theirs");
	rmdir("ours/in");
	return rmdir("ours");
}

static void plant(const char *name, const char *target, uid_t owner)
{
	unlink(name);
	assert_int_equal(symlink(target, name), 0);
	assert_int_equal(lchown(name, owner, (gid_t)-1), 0);
}

/* The result for a file in a folder, which does not exist yet. */
static int create_in(const char *in, char path[PATH_MAX])
{
	int fd;

	snprintf(path, PATH_MAX, "%s/new", in);
	fd = gp_shared_folder_open(path, O_TRUNC);
	if (fd < 0)
		return fd;
	close(fd);
	return unlink(path);
}

static void links_of_folders(void **state)
{
	char absolute[PATH_MAX], path[PATH_MAX], text[GP_SHARED_FOLDER_TEXT], link[PATH_MAX];
	const struct {
		const char *target, *typed;
		uid_t owner;
		int expected;
	} cases[] = {
		{"ours", "link", 0, 0},
		{"ours/", "./link//in", 0, 0},
		{absolute, "link", 0, 0},
		{absolute, "link/in", OTHER, -EPERM},
		{"ours", "link", OTHER, -EPERM},
		{"theirs", "link", OTHER, 0}, /* a folder of the link's owner */
		{"theirs", "link/in/../ours", OTHER, 0},
		{"theirs/ours", "link", OTHER, -EPERM},
		{"theirs/..", "link/theirs", OTHER, -EPERM},
		{"theirs", "link", OTHER - 1, -EPERM},
		{"chain", "link", OTHER, -EPERM}, /* a link to a link, which leads to ours */
		{"link", "link", 0, -ELOOP},
		{"missing", "link", OTHER, -ENOENT},
		{"ours", "missing", OTHER, -ENOENT},
		{"/dev/null", "link", 0, -ENOTDIR},
	};

	need_root();
	snprintf(absolute, sizeof(absolute), "%s/ours", folder);
	plant("chain", "ours", 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		plant("link", cases[i].target, cases[i].owner);
		assert_int_equal(create_in(cases[i].typed, path), cases[i].expected);
		if (cases[i].expected != -EPERM)
			continue;
		assert_int_equal(gp_shared_folder_enter(cases[i].typed, link), -EPERM);
		assert_string_equal(strrchr(link, '/'), "/link");
		assert_true(strncmp(gp_shared_folder_error(-EPERM, path, text), link,
				    strlen(link)) == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(our_own_files_are_opened, clear),
		cmocka_unit_test_teardown(our_own_links_are_followed, clear),
		cmocka_unit_test_teardown(links_of_others_are_not_followed, clear),
		cmocka_unit_test_teardown(files_of_others_are_not_written_to, clear),
		cmocka_unit_test(the_reason_is_said),
		cmocka_unit_test_setup_teardown(links_of_folders, make_folders, remove_folders),
	};

	return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}

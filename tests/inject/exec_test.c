/*
 * exec: each function that executes or starts another program does what the C library's function
 * does, closes the trace first, and keeps the library preloaded.
 */
#include "tests/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject/exec.h"
#include "inject/child_env.h"
#include "inject/options.h"
#include "inject/log.h"
#include "tests/lib/case_folder.h"

#define OWN  "/opt/gp/$LIB/libgpuprof.so"
#define SEES "test \"$LD_PRELOAD\" = '" OWN "' && test \"$A\" = b && exit 3; exit 4"

static char *const launched[] = {"LD_PRELOAD=" OWN, "GPUPROF_QUIET=1", NULL};
static char *const bare[] = {"A=b", "PATH=/bin:/usr/bin", NULL};
static char *const arguments[] = {"sh", "-c", SEES, NULL};

/* ---- hooks of a process that records ---- */

static bool records, unfinished;
static int times_left;

static bool is_recording(void)
{
	return records;
}

static bool is_to_be_left(void)
{
	return unfinished;
}

/* The parent reads its output. */
static void leave(void)
{
	times_left++;
	(void)!write(100, "left", 4);
}

static int prepare(void **state)
{
	gp_options_read(launched);
	gp_child_env_remember(launched);
	gp_exec_prepare(is_recording, is_to_be_left, leave);
	return setenv("PATH", "/nowhere::/bin:/usr/bin", 1);
}

/* ---- all ways ---- */

static void by_execve(const char *path)
{
	execve(path, arguments, bare);
}

static void by_execvpe(const char *path)
{
	execvpe(strrchr(path, '/') + 1, arguments, bare);
}

static void by_fexecve(const char *path)
{
	fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, bare);
}

static void by_execveat(const char *path)
{
	execveat(open("/", O_RDONLY | O_CLOEXEC), path + 1, arguments, bare, 0);
}

static void by_execveat_of_a_file(const char *path)
{
	execveat(open(path, O_RDONLY | O_CLOEXEC), "", arguments, bare, AT_EMPTY_PATH);
}

static void by_execle(const char *path)
{
	execle(path, "sh", "-c", SEES, (char *)NULL, bare);
}

static void by_execv(const char *path)
{
	environ = (char **)bare;
	execv(path, arguments);
}

static void by_execvp(const char *path)
{
	environ = (char **)bare;
	execvp(strrchr(path, '/') + 1, arguments);
}

static void by_execl(const char *path)
{
	environ = (char **)bare;
	execl(path, "sh", "-c", SEES, (char *)NULL);
}

static void by_execlp(const char *path)
{
	environ = (char **)bare;
	execlp(strrchr(path, '/') + 1, "sh", "-c", SEES, (char *)NULL);
}

static void (*const ways[])(const char *path) = {
	by_execve, by_execvpe, by_fexecve, by_execveat, by_execveat_of_a_file,
	by_execle, by_execv,   by_execvp,  by_execl,    by_execlp};

/*
 * The exit status of a child that executes the program; errno on failure.  *left: the output of
 * leave().
 */
static int status_of(void (*way)(const char *path), const char *path, size_t *left)
{
	char text[16];
	int fds[2], status;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(fds[1], 100);
		fcntl(100, F_SETFD, FD_CLOEXEC);
		close(fds[0]);
		close(fds[1]);
		gp_log_disable();
		way(path);
		_exit(errno);
	}
	close(fds[1]);
	got = read(fds[0], text, sizeof(text));
	assert_true(got >= 0);
	*left = (size_t)got;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void all_functions_run_the_program_profiled(void **state)
{
	size_t left;

	for (int leaves = 0; leaves < 2; leaves++) {
		unfinished = leaves;
		for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
			assert_int_equal(status_of(ways[i], "/bin/sh", &left), 3);
			assert_int_equal(left, leaves ? 4 : 0);
		}
	}
	unfinished = false;
}

/* The trace is not closed if the program does not exist, or gains privileges. */
static void the_trace_stays_open_if_exec_cannot_work(void **state)
{
	char path[512];
	size_t left;
	int fd;

	unfinished = records = true;
	case_folder = new_folder();
	assert_int_equal(status_of(by_execve, "/nowhere/sh", &left), ENOENT);
	assert_int_equal(left, 0);
	assert_int_equal(status_of(by_execvpe, "/nowhere/no-such-program", &left), ENOENT);
	assert_int_equal(left, 0);
	assert_int_equal(status_of(by_execveat, "/nowhere/sh", &left), ENOENT);
	assert_int_equal(left, 0);
	assert_int_equal(status_of(by_execve, case_folder, &left), EACCES);
	assert_int_equal(left, 0);
	snprintf(path, sizeof(path), "%s/program", case_folder);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0755);
	assert_int_equal(write(fd, "no program", 10), 10);
	close(fd);
	/* known only after the call */
	assert_int_equal(status_of(by_execve, path, &left), ENOEXEC);
	assert_int_equal(left, 4);
	assert_int_equal(chmod(path, 04755), 0);
	assert_int_equal(status_of(by_execve, path, &left), ENOEXEC);
	assert_int_equal(left, 0);
	assert_int_equal(chmod(path, 02755), 0);
	assert_int_equal(status_of(by_execve, path, &left), ENOEXEC);
	assert_int_equal(left, 0);
	remove_folder(case_folder);
	unfinished = records = false;
}

/* ---- spawn ---- */

static int status_of_spawn(bool search, const char *file, char *const environment[])
{
	pid_t child;
	int status, error = search ? posix_spawnp(&child, file, NULL, NULL, arguments, environment)
				   : posix_spawn(&child, file, NULL, NULL, arguments, environment);

	if (error != 0)
		return -error;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void spawned_programs_are_profiled_too(void **state)
{
	char *const emptied[] = {"A=b", "PATH=/bin", "LD_PRELOAD=", NULL};

	unfinished = true;
	times_left = 0;
	assert_int_equal(status_of_spawn(false, "/bin/sh", bare), 3);
	assert_int_equal(status_of_spawn(true, "sh", bare), 3);
	assert_int_equal(status_of_spawn(false, "/bin/sh", emptied), 4);
	assert_int_equal(status_of_spawn(false, "/nowhere/sh", bare), -ENOENT);
	assert_int_equal(status_of_spawn(true, "no-such-program", bare), -ENOENT);
	assert_int_equal(times_left, 0); /* this process continues */
	unfinished = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_functions_run_the_program_profiled),
		cmocka_unit_test(the_trace_stays_open_if_exec_cannot_work),
		cmocka_unit_test(spawned_programs_are_profiled_too),
	};

	return cmocka_run_group_tests(tests, prepare, NULL);
}

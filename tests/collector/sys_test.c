/* sys: profiler threads in unusual programs. */

#include "tests/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/sys.h"
#include "tests/lib/temporary.h"

/* Nearly as large as a profiler thread's stack. */
static __thread volatile char large[250000];

/* otherwise a new thread starts with the stop signals of garbage collectors unblocked */
static int can_set_masks;

static void *use_the_stack(void *unused)
{
	volatile char frame[150000];
	sigset_t blocked;

	(void)unused;
	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)i;
	large[0] = frame[1];
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	return sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR1) == can_set_masks &&
			       large[0] == 1
		       ? (void *)1
		       : NULL;
}

static void thread_local_variables_do_not_take_our_stack(void **state)
{
	gp_sys_mask_setter *setters[] = {
		NULL, (gp_sys_mask_setter *)dlsym(RTLD_DEFAULT, "pthread_attr_setsigmask_np")};

	for (size_t i = 0; i < 2; i++) {
		pthread_t thread;
		void *result = NULL;

		large[0] = 0;
		can_set_masks = setters[i] != NULL;
		gp_sys_set_masks_by(setters[i]);
		assert_int_equal(gp_sys.thread(&thread, use_the_stack), 0);
		pthread_join(thread, &result);
		assert_non_null(result);
	}
}

/* ---- memory ---- */

#define AT 2048 /* within a page */

/* Which keeps a map of its own. */
static bool runs_in_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded != NULL && strstr(preloaded, "vgpreload") != NULL;
}

/* A forked child does not have the memory, and may map zeroed memory in its place. */
static void child_maps_its_own(char *memory, size_t bytes)
{
	char *last = memory + bytes - 1;
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		if (madvise(memory - AT, 1, 9999) == 0)
			_exit(0); /* an emulator that ignores all advice */
		if (gp_sys_map_in_child(memory, bytes) != 0 || *last != 0)
			_exit(1);
		*last = 'A';
		_exit(gp_sys_map_in_child(memory, bytes) == -EEXIST ? 0 : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* Rings follow each other at multiples of 4096 bytes, whatever the size of a page. */
static void part_of_a_file_may_begin_within_a_page(void **state)
{
	size_t page = (size_t)getpagesize(), at = page + AT, bytes = page + 100;
	char path[] = "/tmp/gpuprof-sys-XXXXXX", byte = 'x';
	int fd = temporary_file(path);
	void *memory;
	char *last;

	assert_true(fd >= 0 && unlink(path) == 0);
	if (runs_in_valgrind()) {
		close(fd);
		skip();
	}
	assert_int_equal(gp_sys_allocate(fd, 0, at), 0);
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at - 1), 1);
	assert_int_equal(gp_sys_allocate(fd, at, bytes), 0);
	assert_int_equal(gp_sys_map(fd, at, bytes, &memory), 0);
	last = (char *)memory + bytes - 1;
	assert_int_equal(*((char *)memory - 1), 'x');
	*last = 'y';
	assert_int_equal(pread(fd, &byte, 1, (off_t)(at + bytes) - 1), 1);
	assert_int_equal(byte, 'y');
	child_maps_its_own(memory, bytes);
	assert_int_equal(*last, 'y');
	gp_sys_unmap(memory, bytes);
	assert_int_not_equal(msync((char *)memory - AT, 1, MS_ASYNC), 0);
	close(fd);
}

/* ---- behind a filter of the program's ---- */

static long (*real_call)(long, long, long, long, long, long, long);
static long filter_mode;
static unsigned calls; /* except the checks for a filter */

static long filtered_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_prctl && a == PR_GET_SECCOMP)
		return filter_mode;
	calls++;
	return real_call(number, a, b, c, d, e, f);
}

static void make_calls(void)
{
	char text[64];
	struct stat status;
	struct iovec piece = {text, sizeof(text)};
	uint64_t number, other;

	assert_int_equal(gp_sys_open("/dev/null", O_RDONLY, 0), -EPERM);
	assert_int_equal(gp_sys_read_file("/dev/null", text, sizeof(text)), -EPERM);
	assert_int_equal(gp_sys_truncate(-1, 0), -EPERM);
	assert_int_equal(gp_sys_allocate(-1, 0, 1), -EPERM);
	assert_int_equal(gp_sys_unlink("/nowhere"), -EPERM);
	assert_int_equal(gp_sys_taken_by(AT_FDCWD, "/dev/null", &number), -EPERM);
	assert_int_equal(gp_sys_read_folder(0, text, sizeof(text)), -EPERM);
	assert_int_equal(gp_sys_file_system(0, &number, &other), -EPERM);
	assert_int_equal(gp_sys_copy_own(gp_sys_process_id(), &piece, &piece, 1), -EPERM);
	assert_int_equal(gp_sys_stat("/dev/null", &status), -EPERM);
	assert_int_equal(gp_sys_read_link("/proc/self/exe", text, sizeof(text)), -EPERM);
	assert_int_equal(gp_sys_directory(text, sizeof(text)), -EPERM);
	assert_int_equal(gp_sys_host(text, sizeof(text)), -EPERM);
	assert_false(gp_sys_has_thread(gp_sys_thread_id()));
	assert_int_equal(gp_sys_own_time_ns(), 0);
	assert_int_not_equal(gp_sys_random(), 0);
}

/* A filter may be installed at any time, so each call checks for one itself. */
static void calls_that_a_filter_may_forbid_are_not_made(void **state)
{
	real_call = gp_sys.call;
	gp_sys.call = filtered_call;
	filter_mode = SECCOMP_MODE_DISABLED;
	gp_sys_remember_filter();
	assert_true(gp_sys_has_thread(gp_sys_thread_id()));
	filter_mode = SECCOMP_MODE_FILTER;
	calls = 0;
	make_calls();
	/* process identity: gp_sys_process_id() twice, gp_sys_thread_id() */
	assert_int_equal(calls, 3);
	gp_sys.call = real_call;
}

/* A filter from before the start is meant for ordinary programs. */
static void a_filter_of_a_container_changes_nothing(void **state)
{
	real_call = gp_sys.call;
	gp_sys.call = filtered_call;
	filter_mode = SECCOMP_MODE_FILTER;
	gp_sys_remember_filter();
	assert_false(gp_sys_is_confined());
	assert_true(gp_sys_has_thread(gp_sys_thread_id()));
	gp_sys.call = real_call;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_local_variables_do_not_take_our_stack),
		cmocka_unit_test(part_of_a_file_may_begin_within_a_page),
		cmocka_unit_test(calls_that_a_filter_may_forbid_are_not_made),
		cmocka_unit_test(a_filter_of_a_container_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

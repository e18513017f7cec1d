#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/memory_limit.h"
#include "tests/lib/emulated.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

#define MIB (UINT64_C(1) << 20)

/* A folder that stands for the root of the file system. */
static char root[64];

static void make_file(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	strcpy(root, "/tmp/memory-left-XXXXXX");
	return temporary_folder(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void test_nothing_is_known(void **state)
{
	assert_int_equal(gp_memory_left(root), UINT64_MAX);
}

static void test_machine(void **state)
{
	make_file("/proc/meminfo", "MemTotal: 9999 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\n");
	assert_int_equal(gp_memory_left(root), 2 * MIB);
	make_file("/proc/self/cgroup", "0::/\n");
	assert_int_equal(gp_memory_left(root), 2 * MIB);
}

static void test_group_of_a_container(void **state)
{
	make_file("/proc/meminfo", "MemAvailable: 1048576 kB\n");
	make_file("/proc/self/cgroup", "0::/\n");
	make_file("/sys/fs/cgroup/memory.max", "104857600\n");
	make_file("/sys/fs/cgroup/memory.current", "41943040\n");
	assert_int_equal(gp_memory_left(root), 60 * MIB);
	/* what is cached in files can be had back, but not shared memory */
	make_file("/sys/fs/cgroup/memory.stat",
		  "anon 1\nfile_mapped 7\nfile 20971520\nshmem 10485760\n");
	assert_int_equal(gp_memory_left(root), 70 * MIB);
	make_file("/sys/fs/cgroup/memory.current", "209715200\n");
	assert_int_equal(gp_memory_left(root), 0);
}

static void test_groups_within_groups(void **state)
{
	make_file("/proc/meminfo", "MemAvailable: 1048576 kB\n");
	make_file("/proc/self/cgroup", "0::/jobs/mine\n");
	make_file("/sys/fs/cgroup/jobs/mine/memory.max", "max\n");
	make_file("/sys/fs/cgroup/jobs/mine/memory.current", "4096\n");
	make_file("/sys/fs/cgroup/jobs/memory.max", "8388608\n");
	make_file("/sys/fs/cgroup/jobs/memory.current", "1048576\n");
	assert_int_equal(gp_memory_left(root), 7 * MIB);
}

static void test_first_version(void **state)
{
	make_file("/proc/meminfo", "MemAvailable: 1048576 kB\n");
	make_file("/proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n0::/\n");
	make_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	make_file("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
	assert_int_equal(gp_memory_left(root), 1024 * MIB);
	make_file("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "6291456\n");
	make_file("/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "3145728\n");
	make_file("/sys/fs/cgroup/memory/a/memory.stat",
		  "cache 1\ntotal_cache 1048576\ntotal_shmem 0\n");
	assert_int_equal(gp_memory_left(root), 4 * MIB);
}

static void test_bad_files(void **state)
{
	static const char *const lines[] = {
		"", ":", "::", "0::", "0::relative\n", "no colon", "0::/\n0::/../..\n"};

	make_file("/proc/meminfo", "MemAvailable: -\nMemAvailable:");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		make_file("/proc/self/cgroup", lines[i]);
		assert_int_equal(gp_memory_left(root), UINT64_MAX);
	}
}

static bool takes(uint64_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

/* In a child: it can allocate what is left and no more, and a lower limit stays. */
static int allocates_within(uint64_t left)
{
	struct rlimit before, after;

	gp_memory_keep_within(UINT64_MAX);
	gp_memory_keep_within(left);
	getrlimit(RLIMIT_DATA, &before);
	gp_memory_keep_within(2 * left);
	getrlimit(RLIMIT_DATA, &after);
	if (before.rlim_cur != after.rlim_cur)
		return 1;
	return takes(left / 2) && !takes(2 * left) ? 0 : 2;
}

static void test_limit(void **state)
{
	int status;
	pid_t child;

	if (is_emulated(EMULATED_LIMITS))
		skip();
	child = fork();
	if (child == 0)
		_exit(allocates_within(64 * MIB));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_machine, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_group_of_a_container, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_groups_within_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_first_version, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_files, set_up, tear_down),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

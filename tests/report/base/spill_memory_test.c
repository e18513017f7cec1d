#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/base/memory.h"
#include "report/base/spill_memory.h"
#include "tests/lib/sanitizer.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"

#define MIB     ((size_t)1 << 20)
#define NUMBERS (4u << 20)

/* A folder on a disk; "": there is none. */
static char folder[64];
static char trouble[GP_SPILL_TROUBLE_BYTES];

static void need_disk(void)
{
	if (!folder[0])
		skip();
	gp_spill_limit(0);
}

static uint32_t files_in(const char *path)
{
	DIR *open = opendir(path);
	uint32_t count = 0;

	for (struct dirent *entry; open && (entry = readdir(open));)
		count += entry->d_name[0] != '.';
	if (open)
		closedir(open);
	return count;
}

/* What is mapped of files in the folder. */
static size_t bytes_of_files(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	size_t bytes = 0, from, to;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (folder[0] && strstr(line, folder) && sscanf(line, "%zx-%zx", &from, &to) == 2)
			bytes += to - from;
	fclose(maps);
	return bytes;
}

static bool is_filled(const uint8_t *bytes, size_t count, uint8_t value)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void test_within_the_limit_it_is_memory(void **state)
{
	uint8_t *room;

	gp_spill_limit(8 * MIB);
	room = gp_spill_take(4 * MIB);
	room = gp_spill_resize(room, 7 * MIB);
	assert_non_null(room);
	assert_int_equal(bytes_of_files(), 0);
	gp_spill_free(room);
	room = gp_spill_take_zeroed(7, MIB); /* what was given back can be had again */
	assert_true(is_filled(room, 7 * MIB, 0));
	assert_int_equal(bytes_of_files(), 0);
	gp_spill_free(room);
	gp_spill_free(NULL);
}

static void test_small_rooms_are_memory_always(void **state)
{
	void *room;

	gp_spill_limit(0);
	room = gp_spill_take(1000);
	assert_non_null(room);
	assert_int_equal(bytes_of_files(), 0);
	gp_spill_free(room);
	room = gp_spill_take(0);
	assert_non_null(room);
	gp_spill_free(room);
}

static void test_beyond_the_limit_it_is_a_file(void **state)
{
	uint8_t *first, *second;

	need_disk();
	gp_spill_limit(4 * MIB);
	first = gp_spill_take(3 * MIB);
	second = gp_spill_take_zeroed(2, MIB);
	assert_int_equal(bytes_of_files(), 2 * MIB);
	assert_true(is_filled(second, 2 * MIB, 0));
	assert_int_equal(files_in(folder), 0); /* nothing is left behind, whatever becomes of us */
	gp_spill_free(second);
	assert_int_equal(bytes_of_files(), 0);
	gp_spill_free(first);
}

static void test_what_is_in_it_moves_along(void **state)
{
	uint8_t *room;

	need_disk();
	gp_spill_limit(3 * MIB);
	room = gp_spill_take(2 * MIB);
	memset(room, 7, 2 * MIB);
	room = gp_spill_resize(room, 4 * MIB); /* from memory into a file */
	assert_int_equal(bytes_of_files(), 4 * MIB);
	assert_true(is_filled(room, 2 * MIB, 7));
	memset(room, 8, 4 * MIB);
	room = gp_spill_resize(room, 40 * MIB); /* the file grows */
	assert_int_equal(bytes_of_files(), 40 * MIB);
	assert_true(is_filled(room, 4 * MIB, 8));
	memset(room, 9, 40 * MIB);
	room = gp_spill_resize(room, MIB);
	assert_true(is_filled(room, MIB, 9));
	gp_spill_free(room);
	assert_int_equal(bytes_of_files(), 0);
}

static void test_each_room_is_its_own(void **state)
{
	enum { ROOMS = 50 };
	uint8_t *rooms[ROOMS];

	need_disk();
	for (uint8_t i = 0; i < ROOMS; i++) {
		rooms[i] = gp_spill_take(MIB);
		assert_non_null(rooms[i]);
		memset(rooms[i], i, MIB);
	}
	for (size_t i = 0; i < ROOMS; i += 2)
		gp_spill_free(rooms[i]);
	assert_int_equal(bytes_of_files(), ROOMS / 2 * MIB);
	for (uint8_t i = 1; i < ROOMS; i += 2) {
		assert_true(is_filled(rooms[i], MIB, i));
		gp_spill_free(rooms[i]);
	}
	assert_int_equal(bytes_of_files(), 0);
}

static int compare_numbers(const void *a, const void *b, const void *context)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	(void)context;
	return (left > right) - (left < right);
}

static void test_arrays_grow_and_are_sorted_in_files(void **state)
{
	uint32_t *numbers = NULL, capacity = 0;

	need_disk();
	for (uint32_t i = 0; i < NUMBERS; i++) {
		assert_int_equal(gp_array_grow_spill(&numbers, &capacity, i, sizeof(*numbers)), 0);
		numbers[i] = (i % 4) * (NUMBERS / 4) + i / 4; /* four runs by turns */
	}
	assert_true(bytes_of_files() >= NUMBERS * sizeof(*numbers));
	assert_int_equal(gp_array_sort(numbers, NUMBERS, sizeof(*numbers), compare_numbers, NULL),
			 0);
	for (uint32_t i = 0; i < NUMBERS; i++)
		assert_int_equal(numbers[i], i);
	gp_spill_free(numbers);
	assert_int_equal(bytes_of_files(), 0);
}

static void test_without_a_disk_it_is_memory(void **state)
{
	struct rlimit none = {MIB / 2, RLIM_INFINITY}, before;
	uint8_t *room;

	gp_spill_limit(0);
	getrlimit(RLIMIT_FSIZE, &before);
	none.rlim_max = before.rlim_max;
	setrlimit(RLIMIT_FSIZE, &none);
	room = gp_spill_take(3 * MIB);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(room);
	memset(room, 1, 3 * MIB);
	assert_int_equal(bytes_of_files(), 0);
	gp_spill_trouble(trouble);
	assert_non_null(strstr(trouble, ", for 3 MB: "));
	gp_spill_free(room);
}

static void test_a_file_that_cannot_grow_stays(void **state)
{
	struct rlimit some = {3 * MIB, RLIM_INFINITY}, before;
	uint8_t *room;

	need_disk();
	getrlimit(RLIMIT_FSIZE, &before);
	some.rlim_max = before.rlim_max;
	room = gp_spill_take(2 * MIB);
	memset(room, 5, 2 * MIB);
	setrlimit(RLIMIT_FSIZE, &some);
	gp_memory_begin_attempt();
	assert_null(gp_spill_resize(room, 4 * MIB));
	assert_false(gp_memory_end_attempt());
	setrlimit(RLIMIT_FSIZE, &before);
	assert_true(is_filled(room, 2 * MIB, 5));
	gp_spill_trouble(trouble);
	assert_memory_equal(trouble, folder, strlen(folder));
	assert_non_null(strstr(trouble, ", for 4 MB: File too large"));
	gp_spill_free(room);
}

static bool has_open(const char *beginning)
{
	char link[32], path[256];
	bool found = false;

	for (int fd = 0; fd < 64 && !found; fd++) {
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, path, sizeof(path) - 1);
		found = length > 0 &&
			strncmp(path, beginning, strnlen(beginning, (size_t)length)) == 0;
	}
	return found;
}

static void test_folders_in_memory_are_no_disks(void **state)
{
	uint8_t *room;

	need_disk();
	if (access("/dev/shm", W_OK) != 0)
		skip();
	setenv("TMPDIR", "/dev/shm", 1);
	room = gp_spill_take(2 * MIB);
	setenv("TMPDIR", folder, 1);
	assert_non_null(room);
	assert_false(has_open("/dev/shm/gpuprof-"));
	assert_true(has_open("/var/tmp/gpuprof-"));
	gp_spill_free(room);
	assert_false(has_open("/var/tmp/gpuprof-"));
}

/* In a child: the disk under a room goes away. */
static void lose_disk(int errors)
{
	volatile uint8_t *room = gp_spill_take(2 * MIB);

	for (int fd = 3; fd < 64; fd++)
		if (fd != errors && ftruncate(fd, 0) == 0)
			break;
	dup2(errors, STDERR_FILENO);
	room[MIB] = 1;
	_exit(0);
}

static void test_a_disk_that_fails_is_told(void **state)
{
	char text[256] = "";
	int pipes[2], status;
	pid_t child;

	need_disk();
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0)
		lose_disk(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	close(pipes[1]);
	assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
	close(pipes[0]);
	assert_non_null(strstr(text, "gpuprof: a temporary file could not be read or written"));
}

static void test_more_than_there_is_of_anything(void **state)
{
	if (UNDER_ASAN || UNDER_TSAN) /* they end the program instead */
		skip();
	gp_spill_limit(0);
	gp_memory_begin_attempt();
	assert_null(gp_spill_take(SIZE_MAX / 2));
	assert_null(gp_spill_take_zeroed(SIZE_MAX / 2, 3));
	assert_false(gp_memory_end_attempt());
	gp_spill_trouble(trouble);
	assert_true(trouble[0] != '\0');
}

static int make_folder(void **state)
{
	struct statfs status;

	strcpy(folder, "/var/tmp/gpuprof-test-XXXXXX");
	if (!temporary_folder(folder)) {
		folder[0] = '\0';
		return 0;
	}
	setenv("TMPDIR", folder, 1);
	if (statfs(folder, &status) == 0 && status.f_type == 0x01021994) { /* tmpfs */
		rmdir(folder);
		folder[0] = '\0';
	}
	return 0;
}

static int remove_folder(void **state)
{
	return folder[0] ? rmdir(folder) : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within_the_limit_it_is_memory),
		cmocka_unit_test(test_small_rooms_are_memory_always),
		cmocka_unit_test(test_beyond_the_limit_it_is_a_file),
		cmocka_unit_test(test_what_is_in_it_moves_along),
		cmocka_unit_test(test_each_room_is_its_own),
		cmocka_unit_test(test_arrays_grow_and_are_sorted_in_files),
		cmocka_unit_test(test_without_a_disk_it_is_memory),
		cmocka_unit_test(test_a_file_that_cannot_grow_stays),
		cmocka_unit_test(test_folders_in_memory_are_no_disks),
		cmocka_unit_test(test_a_disk_that_fails_is_told),
		cmocka_unit_test(test_more_than_there_is_of_anything),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

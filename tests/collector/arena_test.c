/* arena: the place of the rings, the fallbacks, and the assignment of rings to threads. */
#include "tests/collector/harness.h"
#include "tests/collector/trace_check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>

#include "collector/arena.h"
#include "collector/atomic.h"
#include "collector/ring.h"
#include "collector/ring_quota.h"
#include "collector/sys.h"

static struct gp_arena arena;
static long (*real_call)(long, long, long, long, long, long, long);

#define NO_CALL -1

/* The behavior of the fake system. */
static struct {
	const char *no_open_below; /* paths with this prefix cannot be opened */
	long statfs_type;          /* instead of the real one, 0 = real */
	long statfs_free_bytes;    /* the same */
	int failing_call;          /* number of the system call that fails, NO_CALL = none */
	int error;
	uint64_t no_allocation_above; /* allocations beyond this file size fail; 0 = none fails */
} fake;

static long fake_statfs(long number, long a, long b)
{
	struct statfs *status = (struct statfs *)b;
	long result = real_call(number, a, b, 0, 0, 0, 0);

	if (fake.statfs_type != 0)
		status->f_type = fake.statfs_type;
	if (fake.statfs_free_bytes != 0)
		status->f_bavail = (uint64_t)fake.statfs_free_bytes / (uint64_t)status->f_bsize;
	return result;
}

static long fake_call(long number, long a, long b, long c, long d, long e, long f)
{
	if (fake.failing_call == number)
		return fake.error;
	if (number == SYS_openat && fake.no_open_below != NULL &&
	    strncmp((const char *)b, fake.no_open_below, strlen(fake.no_open_below)) == 0)
		return -EACCES;
	if (number == SYS_fallocate && fake.no_allocation_above != 0 &&
	    (uint64_t)c + (uint64_t)d > fake.no_allocation_above)
		return -EFBIG;
	if (number == SYS_fstatfs)
		return fake_statfs(number, a, b);
	return real_call(number, a, b, c, d, e, f);
}

static int set_up(void **unused)
{
	(void)unused;
	case_folder = new_folder();
	memset(&arena, 0, sizeof(arena));
	memset(&fake, 0, sizeof(fake));
	fake.failing_call = NO_CALL;
	real_call = gp_sys.call;
	gp_sys.call = fake_call;
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	gp_sys.call = real_call;
	gp_arena_remove(&arena);
	for (uint32_t i = 0; i < arena.lane_count; i++)
		gp_sys_unmap(arena.lanes[i].ring, gp_ring_bytes(arena.lanes[i].ring->slot_count));
	remove_folder(case_folder);
	return 0;
}

static int open_arena(enum gp_ring_place place)
{
	return gp_arena_open(&arena, place, in_folder("t.gpuprof"));
}

static uint32_t files_in_folder(void)
{
	char command[300];
	FILE *list;
	uint32_t files = 0;
	int byte;

	snprintf(command, sizeof(command), "ls -A %s", case_folder);
	list = popen(command, "r");
	assert_non_null(list);
	while ((byte = fgetc(list)) != EOF)
		files += byte == '\n';
	pclose(list);
	return files;
}

static bool has_shm(void)
{
	struct statfs status;

	/* and the rings of other processes leave some space */
	return statfs("/dev/shm", &status) == 0 && status.f_type == 0x01021994 &&
	       status.f_bavail * (uint64_t)status.f_bsize > (64u << 20) &&
	       gp_ring_quota_taken() < GP_RING_QUOTA_BYTES / 2;
}

static void the_first_choice_is_shm(void **unused)
{
	struct stat status;

	(void)unused;
	if (!has_shm())
		skip();
	assert_int_equal(open_arena(GP_RINGS_AUTO), 0);
	assert_memory_equal(arena.path, "/dev/shm/gpuprof-", 17);
	assert_int_equal(stat(arena.path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_size, arena.used_bytes);
	assert_true((uint64_t)status.st_blocks * 512 >= arena.used_bytes); /* no block is sparse */
}

/* A file of any user may be as long as he likes. */
static void what_has_no_blocks_takes_nothing(void **unused)
{
	static const char sparse[] = "/dev/shm/gpuprof-sparse-test";
	uint64_t before;
	int fd;

	(void)unused;
	if (!has_shm())
		skip();
	before = gp_ring_quota_taken();
	fd = open(sparse, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1ll << 40), 0);
	close(fd);
	assert_true(gp_ring_quota_taken() < before + GP_RING_QUOTA_BYTES);
	unlink(sparse);
}

static void what_others_take_need_not_be_seen(void **unused)
{
	(void)unused;
	if (!has_shm())
		skip();
	fake.failing_call = SYS_getdents64;
	fake.error = -EACCES;
	assert_int_equal(open_arena(GP_RINGS_SHM), 0);
}

static void then_a_file_beside_the_trace(void **unused)
{
	(void)unused;
	fake.no_open_below = "/dev/shm";
	fake.statfs_type = 0xef53;
	assert_int_equal(open_arena(GP_RINGS_AUTO), 0);
	assert_memory_equal(arena.path, in_folder("t.gpuprof.rings-"),
			    strlen(in_folder("t.gpuprof.rings-")));
	assert_int_equal(files_in_folder(), 1);
}

static void then_private_memory(void **unused)
{
	(void)unused;
	fake.no_open_below = "/";
	assert_int_equal(open_arena(GP_RINGS_AUTO), 0);
	assert_string_equal(arena.path, "");
	assert_non_null(gp_arena_take(&arena, 1));
}

static void other_file_systems_are_not_mapped(void **unused)
{
	(void)unused;
	fake.statfs_type = 0x6969; /* NFS */
	assert_int_equal(open_arena(GP_RINGS_FILE), -EOPNOTSUPP);
	assert_int_equal(files_in_folder(), 0);
	assert_int_equal(open_arena(GP_RINGS_SHM), -EOPNOTSUPP);
	assert_int_equal(open_arena(GP_RINGS_AUTO), 0);
	assert_string_equal(arena.path, "");
	assert_int_equal(files_in_folder(), 0);
}

static void a_full_disk_leaves_nothing_behind(void **unused)
{
	static const int calls[] = {SYS_fallocate, SYS_mmap, SYS_write, SYS_fstat, SYS_fstatfs};

	(void)unused;
	fake.statfs_type = 0xef53;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		fake.failing_call = calls[i];
		fake.error = -ENOSPC;
		assert_int_equal(open_arena(GP_RINGS_FILE), -ENOSPC);
		assert_int_equal(files_in_folder(), 0);
		assert_string_equal(arena.path, "");
	}
	fake.failing_call = NO_CALL;
	fake.statfs_free_bytes = 8 * GP_ARENA_MIN_BYTES - 4096;
	assert_int_equal(open_arena(GP_RINGS_FILE), -ENOSPC);
	assert_int_equal(files_in_folder(), 0);
	fake.statfs_free_bytes += 4096;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	assert_int_equal(arena.budget_bytes, GP_ARENA_MIN_BYTES);
}

static void an_old_kernel_gets_its_pages_touched(void **unused)
{
	(void)unused;
	fake.statfs_type = 0xef53;
	fake.failing_call = SYS_madvise;
	fake.error = -EINVAL;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	assert_int_equal(arena.lanes[0].ring->magic, GP_RING_MAGIC);
}

static void a_page_that_cannot_be_had_is_an_error(void **unused)
{
	(void)unused;
	fake.statfs_type = 0xef53;
	fake.failing_call = SYS_madvise;
	fake.error = -EFAULT;
	assert_int_equal(open_arena(GP_RINGS_FILE), -EFAULT);
	assert_int_equal(files_in_folder(), 0);
}

static void rings_are_made_until_the_budget_is_used(void **unused)
{
	uint64_t big = 0, small = 0;

	(void)unused;
	assert_int_equal(open_arena(GP_RINGS_MEMORY), 0);
	while (gp_arena_grow(&arena) == 0)
		;
	assert_true(arena.used_bytes <= GP_ARENA_MAX_BYTES);
	assert_true(arena.used_bytes + gp_ring_bytes(GP_ARENA_SMALL_SLOTS) > GP_ARENA_MAX_BYTES);
	for (uint32_t i = 0; i < arena.lane_count; i++) {
		big += arena.lanes[i].ring->slot_count == GP_ARENA_BIG_SLOTS;
		small += arena.lanes[i].ring->slot_count == GP_ARENA_SMALL_SLOTS;
	}
	assert_int_equal(big + small, arena.lane_count);
	assert_int_equal(big, 7); /* half of 16 MiB, less headers and the shared ring */
	assert_int_equal(arena.exhausted, 1);
	assert_int_equal(arena.free_lanes, arena.lane_count);
}

static void a_failed_ring_leaves_the_file_as_it_was(void **unused)
{
	struct stat status;
	uint64_t before;

	(void)unused;
	fake.statfs_type = 0xef53;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	before = arena.used_bytes;
	fake.failing_call = SYS_mmap;
	fake.error = -ENOMEM;
	assert_int_equal(gp_arena_grow(&arena), -ENOMEM);
	assert_int_equal(stat(arena.path, &status), 0);
	assert_int_equal(status.st_size, before);
	assert_int_equal(arena.used_bytes, before);
	assert_int_equal(arena.exhausted, 1);
	fake.failing_call = NO_CALL;
	assert_int_equal(gp_arena_grow(&arena), 0);
	assert_int_equal(arena.exhausted, 0);
}

static void a_strange_file_under_our_name_is_not_mapped(void **unused)
{
	char moved[GP_PATH_BYTES + 8];
	int fd;

	(void)unused;
	fake.statfs_type = 0xef53;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	snprintf(moved, sizeof(moved), "%s.moved", arena.path);
	assert_int_equal(rename(arena.path, moved), 0);
	assert_int_equal(gp_arena_grow(&arena), -ENOENT);
	fd = open(arena.path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(gp_arena_grow(&arena), -ESTALE);
	assert_int_equal(arena.lane_count, 1);
}

/* ---- several processes ---- */

#define PROCESSES 12

/* Mount a private /dev/shm; false without permission. */
static bool mount_shm(const char *options)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "/dev/shm", "tmpfs", 0, options) == 0;
}

static uint64_t bytes_in_shm(void)
{
	struct statfs status;

	CHECK(statfs("/dev/shm", &status) == 0);
	return (status.f_blocks - status.f_bfree) * (uint64_t)status.f_bsize;
}

/* Take all available rings, report it, and keep them. */
static void take_all(uint32_t *ready, enum gp_ring_place place)
{
	memset(&arena, 0, sizeof(arena));
	CHECK(gp_arena_open(&arena, place, in_folder("t.gpuprof")) == 0);
	while (gp_arena_grow(&arena) == 0)
		;
	if (!arena.is_in_shm)
		CHECK(arena.path[0] != '\0' || arena.used_bytes <= GP_ARENA_SCARCE_BYTES);
	gp_add32(ready, 1);
	gp_sys_wake(ready);
	for (;;)
		pause();
}

/* Exits with 0, or with 2 if a private /dev/shm is impossible. */
static void many_take_all(const char *options, uint64_t most_bytes)
{
	uint32_t *ready =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t children[PROCESSES];

	if (!mount_shm(options))
		_exit(2);
	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0)
			take_all(ready, i % 2 == 0 ? GP_RINGS_AUTO : GP_RINGS_SHM);
	}
	while (gp_load32(ready) < PROCESSES && waitpid(-1, NULL, WNOHANG) == 0)
		sched_yield();
	CHECK(gp_load32(ready) == PROCESSES);
	CHECK(bytes_in_shm() <= most_bytes && bytes_in_shm() > most_bytes / 2);
	for (int i = 0; i < PROCESSES; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	_exit(0);
}

static void all_processes_together_keep_to_their_share(void **unused)
{
	static const struct {
		const char *options;
		uint64_t most_bytes;
	} cases[] = {{"size=64m", 8u << 20}, {"size=2g", 32u << 20}};
	int status;

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t child = fork();

		if (child == 0)
			many_take_all(cases[i].options, cases[i].most_bytes);
		assert_int_equal(waitpid(child, &status, 0), child);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			skip();
		assert_int_equal(status, 0);
	}
}

static void where_big_rings_do_not_fit_small_ones_do(void **unused)
{
	(void)unused;
	fake.statfs_type = 0xef53;
	fake.no_allocation_above = 1u << 20;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	while (gp_arena_grow(&arena) == 0)
		;
	assert_true(arena.lane_count > 10);
	assert_true(arena.used_bytes <= 1u << 20);
}

static void every_taker_gets_a_new_ring_id(void **unused)
{
	struct gp_lane *first, *second;

	(void)unused;
	assert_int_equal(open_arena(GP_RINGS_MEMORY), 0);
	first = gp_arena_take(&arena, 11);
	assert_non_null(first);
	assert_int_equal(first->ring->ring, 1);
	assert_int_equal(first->ring->thread, 11);
	assert_null(gp_arena_take(&arena, 12));
	assert_true(gp_arena_is_short(&arena));
	assert_int_equal(gp_arena_grow(&arena), 0);
	second = gp_arena_take(&arena, 12);
	assert_ptr_not_equal(second, first);
	assert_int_equal(second->ring->ring, 2);
	gp_arena_close_lane(&arena, first);
	assert_null(gp_arena_take(&arena, 13)); /* only after it was drained */
	gp_arena_recycle(&arena, first);
	assert_ptr_equal(gp_arena_take(&arena, 13), first);
	assert_int_equal(first->ring->ring, 3);
	assert_int_equal(first->ring->thread, 13);
}

static void the_file_names_its_process_and_trace(void **unused)
{
	static struct scan scan;

	(void)unused;
	fake.statfs_type = 0xef53;
	assert_int_equal(open_arena(GP_RINGS_FILE), 0);
	assert_int_equal(gp_arena_grow(&arena), 0);
	gp_arena_take(&arena, 5);
	assert_true(scan_ring_file(&scan, arena.path, in_folder("t.gpuprof")));
	assert_string_equal(scan.error ? scan.error : "", "");
}

/* A thread was stopped amid a record, and goes on with its position. */
static void a_late_record_stays_in_the_released_ring(void **unused)
{
	const struct gp_lane *lane;
	const char *slot;

	(void)unused;
	assert_int_equal(open_arena(GP_RINGS_MEMORY), 0);
	lane = gp_arena_take(&arena, 5);
	gp_arena_release(&arena);
	slot = gp_ring_slot(lane->ring, UINT64_C(1) << 30 | 7);
	assert_ptr_equal(slot, gp_ring_slot(lane->ring, 7));
	assert_in_range(slot - (const char *)lane->ring, GP_RING_HEADER_BYTES,
			gp_ring_bytes(lane->slot_count) - GP_SLOT_BYTES);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_first_choice_is_shm),
		CASE(what_has_no_blocks_takes_nothing),
		CASE(what_others_take_need_not_be_seen),
		CASE(then_a_file_beside_the_trace),
		CASE(then_private_memory),
		CASE(other_file_systems_are_not_mapped),
		CASE(a_full_disk_leaves_nothing_behind),
		CASE(an_old_kernel_gets_its_pages_touched),
		CASE(a_page_that_cannot_be_had_is_an_error),
		CASE(rings_are_made_until_the_budget_is_used),
		CASE(a_failed_ring_leaves_the_file_as_it_was),
		CASE(a_strange_file_under_our_name_is_not_mapped),
		CASE(every_taker_gets_a_new_ring_id),
		CASE(where_big_rings_do_not_fit_small_ones_do),
		CASE(all_processes_together_keep_to_their_share),
		CASE(the_file_names_its_process_and_trace),
		CASE(a_late_record_stays_in_the_released_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

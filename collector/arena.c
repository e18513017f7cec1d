#include "collector/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/process_identity.h"
#include "collector/ring.h"
#include "collector/ring_quota.h"
#include "collector/text.h"

#define FILE_SYSTEM_TMPFS 0x01021994u
#define FILE_SYSTEM_EXT4  0x0000ef53u
#define FILE_SYSTEM_XFS   0x58465342u
#define FREE_SHARE        8 /* at most this part of the free space */
#define NAME_TRIES        4
#define BUDGET_PART       8 /* of --max-memory */

static_assert(sizeof(((struct gp_ring_file_header *)0)->trace_path) == GP_PATH_BYTES, "same limit");

/*
 * On other file systems another machine may truncate a mapped file, or blocks may not stay
 * allocated: SIGBUS.
 */
static bool file_system_keeps_blocks(uint64_t type, enum gp_ring_place place)
{
	if (place == GP_RINGS_SHM)
		return type == FILE_SYSTEM_TMPFS;
	return type == FILE_SYSTEM_TMPFS || type == FILE_SYSTEM_EXT4 || type == FILE_SYSTEM_XFS;
}

static int name_file(char *path, enum gp_ring_place place, const char *trace_path)
{
	struct gp_text name = gp_text_in(path, GP_PATH_BYTES);

	if (place == GP_RINGS_SHM) {
		gp_text_add(&name, GP_RING_FILE_FOLDER "/" GP_RING_FILE_PREFIX);
		gp_text_add_decimal(&name, gp_sys_user_id());
		gp_text_add(&name, "-");
		gp_text_add_decimal(&name, gp_sys_process_id());
		gp_text_add(&name, "-");
	} else {
		gp_text_add(&name, trace_path);
		gp_text_add(&name, GP_RING_FILE_PART);
	}
	gp_text_add_hex(&name, gp_sys_random());
	return name.cut ? -ENAMETOOLONG : 0;
}

static int create_file(struct gp_arena *arena, enum gp_ring_place place, const char *trace_path)
{
	int fd = -EEXIST;

	for (int try = 0; try < NAME_TRIES && fd == -EEXIST; try++) {
		int error = name_file(arena->path, place, trace_path);

		if (error)
			return error;
		fd = gp_sys_open(arena->path, O_RDWR | O_CREAT | O_EXCL, 0600);
	}
	return fd;
}

static int write_file_header(int fd, const char *trace_path)
{
	struct gp_ring_file_header header = {.pid = gp_sys_process_id()};
	char page[GP_RING_HEADER_BYTES] = {0};
	int error;

	header.pid_namespace = gp_process_identity_namespace("/proc/self/ns/pid");
	header.mount_namespace = gp_process_identity_namespace("/proc/self/ns/mnt");
	header.start_time = gp_process_identity_start_time();
	gp_process_identity_boot_id(header.boot_id, sizeof(header.boot_id));
	strncpy(header.trace_path, trace_path, sizeof(header.trace_path) - 1);
	memcpy(header.magic, GP_RING_FILE_MAGIC, sizeof(header.magic));
	memcpy(page, &header, sizeof(header));
	gp_sys_write(fd, page, sizeof(page), &error);
	return error;
}

/* The first ring becomes the shared one, which seldom holds much. */
static uint32_t next_slot_count(const struct gp_arena *arena)
{
	uint64_t after = arena->used_bytes + gp_ring_bytes(GP_ARENA_BIG_SLOTS);

	if (arena->lane_count == 0 || after > arena->budget_bytes / 2)
		return GP_ARENA_SMALL_SLOTS;
	return GP_ARENA_BIG_SLOTS;
}

/*
 * Includes the newly added bytes.  Two processes that add concurrently may both back off, which is
 * safe.
 */
static int check_share(const struct gp_arena *arena, int fd)
{
	uint64_t type, free_bytes, taken_bytes;
	int error;

	if (!arena->is_in_shm)
		return 0;
	error = gp_sys_file_system(fd, &type, &free_bytes);
	taken_bytes = gp_ring_quota_taken(); /* includes ours; 0 if unknown */
	if (!error && taken_bytes != 0 && gp_ring_quota_left(free_bytes + 1, taken_bytes - 1) == 0)
		error = -EDQUOT;
	return error;
}

static int map_ring(struct gp_arena *arena, int fd, size_t bytes, void **memory)
{
	int error;

	if (fd < 0)
		return gp_sys_map(-1, 0, bytes, memory);
	error = gp_sys_allocate(fd, arena->used_bytes, bytes);
	if (!error)
		error = check_share(arena, fd);
	if (!error)
		error = gp_sys_map(fd, arena->used_bytes, bytes, memory);
	if (error) /* a failed allocation may leave some blocks behind */
		gp_sys_truncate(fd, arena->used_bytes);
	return error;
}

static bool has_space(const struct gp_arena *arena)
{
	return gp_load32(&arena->lane_count) < GP_ARENA_LANES &&
	       arena->used_bytes + gp_ring_bytes(next_slot_count(arena)) <= arena->budget_bytes;
}

static int add_ring_of(struct gp_arena *arena, int fd, uint32_t slot_count)
{
	uint32_t lane = gp_load32(&arena->lane_count);
	size_t bytes = gp_ring_bytes(slot_count);
	void *memory;
	int error;

	error = map_ring(arena, fd, bytes, &memory);
	if (error)
		return error;
	arena->used_bytes += bytes;
	gp_ring_init(memory, slot_count);
	arena->lanes[lane].ring = memory;
	arena->lanes[lane].slot_count = slot_count;
	gp_add32(&arena->free_lanes, 1);
	gp_store32_release(&arena->lane_count, lane + 1);
	return 0;
}

/* fd < 0: in private memory.  If a big ring does not fit, a small one still may. */
static int add_ring(struct gp_arena *arena, int fd)
{
	uint32_t slot_count = next_slot_count(arena);
	int error = add_ring_of(arena, fd, slot_count);

	if (error && slot_count > GP_ARENA_SMALL_SLOTS)
		error = add_ring_of(arena, fd, GP_ARENA_SMALL_SLOTS);
	return error;
}

/* The file is opened by name each time; a different file under that name must not be mapped. */
static int reopen_file(struct gp_arena *arena)
{
	struct gp_file_id id;
	int fd = gp_sys_open(arena->path, O_RDWR, 0);
	int error;

	if (fd < 0)
		return fd;
	error = gp_sys_file_id(fd, &id);
	if (!error && (id.device != arena->file.device || id.inode != arena->file.inode))
		error = -ESTALE;
	if (!error)
		return fd;
	gp_sys_close(fd);
	return error;
}

bool gp_arena_wants_spare(const struct gp_arena *arena)
{
	uint32_t spare =
		next_slot_count(arena) == GP_ARENA_BIG_SLOTS ? GP_ARENA_SPARE : 2 * GP_ARENA_SPARE;

	return gp_load32(&arena->free_lanes) < spare;
}

static int grow(struct gp_arena *arena)
{
	int fd, error;

	if (!has_space(arena))
		return -ENOSPC;
	if (arena->path[0] == '\0')
		return add_ring(arena, -1);
	fd = arena->stays_open ? arena->fd : reopen_file(arena);
	if (fd < 0)
		return fd;
	error = add_ring(arena, fd);
	if (!arena->stays_open)
		gp_sys_close(fd);
	return error;
}

int gp_arena_grow(struct gp_arena *arena)
{
	int error = grow(arena);

	gp_store32(&arena->exhausted, error != 0);
	return error;
}

static int limit_budget(struct gp_arena *arena, uint64_t free_bytes)
{
	uint64_t most = arena->is_in_shm ? gp_ring_quota_left(free_bytes, gp_ring_quota_taken())
					 : free_bytes / FREE_SHARE;

	if (most < arena->budget_bytes)
		arena->budget_bytes = most;
	if (most >= GP_ARENA_MIN_BYTES)
		return 0;
	return arena->is_in_shm && free_bytes / FREE_SHARE >= GP_ARENA_MIN_BYTES ? -EDQUOT
										 : -ENOSPC;
}

static int fill_file(struct gp_arena *arena, int fd, enum gp_ring_place place,
		     const char *trace_path)
{
	uint64_t type, free_bytes;
	int error = gp_sys_file_system(fd, &type, &free_bytes);

	if (error)
		return error;
	if (!file_system_keeps_blocks(type, place))
		return -EOPNOTSUPP;
	error = limit_budget(arena, free_bytes);
	if (error)
		return error;
	error = gp_sys_file_id(fd, &arena->file);
	if (!error)
		error = write_file_header(fd, trace_path);
	arena->used_bytes = GP_RING_HEADER_BYTES;
	return error ? error : add_ring(arena, fd);
}

static int open_file(struct gp_arena *arena, enum gp_ring_place place, const char *trace_path)
{
	int fd, error;

	arena->budget_bytes = gp_memory_budget_share(GP_ARENA_MAX_BYTES, BUDGET_PART);
	arena->is_in_shm = place == GP_RINGS_SHM;
	fd = create_file(arena, place, trace_path);
	if (fd < 0) {
		arena->path[0] = '\0';
		return fd;
	}
	error = fill_file(arena, fd, place, trace_path);
	arena->fd = fd;
	if (error || !arena->stays_open)
		gp_sys_close(fd);
	if (error)
		gp_arena_remove(arena);
	return error;
}

static int open_memory(struct gp_arena *arena, uint64_t budget_bytes)
{
	arena->budget_bytes = gp_memory_budget_share(budget_bytes, BUDGET_PART);
	arena->is_in_shm = false;
	arena->used_bytes = 0;
	return add_ring(arena, -1);
}

int gp_arena_open(struct gp_arena *arena, enum gp_ring_place place, const char *trace_path)
{
	int shm_error, error;

	if (place == GP_RINGS_MEMORY)
		return open_memory(arena, GP_ARENA_MAX_BYTES);
	if (place == GP_RINGS_FILE)
		return open_file(arena, place, trace_path);
	shm_error = open_file(arena, GP_RINGS_SHM, trace_path);
	if (place == GP_RINGS_SHM && shm_error != -EDQUOT)
		return shm_error;
	error = shm_error ? open_file(arena, GP_RINGS_FILE, trace_path) : 0;
	if (!error)
		return 0;
	return open_memory(arena,
			   shm_error == -EDQUOT ? GP_ARENA_SCARCE_BYTES : GP_ARENA_MAX_BYTES);
}

static void bind(struct gp_arena *arena, struct gp_ring_header *ring, uint32_t thread)
{
	uint32_t id = gp_add32(&arena->last_ring, 1) + 1;

	/* The ring is empty: a concurrent reader finds no record to attribute. */
	gp_store64(&ring->call_ticks, 0);
	gp_store32(&ring->thread, thread);
	gp_store32(&ring->ring, id);
}

struct gp_lane *gp_arena_take(struct gp_arena *arena, uint32_t thread)
{
	uint32_t count = gp_load32_acquire(&arena->lane_count);

	if (gp_load32(&arena->free_lanes) == 0)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		struct gp_lane *lane = &arena->lanes[i];

		if (!gp_replace32(&lane->state, GP_LANE_FREE, GP_LANE_TAKEN))
			continue;
		gp_add32(&arena->free_lanes, (uint32_t)-1);
		bind(arena, lane->ring, thread);
		return lane;
	}
	return NULL;
}

static bool few_are_free(const struct gp_arena *arena)
{
	return gp_load32(&arena->free_lanes) == 0;
}

bool gp_arena_is_short(struct gp_arena *arena)
{
	return few_are_free(arena) && !gp_load32(&arena->exhausted);
}

bool gp_arena_close_lane(struct gp_arena *arena, struct gp_lane *lane)
{
	gp_store32_release(&lane->state, GP_LANE_CLOSING);
	return few_are_free(arena);
}

void gp_arena_recycle(struct gp_arena *arena, struct gp_lane *lane)
{
	gp_add32(&arena->free_lanes, 1);
	gp_store32_release(&lane->state, GP_LANE_FREE);
}

void gp_arena_replace_ring(const struct gp_lane *lane)
{
	if (gp_sys_map_in_child(lane->ring, gp_ring_bytes(lane->slot_count)) == 0)
		gp_ring_init(lane->ring, lane->slot_count);
}

void gp_arena_close(struct gp_arena *arena)
{
	if (arena->stays_open && arena->path[0] != '\0')
		gp_sys_close(arena->fd);
	arena->fd = -1;
}

void gp_arena_remove(struct gp_arena *arena)
{
	if (arena->path[0] != '\0')
		gp_sys_unlink(arena->path);
	arena->path[0] = '\0';
}

void gp_arena_release(struct gp_arena *arena)
{
	for (uint32_t i = 0; i < arena->lane_count; i++) {
		const struct gp_lane *lane = &arena->lanes[i];

		/* with its size, by which a late record finds its slot */
		if (gp_sys_map_over(lane->ring, gp_ring_bytes(lane->slot_count)) == 0)
			gp_ring_init(lane->ring, lane->slot_count);
	}
}

void gp_arena_unmap(struct gp_arena *arena)
{
	for (uint32_t i = 0; i < arena->lane_count; i++)
		gp_sys_unmap(arena->lanes[i].ring, gp_ring_bytes(arena->lanes[i].slot_count));
}

#include "report/trace/recover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "report/base/boot_id.h"
#include "report/base/array.h"
#include "report/base/named_file.h"

/*
 * Limit for one ring, and for the pending slots of all rings: 128 MiB. Real files have far less;
 * larger numbers are damage.
 */
#define MAX_RING_SLOTS (1u << 22)

static bool read_exactly(int fd, void *to, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* ---- process ---- */

static bool is_this_boot(const char *boot_id)
{
	char now[GP_BOOT_ID_TEXT_BYTES];

	return boot_id && gp_boot_id(now) && strcmp(now, boot_id) == 0;
}

/* Reads state and start time from /proc/PID/stat, whose second field may hold any character. */
static bool read_stat(uint32_t pid, char *state, uint64_t *start_time)
{
	char path[64], line[2048];
	const char *at;
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	got = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[got] = '\0';
	at = strrchr(line, ')');
	if (!at || sscanf(at + 1, " %c", state) != 1)
		return false;
	for (int field = 3; at && field <= 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%lu", start_time) == 1;
}

bool gp_process_is_live(const struct gp_process *process)
{
	uint64_t start_time;
	char state;

	if (process->pid == 0 || !is_this_boot(process->boot_id) ||
	    !read_stat(process->pid, &state, &start_time))
		return false;
	return start_time == process->start_time && state != 'Z' && state != 'X';
}

/* ---- ring file ---- */

/*
 * Whether the ring file belongs to this trace. The trace may have been moved, or a container may
 * show it under another path: so the file name must match, or the original path must be gone.
 */
static bool is_of_trace(const struct gp_ring_file_header *header, const char *trace_path)
{
	char *real = realpath(trace_path, NULL);
	const char *name = basename(real ? real : trace_path);
	bool same = strcmp(basename(header->trace_path), name) == 0 ||
		    access(header->trace_path, F_OK) != 0;

	free(real);
	return same;
}

int gp_rings_header(int fd, struct gp_ring_file_header *h)
{
	if (!read_exactly(fd, h, sizeof(*h), 0) || memcmp(h->magic, GP_RING_FILE_MAGIC, 8) != 0)
		return -EINVAL;
	h->boot_id[sizeof(h->boot_id) - 1] = '\0';
	h->trace_path[sizeof(h->trace_path) - 1] = '\0';
	return 0;
}

static int check_header(int fd, const struct gp_process *process, struct gp_ring_file_header *h)
{
	int error = gp_rings_header(fd, h);

	if (error)
		return error;
	if (h->pid != process->pid || h->start_time != process->start_time || !process->boot_id ||
	    strcmp(h->boot_id, process->boot_id) != 0)
		return -ESTALE;
	return 0;
}

static bool is_power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0;
}

/*
 * The tail must not be older than the head (tests/model/ring.pml), so it is read again after the
 * header: a copy is not ordered.
 */
static bool read_ring_header(int fd, uint64_t offset, struct gp_ring_header *h)
{
	return read_exactly(fd, h, sizeof(*h), offset) &&
	       read_exactly(fd, &h->tail, sizeof(h->tail),
			    offset + offsetof(struct gp_ring_header, tail)) &&
	       h->magic == GP_RING_MAGIC && is_power_of_two(h->slot_count) &&
	       h->slot_count <= MAX_RING_SLOTS;
}

/* Copies slots [first, first + count) of a ring in the order of their positions. */
static bool copy_slots(int fd, uint64_t offset, const struct gp_ring_header *h,
		       struct gp_ring *ring)
{
	uint64_t index = ring->first & (h->slot_count - 1);
	uint64_t until_wrap = h->slot_count - index;
	uint64_t front = ring->count < until_wrap ? ring->count : until_wrap;

	offset += GP_RING_HEADER_BYTES;
	return read_exactly(fd, ring->slots, front * GP_SLOT_BYTES,
			    offset + index * GP_SLOT_BYTES) &&
	       read_exactly(fd, ring->slots + front * GP_SLOT_BYTES,
			    (ring->count - front) * GP_SLOT_BYTES, offset);
}

/*
 * Drops the slots that the writer has released meanwhile: they may be overwritten, and the trace
 * file has them.
 */
static void drop_given_back(struct gp_ring *ring, const struct gp_ring_header *after)
{
	uint64_t gone = after->tail > ring->first ? after->tail - ring->first : 0;

	if (after->ring != ring->ring || gone > ring->count)
		gone = ring->count;
	ring->next = ring->first + gone;
}

/* Copies the pending slots of a ring. *room: number of slots that may still be copied. */
static int add_ring(int fd, uint64_t offset, const struct gp_ring_header *h, struct gp_rings *rings,
		    uint32_t *capacity, uint64_t *room)
{
	struct gp_ring ring = {h->ring, h->thread, h->tail, h->head - h->tail, NULL, h->tail};
	struct gp_ring_header after;

	if (h->ring == 0 || ring.count == 0 || ring.count > h->slot_count)
		return 0;
	if (ring.count > *room)
		return -EFBIG;
	*room -= ring.count;
	if (gp_array_grow(&rings->rings, capacity, rings->count, sizeof(ring)) != 0)
		return -ENOMEM;
	ring.slots = malloc(ring.count * GP_SLOT_BYTES);
	if (!ring.slots)
		return -ENOMEM;
	if (!copy_slots(fd, offset, h, &ring) || !read_ring_header(fd, offset, &after)) {
		free(ring.slots);
		return -EIO;
	}
	drop_given_back(&ring, &after);
	rings->rings[rings->count++] = ring;
	return 0;
}

/*
 * Adds the call in which a thread is. When the call returns, its record is published and head
 * moves.
 */
static int add_call(const struct gp_ring_header *h, struct gp_rings *rings, uint32_t *capacity)
{
	if (h->ring == 0 || h->thread == 0 || h->call_ticks == 0 || h->call_head != h->head)
		return 0;
	if (gp_array_grow(&rings->calls, capacity, rings->call_count, sizeof(*rings->calls)) != 0)
		return -ENOMEM;
	rings->calls[rings->call_count++] =
		(struct gp_record_waiting){.kind = GP_RECORD_WAITING,
					   .slots = 1,
					   .api = (uint16_t)h->call_api,
					   .thread_id = h->thread,
					   .start_ticks = h->call_ticks};
	return 0;
}

static void add_counts(struct gp_rings *rings, const struct gp_ring_header *h)
{
	rings->counters[GP_COUNTER_LOST_RING_FULL] += h->lost;
	rings->counters[GP_COUNTER_RING_WAITS] += h->waits;
	rings->counters[GP_COUNTER_HOOKS] += h->hooks;
	rings->counters[GP_COUNTER_HOOKS_SAMPLED] += h->hooks_sampled;
	rings->counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] += h->hooks_sampled_ticks;
	rings->counters[GP_COUNTER_NESTED_CALLBACKS] += h->nested_callbacks;
	for (size_t i = 0; i < GP_WRITE_CAUSES; i++)
		rings->counters[gp_write_causes[i]] += h->lost_writes[i];
	for (size_t i = 0; i < GP_COUNTERS; i++)
		rings->counters[i] += h->counters[i];
}

GP_COMPARE_BY(compare_rings, struct gp_ring, ring)

static int read_rings(int fd, struct gp_rings *rings)
{
	uint64_t offset = GP_RING_HEADER_BYTES;
	struct gp_ring_header header;
	uint64_t room = MAX_RING_SLOTS;
	uint32_t capacity = 0, call_capacity = 0;
	int result = 0;

	while (result == 0 && read_ring_header(fd, offset, &header)) {
		add_counts(rings, &header);
		result = add_call(&header, rings, &call_capacity);
		if (result == 0)
			result = add_ring(fd, offset, &header, rings, &capacity, &room);
		offset += GP_RING_HEADER_BYTES + (uint64_t)header.slot_count * GP_SLOT_BYTES;
	}
	if (result == 0)
		result = gp_array_sort(rings->rings, rings->count, sizeof(*rings->rings),
				       compare_rings, NULL);
	return result;
}

int gp_rings_open(const char *path)
{
	return gp_named_file_open(path, O_NOFOLLOW);
}

/* 0 = unknown, which counts as ours. */
static bool is_our_namespace(uint32_t number, const char *path)
{
	struct stat status;

	return number == 0 || (stat(path, &status) == 0 && (uint32_t)status.st_ino == number);
}

/*
 * The kernel grants a read lease only if no process, in any namespace, has the file open or mapped
 * for writing, and only to the file's owner. Without leases the death of the process must do, which
 * is known only in our own pid namespace.
 */
static bool may_have_writer(int fd, const struct gp_ring_file_header *header)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0)
		return errno == EAGAIN || errno == EACCES ||
		       !is_our_namespace(header->pid_namespace, "/proc/self/ns/pid");
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

int gp_rings_read(int file, const char *trace_path, const struct gp_process *process,
		  struct gp_rings *rings)
{
	struct gp_ring_file_header header;
	int result;

	*rings = (struct gp_rings){0};
	if (file < 0)
		return file;
	result = check_header(file, process, &header);
	if (result == 0 && !is_of_trace(&header, trace_path))
		result = -ESTALE;
	if (result == 0)
		result = read_rings(file, rings);
	if (result == 0)
		rings->are_left = !gp_process_is_live(process) && !may_have_writer(file, &header);
	else
		gp_rings_free(rings);
	return result;
}

bool gp_rings_are_of_our_files(const struct gp_ring_file_header *header)
{
	return is_our_namespace(header->mount_namespace, "/proc/self/ns/mnt");
}

/*
 * Whether the trace is the file that the ring file names, or, if that file is gone, a trace of the
 * same process.
 */
static bool is_this_trace(const struct gp_ring_file_header *header, int trace)
{
	struct stat named, ours;

	if (stat(header->trace_path, &named) != 0)
		return errno == ENOENT || errno == ENOTDIR;
	return fstat(trace, &ours) == 0 && named.st_dev == ours.st_dev &&
	       named.st_ino == ours.st_ino;
}

/* Root moves records of a user only into a file of that user, who gains nothing by it. */
static bool has_one_owner(int file, int trace)
{
	struct stat a, b;

	return fstat(file, &a) == 0 && fstat(trace, &b) == 0 && a.st_uid == b.st_uid &&
	       (a.st_uid == geteuid() || geteuid() == 0);
}

bool gp_rings_are_abandoned(int file, int trace, const struct gp_process *process)
{
	struct gp_ring_file_header header;

	return file >= 0 && has_one_owner(file, trace) && is_this_boot(process->boot_id) &&
	       !gp_process_is_live(process) && check_header(file, process, &header) == 0 &&
	       is_this_trace(&header, trace) && !may_have_writer(file, &header);
}

/* The folder is opened once: what its path leads to may be changed meanwhile. */
void gp_rings_remove(const char *path, int file)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct stat opened, named;
	char folder[PATH_MAX];
	int at;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(name - path) : 1,
		 slash ? path : ".");
	at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return;
	if (fstat(file, &opened) == 0 && fstatat(at, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
		unlinkat(at, name, 0);
	close(at);
}

void gp_rings_raise(const struct gp_rings *rings, uint64_t counters[GP_COUNTERS])
{
	for (size_t i = 0; i < GP_COUNTERS; i++)
		if (rings->counters[i] > counters[i])
			counters[i] = rings->counters[i];
}

void gp_rings_free(struct gp_rings *rings)
{
	for (uint32_t i = 0; i < rings->count; i++)
		free(rings->rings[i].slots);
	free(rings->rings);
	free(rings->calls);
	*rings = (struct gp_rings){0};
}

static bool is_earlier_ring(const void *element, const void *ring)
{
	return ((const struct gp_ring *)element)->ring < *(const uint32_t *)ring;
}

void gp_rings_cover(struct gp_rings *rings, uint32_t ring, uint64_t end)
{
	uint32_t at = gp_array_lower_bound(rings->rings, rings->count, sizeof(*rings->rings),
					   is_earlier_ring, &ring);

	if (at < rings->count && rings->rings[at].ring == ring && end > rings->rings[at].next)
		rings->rings[at].next = end;
}

uint64_t gp_ring_left(const struct gp_ring *ring, const uint8_t **slots)
{
	uint64_t covered = ring->next - ring->first;

	if (covered >= ring->count)
		return 0;
	*slots = ring->slots + covered * GP_SLOT_BYTES;
	return ring->count - covered;
}

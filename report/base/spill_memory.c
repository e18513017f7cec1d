#include "report/base/spill_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "report/base/memory.h"

#define SMALL_BYTES ((size_t)1 << 20) /* smaller blocks are always memory, and are not counted */

/* A block that is a file. */
struct file {
	void *start;
	size_t bytes;
	const char *folder;
	int fd;
};

static struct {
	uint64_t limit_bytes, memory_bytes;
	struct file *files;
	size_t count, capacity;
	char trouble[GP_SPILL_TROUBLE_BYTES];
} blocks = {.limit_bytes = UINT64_MAX};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gp_spill_limit(uint64_t bytes)
{
	pthread_mutex_lock(&lock);
	blocks.limit_bytes = bytes;
	pthread_mutex_unlock(&lock);
}

void gp_spill_trouble(char text[GP_SPILL_TROUBLE_BYTES])
{
	pthread_mutex_lock(&lock);
	memcpy(text, blocks.trouble, sizeof(blocks.trouble));
	pthread_mutex_unlock(&lock);
}

/* ---- memory ---- */

/* The bytes that a block in memory counts against the limit. */
static uint64_t counted(void *block)
{
	size_t bytes = malloc_usable_size(block);

	return bytes < SMALL_BYTES ? 0 : bytes;
}

static bool fits_in_memory(uint64_t given_back, size_t bytes)
{
	uint64_t others = blocks.memory_bytes - given_back;

	return bytes < SMALL_BYTES ||
	       (others <= blocks.limit_bytes && bytes <= blocks.limit_bytes - others);
}

static void *resize_in_memory(void *block, size_t bytes)
{
	uint64_t before = counted(block);
	void *resized = gp_memory_try_resize(block, bytes > 0 ? bytes : 1);

	if (resized)
		blocks.memory_bytes += counted(resized) - before;
	return resized;
}

static void free_memory(void *block)
{
	uint64_t bytes = counted(block);

	blocks.memory_bytes -=
		bytes < blocks.memory_bytes
			? bytes
			: blocks.memory_bytes; /* a block of malloc() was not counted */
	free(block);
}

/* ---- files ---- */

/* SIGBUS: the disk of a mapped file failed. */
static void tell_lost(int number)
{
	static const char text[] =
		"gpuprof: a temporary file could not be read or written: its disk failed; set TMPDIR to a folder elsewhere\n";

	(void)number;
	_exit(write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 2 : 1);
}

static struct file *find(const void *block)
{
	for (size_t i = 0; i < blocks.count; i++)
		if (blocks.files[i].start == block)
			return &blocks.files[i];
	return NULL;
}

/*
 * Allocates the file's bytes on the disk now, so that no later access fails for lack of space.
 * Returns 0 or an errno value.
 */
static int extend(int fd, size_t from, size_t bytes)
{
	if (bytes > (uint64_t)INT64_MAX)
		return EFBIG;
	return posix_fallocate(fd, (off_t)from, (off_t)(bytes - from));
}

static bool is_in_memory(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) == 0 &&
	       (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
}

static void note_trouble(const char *folder, size_t bytes, const char *why)
{
	if (!blocks.trouble[0])
		snprintf(blocks.trouble, sizeof(blocks.trouble), "%.*s, for %zu MB: %s", PATH_MAX,
			 folder, bytes / 1000000, why);
}

/* The descriptor of an unlinked file, or -1. */
static int open_in(const char *folder, size_t bytes)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/gpuprof-XXXXXX", folder);
	int fd = length > 0 && (size_t)length < sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
	int error;

	if (fd < 0) {
		note_trouble(folder, bytes, strerror(errno));
		return -1;
	}
	unlink(path);
	error = is_in_memory(fd) ? ENOTBLK : extend(fd, 0, bytes);
	if (error == 0)
		return fd;
	note_trouble(folder, bytes,
		     error == ENOTBLK ? "it is in memory, not on a disk" : strerror(error));
	close(fd);
	return -1;
}

/* Opens a file in the first folder with enough space. Returns -1 if there is none. */
static int open_anywhere(size_t bytes, const char **folder)
{
	const char *folders[] = {getenv("TMPDIR"), "/var/tmp", "/tmp"};

	signal(SIGXFSZ, SIG_IGN); /* makes writes beyond RLIMIT_FSIZE fail instead */
	blocks.trouble[0] = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int fd = folders[i] && folders[i][0] ? open_in(folders[i], bytes) : -1;

		*folder = folders[i];
		if (fd < 0)
			continue;
		blocks.trouble[0] = '\0';
		return fd;
	}
	return -1;
}

static bool make_slot(void)
{
	size_t capacity = blocks.capacity > 0 ? 2 * blocks.capacity : 16;
	struct file *files;

	if (blocks.count < blocks.capacity)
		return true;
	files = gp_memory_try_resize(blocks.files, capacity * sizeof(*files));
	if (!files)
		return false;
	blocks.files = files;
	blocks.capacity = capacity;
	return true;
}

static void *map(int fd, size_t bytes, const char *folder)
{
	const struct sigaction on_failure = {.sa_handler = tell_lost};
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (start == MAP_FAILED)
		return NULL;
	if (blocks.count == 0)
		sigaction(SIGBUS, &on_failure, NULL);
	blocks.files[blocks.count++] = (struct file){start, bytes, folder, fd};
	return start;
}

/* Zeroed; or NULL. */
static void *take_file(size_t bytes)
{
	const char *folder = NULL;
	int fd = make_slot() ? open_anywhere(bytes, &folder) : -1;
	void *start = fd >= 0 ? map(fd, bytes, folder) : NULL;

	if (fd >= 0 && !start)
		close(fd);
	return start;
}

static void *resize_file(struct file *file, size_t bytes)
{
	int error = bytes > file->bytes ? extend(file->fd, file->bytes, bytes) : 0;
	void *start;

	if (error != 0) {
		blocks.trouble[0] = '\0';
		note_trouble(file->folder, bytes, strerror(error));
		return NULL;
	}
	start = mremap(file->start, file->bytes, bytes, MREMAP_MAYMOVE);
	if (start == MAP_FAILED)
		return NULL;
	file->start = start;
	file->bytes = bytes;
	return start;
}

static void free_file(struct file *file)
{
	munmap(file->start, file->bytes);
	close(file->fd);
	*file = blocks.files[--blocks.count];
}

/* ---- memory or file ---- */

static void *move_to_file(void *block, size_t bytes)
{
	size_t before = malloc_usable_size(block);
	void *moved = take_file(bytes);

	if (moved && block) {
		memcpy(moved, block, before < bytes ? before : bytes);
		free_memory(block);
	}
	return moved;
}

static void *resize(void *block, size_t bytes)
{
	struct file *file = find(block);
	void *resized = NULL;

	if (file)
		return resize_file(file, bytes > 0 ? bytes : 1);
	if (fits_in_memory(counted(block), bytes))
		resized = resize_in_memory(block, bytes);
	if (!resized && bytes >= SMALL_BYTES)
		resized = move_to_file(block, bytes);
	return resized ? resized : resize_in_memory(block, bytes);
}

void *gp_spill_resize(void *block, size_t bytes)
{
	void *resized;

	pthread_mutex_lock(&lock);
	resized = resize(block, bytes);
	pthread_mutex_unlock(&lock);
	return gp_memory_check(resized);
}

void *gp_spill_take(size_t bytes)
{
	return gp_spill_resize(NULL, bytes);
}

/* calloc() instead of gp_spill_take() and memset(): untouched pages take no memory. */
static void *take_zeroed_memory(size_t count, size_t element_bytes)
{
	void *block = gp_memory_try_zeroed(count > 0 ? count : 1, element_bytes);

	blocks.memory_bytes += counted(block);
	return block;
}

static void *take_zeroed(size_t count, size_t element_bytes, size_t bytes)
{
	void *block = NULL;

	if (fits_in_memory(0, bytes))
		block = take_zeroed_memory(count, element_bytes);
	if (!block && bytes >= SMALL_BYTES)
		block = take_file(bytes);
	return block ? block : take_zeroed_memory(count, element_bytes);
}

void *gp_spill_take_zeroed(size_t count, size_t element_bytes)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, element_bytes, &bytes))
		return gp_memory_check(NULL);
	pthread_mutex_lock(&lock);
	block = take_zeroed(count, element_bytes, bytes);
	pthread_mutex_unlock(&lock);
	return gp_memory_check(block);
}

void gp_spill_free(void *block)
{
	struct file *file;

	pthread_mutex_lock(&lock);
	file = find(block);
	if (file)
		free_file(file);
	else
		free_memory(block);
	pthread_mutex_unlock(&lock);
}

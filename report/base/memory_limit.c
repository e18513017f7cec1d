#include "report/base/memory_limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LINE_BYTES 512

/* ---- files that hold numbers ---- */

static FILE *open_below(const char *root, const char *folder, const char *name)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s%s/%s", root, folder, name);

	return length > 0 && (size_t)length < sizeof(path) ? fopen(path, "re") : NULL;
}

/* Reads a file that holds a number. Returns false if there is none ("max" stands for no limit). */
static bool read_number(const char *root, const char *folder, const char *name, uint64_t *number)
{
	FILE *file = open_below(root, folder, name);
	bool found = file && fscanf(file, "%" SCNu64, number) == 1;

	if (file)
		fclose(file);
	return found;
}

/* The number after `word` at the beginning of a line; 0 if there is no such line. */
static uint64_t read_field(const char *root, const char *folder, const char *name, const char *word)
{
	FILE *file = open_below(root, folder, name);
	char line[LINE_BYTES];
	size_t length = strlen(word);
	uint64_t value = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, word, length) == 0 &&
		    sscanf(line + length, " %" SCNu64, &value) == 1)
			break;
	if (file)
		fclose(file);
	return value;
}

/* ---- control groups ---- */

/*
 * The files of each version of control groups. The kernel can reclaim the page cache, but not
 * shared memory, which counts as page cache.
 */
static const struct version {
	const char *controller; /* in a line of /proc/self/cgroup; "" = all controllers */
	const char *mount;
	const char *limit, *used, *cached, *shared;
} versions[] = {
	{"", "/sys/fs/cgroup", "memory.max", "memory.current", "file ", "shmem "},
	{"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "total_cache ", "total_shmem "},
};

static uint64_t left_in_group(const char *root, const struct version *v, const char *folder)
{
	uint64_t limit, used, cached, shared;

	if (!read_number(root, folder, v->limit, &limit) ||
	    !read_number(root, folder, v->used, &used))
		return UINT64_MAX;
	cached = read_field(root, folder, "memory.stat", v->cached);
	shared = read_field(root, folder, "memory.stat", v->shared);
	cached = cached > shared ? cached - shared : 0;
	used = used > cached ? used - cached : 0;
	return limit > used ? limit - used : 0;
}

/* The least of a group and its parents; path begins with a slash. */
static uint64_t left_in_groups(const char *root, const struct version *v, const char *path)
{
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX;
	int length = snprintf(folder, sizeof(folder), "%s%s", v->mount, path);

	if (length < 0 || (size_t)length >= sizeof(folder))
		return UINT64_MAX;
	while (strlen(folder) >= strlen(v->mount)) {
		uint64_t left = left_in_group(root, v, folder);

		least = left < least ? left : least;
		*strrchr(folder, '/') = '\0';
	}
	return least;
}

/* A line reads NUMBER:CONTROLLERS:PATH. */
static uint64_t left_by_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(++controllers, ':') : NULL;

	if (!path || path[1] != '/')
		return UINT64_MAX;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(controllers, versions[i].controller) == 0)
			return left_in_groups(root, &versions[i], path);
	return UINT64_MAX;
}

uint64_t gp_memory_left(const char *root)
{
	uint64_t kib = read_field(root, "/proc", "meminfo", "MemAvailable:");
	uint64_t least = kib != 0 && kib < UINT64_MAX / 1024 ? kib * 1024 : UINT64_MAX;
	FILE *file = open_below(root, "/proc/self", "cgroup");
	char line[PATH_MAX];

	while (file && fgets(line, sizeof(line), file)) {
		uint64_t left = left_by_line(root, line);

		least = left < least ? left : least;
	}
	if (file)
		fclose(file);
	return least;
}

/* ---- the limit ---- */

static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (file && fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t gp_memory_keep_within(uint64_t left_bytes)
{
	uint64_t used = data_bytes(), most;
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) != 0)
		return left_bytes;
	if (__builtin_add_overflow(used, left_bytes, &most))
		most = RLIM_INFINITY;
	if (most < limit.rlim_cur) {
		limit.rlim_cur = most;
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

#include "report/symbols/perf_map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/base/array.h"
#include "report/base/named_file.h"
#include "report/base/shared_folder.h"

#define MOST_OVERLAPPING 64u /* functions that are examined for one address */

struct function {
	uint64_t start;
	uint64_t bytes;
	const char *name;
	uint32_t line;
};

struct gp_perf_map {
	char *text;                 /* the file, with NULs in place of newlines */
	struct function *functions; /* by start, then by line */
	uint32_t count, capacity;
};

/* ---- file ---- */

static bool is_trusted(int fd, int64_t from_s, int64_t to_s)
{
	struct stat st;

	return fstat(fd, &st) == 0 && gp_owner_is_trusted(st.st_uid) && st.st_mtime >= from_s &&
	       st.st_mtime <= to_s;
}

/* Reads the file up to the limit, and appends a NUL. */
static char *read_text(int fd)
{
	size_t used = 0, room = 1 << 16;
	char *text = malloc(room + 1);
	ssize_t got = 1;

	while (text && got > 0 && used < GP_PERF_MAP_BYTES) {
		if (used == room) {
			char *larger = realloc(text, 2 * room + 1);

			if (!larger)
				break;
			text = larger;
			room *= 2;
		}
		got = read(fd, text + used, room - used);
		used += got > 0 ? (size_t)got : 0;
	}
	if (text)
		text[used] = '\0';
	return text;
}

/* ---- lines ---- */

static bool take_number(char **at, uint64_t *number)
{
	char *end;

	if (!strchr("0123456789abcdefABCDEF", **at) || **at == '\0')
		return false;
	*number = strtoull(*at, &end, 16);
	if (*end != ' ')
		return false;
	*at = end + 1;
	return true;
}

static void clean(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			*name = '?';
}

static int take_line(struct gp_perf_map *map, char *line, uint32_t number)
{
	struct function function = {.line = number};

	if (!take_number(&line, &function.start) || !take_number(&line, &function.bytes) ||
	    *line == '\0')
		return 0;
	if (gp_array_grow(&map->functions, &map->capacity, map->count, sizeof(*map->functions)) !=
	    0)
		return -1;
	clean(line);
	function.name = line;
	map->functions[map->count++] = function;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static void take_lines(struct gp_perf_map *map)
{
	char *line = map->text, *end;

	for (uint32_t number = 0; line; number++, line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		if (take_line(map, line, number) != 0)
			break;
	}
	if (map->count > 0)
		qsort(map->functions, map->count, sizeof(*map->functions), compare);
}

struct gp_perf_map *gp_perf_map_open(const char *path, int64_t from_s, int64_t to_s)
{
	struct gp_perf_map *map = NULL;
	int fd = gp_named_file_open(path, O_NOFOLLOW);

	if (fd < 0)
		return NULL;
	if (is_trusted(fd, from_s, to_s))
		map = calloc(1, sizeof(*map));
	if (map)
		map->text = read_text(fd);
	close(fd);
	if (map && map->text)
		take_lines(map);
	return map;
}

void gp_perf_map_free(struct gp_perf_map *map)
{
	if (!map)
		return;
	free(map->functions);
	free(map->text);
	free(map);
}

/* ---- search ---- */

static bool begins_until(const void *element, const void *address)
{
	return ((const struct function *)element)->start <= *(const uint64_t *)address;
}

/* The number of functions that begin at the address or before it. */
static uint32_t count_before(const struct gp_perf_map *map, uint64_t address)
{
	return gp_array_lower_bound(map->functions, map->count, sizeof(*map->functions),
				    begins_until, &address);
}

const char *gp_perf_map_find(const struct gp_perf_map *map, uint64_t address)
{
	const struct function *best = NULL;
	uint32_t at = count_before(map, address);

	for (uint32_t i = 0; i < MOST_OVERLAPPING && at > 0; i++) {
		const struct function *function = &map->functions[--at];

		if (address - function->start < function->bytes &&
		    (!best || function->line > best->line))
			best = function;
	}
	return best ? best->name : NULL;
}

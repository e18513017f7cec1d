/*
 * perf_map_fuzz: any bytes as the file that a compiler at run time writes for perf must give names
 * or none.
 *
 *	make fuzz-perf_map FUZZ_SECONDS=30
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

/* A file of its own: links are not followed. */
static void write_map(const uint8_t *data, size_t size)
{
	static int file = -1;

	if (file < 0) {
		strcpy(path, "/tmp/perf-map-fuzz-XXXXXX");
		file = mkstemp(path);
		atexit(remove_file);
	}
	if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_perf_map *map;
	uint64_t address = 0;

	write_map(data, size);
	map = gp_perf_map_open(path, 0, INT64_MAX);
	if (size >= sizeof(address))
		memcpy(&address, data, sizeof(address));
	for (unsigned i = 0; map && i < 64; i++) {
		const char *name =
			gp_perf_map_find(map, i < 32 ? (uint64_t)i * i : address >> (i - 32));

		for (const char *at = name; at && *at; at++)
			if ((unsigned char)*at < 0x20)
				abort();
	}
	gp_perf_map_free(map);
	return 0;
}

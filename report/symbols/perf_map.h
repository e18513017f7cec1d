/*
 * perf_map: names of JIT-compiled code, from the file that JIT compilers write for perf:
 * /tmp/perf-PID.map, one line "START SIZE NAME" for each function, in hexadecimal.
 *
 * Every user can put a file there with any content. So it follows no links, reads no files of other
 * users, reads at most GP_PERF_MAP_BYTES, and removes control characters from names.
 */
#ifndef REPORT_SYMBOLS_PERF_MAP_H
#define REPORT_SYMBOLS_PERF_MAP_H

#include <stdint.h>

#define GP_PERF_MAP_BYTES (64u << 20)

struct gp_perf_map;

/*
 * Returns NULL if there is no such file that was last written between the two times (seconds since
 * 1970).
 */
struct gp_perf_map *gp_perf_map_open(const char *path, int64_t from_s, int64_t to_s);
void gp_perf_map_free(struct gp_perf_map *map);

/*
 * The name of the function at an address; of several, that of the last line; NULL if there is none.
 * Lives as long as the map.
 */
const char *gp_perf_map_find(const struct gp_perf_map *map, uint64_t address);

#endif

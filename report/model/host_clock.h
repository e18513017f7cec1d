/*
 * host_clock: the clock of a host, aligned with that of the host of rank 0.
 *
 * report/tables/by/host_clocks.h finds it; a model that is loaded with it has aligned times.
 */
#ifndef REPORT_MODEL_HOST_CLOCK_H
#define REPORT_MODEL_HOST_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "report/base/boot_id.h"

struct gp_host_clock {
	char boot[GP_BOOT_ID_TEXT_BYTES]; /* of the host */
	bool is_known;                    /* else the host's wall clock counts */
	/* one moment by the host's CLOCK_MONOTONIC, and by the wall clock of the host of rank 0 */
	uint64_t monotonic_ns, unix_ns;
	double drift;     /* unix_ns gains so many ns in each ns of monotonic_ns */
	int64_t ahead_ns; /* the host's wall clock less that of rank 0's host, at that moment */
	uint64_t error_ns;
	uint32_t operations; /* number of operations used; 0 = this is the host of rank 0 */
};

/* Zeroed = none. */
struct gp_host_clocks {
	struct gp_host_clock *hosts;
	uint32_t count, capacity;
};

/* The clock of the host with this boot id (NULL = unknown), or NULL. */
static inline struct gp_host_clock *gp_host_clock_find(const struct gp_host_clocks *clocks,
						       const char *boot)
{
	for (uint32_t i = 0; boot && clocks && i < clocks->count; i++)
		if (strcmp(clocks->hosts[i].boot, boot) == 0)
			return &clocks->hosts[i];
	return NULL;
}

/* The aligned Unix time of a moment of the host. */
static inline uint64_t gp_host_clock_unix_ns(const struct gp_host_clock *clock,
					     uint64_t monotonic_ns)
{
	int64_t passed_ns = (int64_t)(monotonic_ns - clock->monotonic_ns);

	return clock->unix_ns + (uint64_t)passed_ns +
	       (uint64_t)(int64_t)(clock->drift * (double)passed_ns);
}

#endif

/* monotonic: the time now by CLOCK_MONOTONIC, the clock of the traces. */
#ifndef REPORT_BASE_MONOTONIC_H
#define REPORT_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

static inline uint64_t gp_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

#endif

/*
 * stats: what a set of whole numbers (ns, bytes) amounts to, exactly: no sampling, no sketches.
 *
 * The standard deviation is that of the values themselves (divided by their count, not count - 1):
 * all of them were measured. The median of an even count is the mean of the two in the middle.
 */
#ifndef REPORT_BASE_STATS_H
#define REPORT_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

struct gp_stats {
	size_t count;
	uint64_t total; /* modulo 2^64 */
	uint64_t min, max;
	double mean;
	double median;
	double deviation;
};

/* All zero for no values. The time is linear whatever the values are. */
struct gp_stats gp_stats_of(const uint64_t *values, size_t count);

/* The value that would stand at index rank if they were sorted; rank < count. Linear time, no
 * memory. */
uint64_t gp_stats_select(const uint64_t *values, size_t count, size_t rank);

#endif

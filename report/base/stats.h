/*
 * stats: exact statistics of whole numbers (ns, bytes), without sampling or sketches.
 *
 * The standard deviation is that of the population (divided by count, not count - 1), as all values
 * were measured. The median of an even count is the mean of the two values in the middle.
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

/* All zero without values. Linear time. */
struct gp_stats gp_stats_of(const uint64_t *values, size_t count);

/* The value at index `rank` of the sorted values; rank < count. Takes linear time and no memory. */
uint64_t gp_stats_select(const uint64_t *values, size_t count, size_t rank);

#endif

/*
 * interval: unions of time spans. The one place that decides whether two spans are one.
 */
#ifndef REPORT_BASE_INTERVAL_H
#define REPORT_BASE_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct gp_interval {
	uint64_t start_ns, end_ns;
};

/* Replaces the intervals by their union: disjoint, in order, none empty. Returns their number. */
size_t gp_interval_join(struct gp_interval *intervals, size_t count);

/* The length of the union of the intervals. Sorts them. */
uint64_t gp_interval_union(struct gp_interval *intervals, size_t count);

/*
 * Adds an interval to a union. It must not begin before the union's last one; the array has space
 * for it.
 */
static inline void gp_interval_put(struct gp_interval *joined, uint32_t *count,
				   struct gp_interval one)
{
	if (*count == 0 || one.start_ns > joined[*count - 1].end_ns)
		joined[(*count)++] = one;
	else if (one.end_ns > joined[*count - 1].end_ns)
		joined[*count - 1].end_ns = one.end_ns;
}

/*
 * As gp_interval_put() for the length alone: *reached_ns is the end of the union so far. Returns
 * the length that the interval adds.
 */
static inline uint64_t gp_interval_reach(uint64_t *reached_ns, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = start_ns > *reached_ns ? start_ns : *reached_ns;

	if (end_ns <= from_ns)
		return 0;
	*reached_ns = end_ns;
	return end_ns - from_ns;
}

#endif

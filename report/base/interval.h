/*
 * interval: unions of spans of time: the one place that knows when two of them are one.
 */
#ifndef REPORT_BASE_INTERVAL_H
#define REPORT_BASE_INTERVAL_H

#include <stddef.h>
#include <stdint.h>

struct gp_interval {
	uint64_t start_ns, end_ns;
};

/* Makes of intervals those of their union: disjoint, in order, none empty.  Returns how many. */
size_t gp_interval_join(struct gp_interval *intervals, size_t count);

/* Length of the union of the intervals, which are sorted on the way. */
uint64_t gp_interval_union(struct gp_interval *intervals, size_t count);

/* Adds one to a union whose last one begins no later; there is room. */
static inline void gp_interval_put(struct gp_interval *joined, uint32_t *count,
				   struct gp_interval one)
{
	struct gp_interval *last = *count > 0 ? &joined[*count - 1] : NULL;

	if (!last || one.start_ns > last->end_ns)
		joined[(*count)++] = one;
	else if (one.end_ns > last->end_ns)
		last->end_ns = one.end_ns;
}

/*
 * The same where the length alone counts: *reached_ns is where all so far end.  Returns the length
 * that is new.
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

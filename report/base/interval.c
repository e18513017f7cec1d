#include "report/base/interval.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare_starts(const void *a, const void *b)
{
	const struct gp_interval *left = a, *right = b;

	return (left->start_ns > right->start_ns) - (left->start_ns < right->start_ns);
}

static bool are_sorted(const struct gp_interval *intervals, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (intervals[i].start_ns < intervals[i - 1].start_ns)
			return false;
	return true;
}

static void sort(struct gp_interval *intervals, size_t count)
{
	if (!are_sorted(intervals, count))
		qsort(intervals, count, sizeof(*intervals), compare_starts);
}

size_t gp_interval_join(struct gp_interval *intervals, size_t count)
{
	uint32_t joined = 0;

	sort(intervals, count);
	for (size_t i = 0; i < count; i++)
		if (intervals[i].end_ns != intervals[i].start_ns)
			gp_interval_put(intervals, &joined, intervals[i]);
	return joined;
}

uint64_t gp_interval_union(struct gp_interval *intervals, size_t count)
{
	uint64_t total_ns = 0, reached_ns = 0;

	sort(intervals, count);
	for (size_t i = 0; i < count; i++)
		total_ns +=
			gp_interval_reach(&reached_ns, intervals[i].start_ns, intervals[i].end_ns);
	return total_ns;
}

/*
 * histogram: statistics of any number of durations in constant memory.
 *
 * Count, sum, least, most and deviation are exact, however many histograms are joined and in
 * whatever order. The median comes from sixteen steps per power of two: it is off by at most 3.2 %,
 * and exact below 32 ns and for one or two durations.
 */
#ifndef REPORT_BASE_HISTOGRAM_H
#define REPORT_BASE_HISTOGRAM_H

#include <stdint.h>

#include "report/base/stats.h"

/* The last step holds all durations from 2^40 ns (eighteen minutes) on. */
#define GP_HISTOGRAM_STEPS  16u /* a power of two */
#define GP_HISTOGRAM_POWERS 40u
#define GP_HISTOGRAM_COUNTS ((GP_HISTOGRAM_POWERS - 3) * GP_HISTOGRAM_STEPS + 1)

/* Zeroed = empty. */
struct gp_histogram {
	uint64_t count, total_ns; /* modulo 2^64 */
	uint64_t least_ns, most_ns;
	unsigned __int128 squares;
	uint64_t counts[GP_HISTOGRAM_COUNTS];
};

/* The step that holds a duration. */
static inline uint32_t gp_histogram_step(uint64_t ns)
{
	uint32_t power;

	if (ns < GP_HISTOGRAM_STEPS)
		return (uint32_t)ns;
	power = 63 - (uint32_t)__builtin_clzll(ns);
	if (power >= GP_HISTOGRAM_POWERS)
		return GP_HISTOGRAM_COUNTS - 1;
	return (power - 3) * GP_HISTOGRAM_STEPS +
	       (uint32_t)(ns >> (power - 4)) % GP_HISTOGRAM_STEPS;
}

static inline void gp_histogram_add(struct gp_histogram *histogram, uint64_t ns)
{
	if (histogram->count++ == 0 || ns < histogram->least_ns)
		histogram->least_ns = ns;
	if (ns > histogram->most_ns)
		histogram->most_ns = ns;
	histogram->total_ns += ns;
	histogram->squares += (unsigned __int128)ns * ns;
	histogram->counts[gp_histogram_step(ns)]++;
}

/* Adds all durations of another histogram. */
void gp_histogram_join(struct gp_histogram *histogram, const struct gp_histogram *other);

/*
 * As gp_histogram_join() for durations in a unit of `ns` nanoseconds. Each one is rounded; the
 * median may be off by two steps.
 */
void gp_histogram_join_scaled(struct gp_histogram *histogram, const struct gp_histogram *other,
			      double ns);

/* All zero without durations. */
struct gp_stats gp_histogram_stats(const struct gp_histogram *histogram);

#endif

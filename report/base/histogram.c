#include "report/base/histogram.h"

#include <math.h>

void gp_histogram_join(struct gp_histogram *s, const struct gp_histogram *other)
{
	if (other->count == 0)
		return;
	if (s->count == 0 || other->least_ns < s->least_ns)
		s->least_ns = other->least_ns;
	if (other->most_ns > s->most_ns)
		s->most_ns = other->most_ns;
	s->count += other->count;
	s->total_ns += other->total_ns;
	s->squares += other->squares;
	for (uint32_t i = 0; i < GP_HISTOGRAM_COUNTS; i++)
		s->counts[i] += other->counts[i];
}

/* The variance of the population. */
static long double variance_of(const struct gp_histogram *s)
{
	long double mean = (long double)s->total_ns / s->count;
	long double variance = (long double)s->squares / s->count - mean * mean;

	return variance > 0 ? variance : 0;
}

/* The middle of a step. For the last step, which has no end: its beginning. */
static double middle_of(uint32_t step)
{
	uint32_t power = step / GP_HISTOGRAM_STEPS + 3;
	double width;

	if (step < 2 * GP_HISTOGRAM_STEPS)
		return step;
	width = (double)(UINT64_C(1) << (power - 4));
	if (step == GP_HISTOGRAM_COUNTS - 1)
		return width * GP_HISTOGRAM_STEPS;
	return width * (GP_HISTOGRAM_STEPS + step % GP_HISTOGRAM_STEPS) + (width - 1) / 2;
}

/* Clamps the value, as a damaged trace may hold any number. */
static uint64_t whole(double value)
{
	return value < 0x1p63 ? (uint64_t)value : UINT64_C(1) << 63;
}

static uint64_t scaled(uint64_t value, double ns)
{
	return whole((double)value * ns + 0.5);
}

void gp_histogram_join_scaled(struct gp_histogram *s, const struct gp_histogram *other, double ns)
{
	struct gp_histogram in_ns = {
		.count = other->count,
		.total_ns = scaled(other->total_ns, ns),
		.least_ns = scaled(other->least_ns, ns),
		.most_ns = scaled(other->most_ns, ns),
	};
	long double total_ns = in_ns.total_ns;

	if (ns == 1 || other->count == 0) {
		gp_histogram_join(s, other);
		return;
	}
	/* chosen so that mean and deviation survive the scaling */
	in_ns.squares = (unsigned __int128)fminl(variance_of(other) * ns * ns * other->count +
							 total_ns * total_ns / other->count,
						 0x1p126L);
	for (uint32_t i = 0; i < GP_HISTOGRAM_COUNTS; i++)
		in_ns.counts[gp_histogram_step(whole(middle_of(i) * ns))] += other->counts[i];
	gp_histogram_join(s, &in_ns);
}

/*
 * The value at a rank, 0 = the least: the middle of its step, within the least and the most value.
 */
static double value_at(const struct gp_histogram *s, uint64_t rank)
{
	uint64_t before = 0;
	uint32_t step = 0;
	double middle;

	if (rank == 0)
		return (double)s->least_ns;
	if (rank == s->count - 1)
		return (double)s->most_ns;
	while (before + s->counts[step] <= rank)
		before += s->counts[step++];
	middle = middle_of(step);
	if (middle < (double)s->least_ns)
		return (double)s->least_ns;
	return middle > (double)s->most_ns ? (double)s->most_ns : middle;
}

/* With an even count, the two values in the middle may lie in different steps. */
static double median_of(const struct gp_histogram *s)
{
	double lower = value_at(s, (s->count - 1) / 2);

	return s->count % 2 ? lower : (lower + value_at(s, s->count / 2)) / 2;
}

struct gp_stats gp_histogram_stats(const struct gp_histogram *s)
{
	if (s->count == 0)
		return (struct gp_stats){0};
	return (struct gp_stats){
		.count = s->count,
		.total = s->total_ns,
		.min = s->least_ns,
		.max = s->most_ns,
		.mean = (double)((long double)s->total_ns / s->count),
		.median = median_of(s),
		.deviation = (double)sqrtl(variance_of(s)),
	};
}

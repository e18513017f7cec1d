#include "report/base/stats.h"

#include <math.h>

/*
 * Counts, for each value of the byte at `shift`, the values that have it and agree with `prefix` in
 * all higher bits.
 */
static void count_bytes(const uint64_t *values, size_t count, uint64_t prefix, int shift,
			size_t counts[256])
{
	for (size_t i = 0; i < 256; i++)
		counts[i] = 0;
	for (size_t i = 0; i < count; i++)
		if (shift == 56 || (values[i] ^ prefix) >> (shift + 8) == 0)
			counts[values[i] >> shift & 0xff]++;
}

/* The position of the highest byte that is not 0 in all values. */
static int top_shift(const uint64_t *values, size_t count)
{
	uint64_t any = 1;

	for (size_t i = 0; i < count; i++)
		any |= values[i];
	return (63 - __builtin_clzll(any)) / 8 * 8;
}

/* Radix selection from the top byte: at most eight passes, whatever the order of the values. */
uint64_t gp_stats_select(const uint64_t *values, size_t count, size_t rank)
{
	size_t counts[256];
	uint64_t found = 0;

	for (int shift = top_shift(values, count); shift >= 0; shift -= 8) {
		uint64_t byte = 0;

		count_bytes(values, count, found, shift, counts);
		while (rank >= counts[byte])
			rank -= counts[byte++];
		found |= byte << shift;
	}
	return found;
}

/* The value at index rank + 1 of the sorted values, if `lower` is at index rank. */
static uint64_t next_above(const uint64_t *values, size_t count, uint64_t lower, size_t rank)
{
	uint64_t above = UINT64_MAX;
	size_t not_above = 0;

	for (size_t i = 0; i < count; i++) {
		if (values[i] <= lower)
			not_above++;
		else if (values[i] < above)
			above = values[i];
	}
	return not_above > rank ? lower : above;
}

static double median_of(const uint64_t *values, size_t count)
{
	uint64_t lower = gp_stats_select(values, count, (count - 1) / 2);
	uint64_t upper = count % 2 ? lower : next_above(values, count, lower, count / 2);

	return (double)lower + (double)(upper - lower) / 2;
}

static double deviation_of(const uint64_t *values, size_t count, double mean)
{
	long double squares = 0;

	for (size_t i = 0; i < count; i++) {
		long double distance = (long double)values[i] - mean;

		squares += distance * distance;
	}
	return (double)sqrtl(squares / count);
}

struct gp_stats gp_stats_of(const uint64_t *values, size_t count)
{
	struct gp_stats stats = {.count = count, .min = UINT64_MAX};
	long double sum = 0;

	if (count == 0)
		return (struct gp_stats){0};
	for (size_t i = 0; i < count; i++) {
		stats.total += values[i];
		sum += values[i];
		stats.min = values[i] < stats.min ? values[i] : stats.min;
		stats.max = values[i] > stats.max ? values[i] : stats.max;
	}
	stats.mean = (double)(sum / count);
	stats.median = median_of(values, count);
	stats.deviation = deviation_of(values, count, stats.mean);
	return stats;
}

#include "report/advice/rules/shown.h"

#include <stdlib.h>

/* Of 0 to count - 1: evenly spaced rows would be the same call of each step. */
static uint64_t random_of(uint64_t seed, uint64_t count)
{
	seed *= UINT64_C(0x9e3779b97f4a7c15);
	seed ^= seed >> 32;
	seed *= UINT64_C(0xd6e8feb86659fd93);
	return (seed >> 32) % count;
}

void gp_shown_add(struct gp_shown_sample *sample, const struct gp_shown *shown)
{
	uint64_t row = sample->seen++;

	if (sample->count < GP_SHOWN_ROWS)
		sample->count++;
	else
		row = random_of(sample->seen, sample->seen);
	if (row < GP_SHOWN_ROWS)
		sample->rows[row] = *shown;
}

static int by_cost(const void *a, const void *b)
{
	const struct gp_shown *left = a, *right = b;

	return (left->cost_ns > right->cost_ns) - (left->cost_ns < right->cost_ns);
}

struct gp_shown gp_shown_usual(const struct gp_shown_sample *sample)
{
	struct gp_shown_sample all = *sample;
	uint64_t all_ns = 0, ns = 0;
	uint32_t i = 0;

	qsort(all.rows, all.count, sizeof(*all.rows), by_cost);
	for (uint32_t k = 0; k < all.count; k++)
		all_ns += all.rows[k].cost_ns;
	while (i + 1 < all.count && (ns += all.rows[i].cost_ns) * 2 < all_ns)
		i++;
	return all.count > 0 ? all.rows[i] : (struct gp_shown){0};
}

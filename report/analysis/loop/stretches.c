#include "report/analysis/loop/stretches.h"

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

/* A gap of so many median iterations is no part of the loop. */
#define GAP_MEDIANS 100u
/* A gap shorter than 1 / so much of the loop's time changes no figure much. */
#define GAP_LOOP_PART 20u
/* Shorter stretches are the loop itself waiting, for data that comes many pieces at a time. */
#define STRETCH_ITERATIONS 32u

/* From the end of a row's own operations to the next row. */
static uint64_t rest_ns(const struct gp_iteration *row)
{
	return row[1].start_ns > row->end_ns ? row[1].start_ns - row->end_ns : 0;
}

static void find_median(const struct gp_iterations *iterations, uint64_t *median_ns)
{
	uint32_t count = iterations->count - 1;
	uint64_t *lengths_ns = gp_spill_take(((size_t)count + 1) * sizeof(*lengths_ns));

	for (uint32_t i = 0; i < count; i++)
		lengths_ns[i] = iterations->rows[i + 1].start_ns - iterations->rows[i].start_ns;
	*median_ns = gp_stats_select(lengths_ns, count, count / 2);
	gp_spill_free(lengths_ns);
}

/* Without the possible gaps between stretches. */
static uint64_t sum_lengths(const struct gp_iterations *iterations, uint64_t long_ns)
{
	const struct gp_iteration *rows = iterations->rows;
	uint32_t last = iterations->count - 1;
	uint64_t sum_ns = rows[last].end_ns - rows[0].start_ns;

	for (uint32_t i = 0; i < last; i++)
		if (rest_ns(&rows[i]) >= long_ns)
			sum_ns -= rest_ns(&rows[i]);
	return sum_ns;
}

void gp_stretches_mark(struct gp_iterations *iterations)
{
	uint64_t least_ns, median_ns, part_ns;
	uint32_t ends = 0;

	if (iterations->count < 2)
		return;
	find_median(iterations, &median_ns);
	least_ns = GAP_MEDIANS * (median_ns + 1);
	part_ns = sum_lengths(iterations, least_ns) / GAP_LOOP_PART;
	if (part_ns > least_ns)
		least_ns = part_ns;
	for (uint32_t i = 0; i + 1 < iterations->count; i++)
		ends += rest_ns(&iterations->rows[i]) >= least_ns;
	if (ends > 1 && ((uint64_t)ends + 1) * STRETCH_ITERATIONS > iterations->count)
		return;
	for (uint32_t i = 0; i + 1 < iterations->count; i++)
		iterations->rows[i].ends_stretch = rest_ns(&iterations->rows[i]) >= least_ns;
}

int gp_stretches_gather(struct gp_iterations *iterations)
{
	uint32_t capacity = 0;

	for (uint32_t i = 0; i < iterations->count; i++) {
		const struct gp_iteration *row = &iterations->rows[i];

		if (i == 0 || row[-1].ends_stretch) {
			gp_array_grow_spill(&iterations->stretches, &capacity,
					    iterations->stretch_count,
					    sizeof(*iterations->stretches));
			iterations->stretches[iterations->stretch_count++] =
				(struct gp_interval){row->start_ns, row->end_ns};
		}
		iterations->stretches[iterations->stretch_count - 1].end_ns = row->end_ns;
	}
	return 0;
}

#include "report/analysis/loop/steps.h"

#include <stdlib.h>

#include "report/analysis/idle/busy.h"
#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"

#define RECURRING_GAPS 2u /* between stretches: one alone may be the change to another phase */

const char *gp_run_part_id(enum gp_run_part part)
{
	static const char *const ids[GP_RUN_PARTS] = {
		[GP_RUN_STARTUP] = "startup", [GP_RUN_WARM_UP] = "warm-up",
		[GP_RUN_STEADY] = "steady",   [GP_RUN_SLOW] = "slow",
		[GP_RUN_BETWEEN] = "between", [GP_RUN_SHUTDOWN] = "shutdown",
	};

	return ids[part];
}

static uint64_t length_of(const struct gp_iterations *all, uint32_t index)
{
	return all->rows[index].end_ns - all->rows[index].start_ns;
}

static bool is_length_known(const struct gp_iterations *all, uint32_t index)
{
	return index + 1 < all->count && all->rows[index + 1].start_ns == all->rows[index].end_ns;
}

/*
 * Store the lengths of the steps from one on, or only of the steady ones if parts are given: of those
 * of known length, or of all if there is none.
 */
static uint32_t list_lengths(const struct gp_iterations *all, uint32_t first, const uint8_t *parts,
			     uint64_t *lengths_ns)
{
	uint32_t count = 0;

	for (int known = 1; count == 0 && known >= 0; known--)
		for (uint32_t i = first; i < all->count; i++)
			if ((!parts || parts[i] == GP_RUN_STEADY) &&
			    (known == 0 || is_length_known(all, i)))
				lengths_ns[count++] = length_of(all, i);
	return count;
}

/* Of the steps from one on; 0: there are none. */
static uint64_t find_median(const struct gp_iterations *all, uint32_t first, uint64_t *lengths_ns)
{
	uint32_t count = list_lengths(all, first, NULL, lengths_ns);

	return count > 0 ? gp_stats_select(lengths_ns, count, count / 2) : 0;
}

static void measure_steady(struct gp_steps *steps, const struct gp_iterations *all,
			   uint64_t *lengths_ns)
{
	uint32_t count = list_lengths(all, 0, steps->parts, lengths_ns);

	if (count == 0)
		return;
	steps->median_ns = gp_stats_select(lengths_ns, count, count / 2);
	steps->spread_ns = gp_stats_select(lengths_ns, count, count - 1 - count / 4) -
			   gp_stats_select(lengths_ns, count, count / 4);
}

static bool is_slow(const struct gp_iterations *all, uint32_t index, uint64_t median_ns)
{
	return length_of(all, index) * 100 >= median_ns * GP_SLOW_PERCENT && median_ns > 0;
}

static uint32_t count_warm_up(const struct gp_iterations *all, uint64_t median_ns)
{
	uint32_t count = 0;

	while (count < all->count && is_slow(all, count, median_ns))
		count++;
	return count < all->count ? count : 0;
}

static uint32_t count_slow(const struct gp_iterations *all, uint32_t first, uint64_t median_ns)
{
	uint32_t count = 0;

	for (uint32_t i = first; i < all->count; i++)
		count += is_slow(all, i, median_ns);
	return count;
}

/*
 * What slow steps are compared with: the median.  If more than 1/GP_SLOW_PART of the steps are slow
 * then, that is how the loop is, and the length that only 1/GP_SLOW_PART of them exceed.
 */
static uint64_t find_usual(const struct gp_iterations *all, uint32_t warm_up, uint64_t *lengths_ns)
{
	uint64_t median_ns = find_median(all, warm_up, lengths_ns);
	uint32_t count;

	if (count_slow(all, warm_up, median_ns) * GP_SLOW_PART <= all->count - warm_up)
		return median_ns;
	count = list_lengths(all, warm_up, NULL, lengths_ns);
	return count > 0 ? gp_stats_select(lengths_ns, count, count - 1 - count / GP_SLOW_PART)
			 : median_ns;
}

static bool ends_before(const void *element, const void *key)
{
	return ((const struct gp_hw_window *)element)->end_ns <= *(const uint64_t *)key;
}

/* gpuprof held up such a step, in which it read the hardware counters of kernels. */
static bool has_window(const struct gp_model *model, const struct gp_iteration *step)
{
	uint32_t at =
		gp_array_lower_bound(model->hw_windows, model->hw_window_count,
				     sizeof(*model->hw_windows), ends_before, &step->start_ns);

	return at < model->hw_window_count && model->hw_windows[at].start_ns < step->end_ns;
}

static void sort_out(struct gp_steps *steps, const struct gp_iterations *all,
		     const struct gp_model *model)
{
	uint64_t *lengths_ns = gp_spill_take(((size_t)all->count + 1) * sizeof(*lengths_ns));
	uint32_t warm_up, ends = 0;
	uint64_t usual_ns;

	steps->parts = gp_spill_take((size_t)all->count + 1);
	warm_up = count_warm_up(all, find_median(all, 0, lengths_ns));
	usual_ns = find_usual(all, warm_up, lengths_ns);
	for (uint32_t i = 0; i < all->count; i++) {
		bool slow = is_slow(all, i, usual_ns) && !has_window(model, &all->rows[i]);

		if (i >= warm_up)
			steps->parts[i] = slow ? GP_RUN_SLOW : GP_RUN_STEADY;
		else
			steps->parts[i] = GP_RUN_WARM_UP;
		steps->counts[steps->parts[i]]++;
		ends += all->rows[i].ends_stretch;
	}
	measure_steady(steps, all, lengths_ns);
	steps->count = all->count;
	steps->recurs[GP_RUN_STEADY] = steps->recurs[GP_RUN_SLOW] = true;
	steps->recurs[GP_RUN_BETWEEN] = ends >= RECURRING_GAPS;
	gp_spill_free(lengths_ns);
}

/* ---- pieces ---- */

static void put(struct gp_steps *steps, uint32_t *capacity, uint64_t start_ns, uint8_t part)
{
	if (steps->piece_count > 0 && steps->pieces[steps->piece_count - 1].part == part)
		return;
	gp_array_grow_spill(&steps->pieces, capacity, steps->piece_count, sizeof(*steps->pieces));
	steps->pieces[steps->piece_count++] = (struct gp_run_piece){start_ns, part};
}

static void cut(struct gp_steps *steps, const struct gp_iterations *all)
{
	uint32_t capacity = 0;

	put(steps, &capacity, 0, GP_RUN_STARTUP);
	for (uint32_t i = 0; i < all->count; i++) {
		bool is_last = i + 1 == all->count;

		put(steps, &capacity, all->rows[i].start_ns, steps->parts[i]);
		if (!is_length_known(all, i))
			put(steps, &capacity, all->rows[i].end_ns,
			    is_last ? GP_RUN_SHUTDOWN : GP_RUN_BETWEEN);
	}
}

static void add_time(struct gp_steps *steps, uint64_t start_ns, uint64_t end_ns)
{
	for (uint32_t i = gp_steps_piece_at(steps, start_ns);
	     i < steps->piece_count && steps->pieces[i].start_ns < end_ns; i++) {
		uint64_t from_ns = steps->pieces[i].start_ns, to_ns = end_ns;

		if (from_ns < start_ns)
			from_ns = start_ns;
		if (i + 1 < steps->piece_count && steps->pieces[i + 1].start_ns < to_ns)
			to_ns = steps->pieces[i + 1].start_ns;
		steps->ns[steps->pieces[i].part] += to_ns > from_ns ? to_ns - from_ns : 0;
	}
}

static int measure(struct gp_steps *steps, struct gp_model *model)
{
	struct gp_busy_parts parts;

	gp_busy_parts_of(&parts, &model, 1, gp_busy_window(&model, 1));
	for (size_t i = 0; i < parts.count; i++)
		add_time(steps, parts.intervals[i].start_ns - model->base_unix_ns,
			 parts.intervals[i].end_ns - model->base_unix_ns);
	free(parts.intervals);
	return 0;
}

int gp_steps_of(struct gp_steps *steps, const struct gp_iterations *iterations,
		struct gp_model *model)
{
	*steps = (struct gp_steps){0};
	if (iterations->count == 0)
		return 0;
	sort_out(steps, iterations, model);
	cut(steps, iterations);
	return measure(steps, model);
}

void gp_steps_free(struct gp_steps *steps)
{
	gp_spill_free(steps->parts);
	gp_spill_free(steps->pieces);
	*steps = (struct gp_steps){0};
}

/* ---- questions ---- */

static bool begins_by(const void *element, const void *key)
{
	const struct gp_run_piece *piece = element;
	const uint64_t *time_ns = key;

	return piece->start_ns <= *time_ns;
}

uint32_t gp_steps_piece_at(const struct gp_steps *steps, uint64_t time_ns)
{
	uint32_t after = gp_array_lower_bound(steps->pieces, steps->piece_count,
					      sizeof(*steps->pieces), begins_by, &time_ns);

	return after > 0 ? after - 1 : 0;
}

enum gp_run_part gp_steps_part_at(const struct gp_steps *steps, uint64_t time_ns)
{
	return steps->piece_count > 0 ? steps->pieces[gp_steps_piece_at(steps, time_ns)].part
				      : GP_RUN_STARTUP;
}

uint32_t gp_steps_recurring(const struct gp_steps *steps)
{
	return steps->counts[GP_RUN_STEADY] + steps->counts[GP_RUN_SLOW];
}

uint64_t gp_steps_recurring_ns(const struct gp_steps *steps)
{
	uint64_t sum_ns = 0;

	for (unsigned part = 0; part < GP_RUN_PARTS; part++)
		sum_ns += steps->recurs[part] ? steps->ns[part] : 0;
	return sum_ns;
}

bool gp_steps_have_median(const struct gp_steps *steps)
{
	return steps->counts[GP_RUN_STEADY] >= GP_STEADY_LEAST;
}

uint64_t gp_steps_mean_ns(const struct gp_steps *steps)
{
	uint32_t count = gp_steps_recurring(steps);

	return count > 0 ? gp_steps_recurring_ns(steps) / count : 0;
}

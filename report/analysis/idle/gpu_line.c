#include "report/analysis/idle/gpu_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/spill_memory.h"

#define STRIDE 64u /* segments from one kept sum to the next */

struct gathering {
	struct gp_gpu_lines *lines;
};

static bool make_room(struct gp_gpu_line *line)
{
	size_t capacity = line->capacity ? 2 * line->capacity : 1024;
	uint64_t *ends_ns;
	uint8_t *states;

	if (line->count < line->capacity)
		return true;
	ends_ns = gp_spill_resize(line->ends_ns, capacity * sizeof(*ends_ns));
	line->ends_ns = ends_ns;
	states = gp_spill_resize(line->states, capacity * sizeof(*states));
	line->states = states;
	line->capacity = capacity;
	return true;
}

static void add_segment(void *context, size_t device, unsigned state, uint64_t start_ns,
			uint64_t end_ns)
{
	struct gathering *all = context;
	struct gp_gpu_line *line = &all->lines->devices[device];

	if (line->count == 0)
		line->start_ns = start_ns;
	if (line->count > 0 && line->states[line->count - 1] == state) {
		line->ends_ns[line->count - 1] = end_ns;
	} else {
		make_room(line);
		line->ends_ns[line->count] = end_ns;
		line->states[line->count++] = (uint8_t)state;
	}
}

static void sum_up(struct gp_gpu_line *line)
{
	uint64_t sums_ns[GP_STATES] = {0}, from_ns = line->start_ns;

	line->sums_ns = gp_spill_take((line->count / STRIDE + 1) * sizeof(*line->sums_ns));
	for (size_t i = 0; i <= line->count; i++) {
		if (i % STRIDE == 0)
			memcpy(line->sums_ns[i / STRIDE], sums_ns, sizeof(sums_ns));
		if (i == line->count)
			break;
		sums_ns[line->states[i]] += line->ends_ns[i] - from_ns;
		from_ns = line->ends_ns[i];
	}
}

int gp_gpu_lines_of(struct gp_gpu_lines *lines, struct gp_model *const *models, size_t model_count,
		    struct gp_window window, struct gp_device_list *devices,
		    const struct gp_kinds *kinds)
{
	struct gathering all = {.lines = lines};
	const struct gp_sweep_taker taker = {.segment = add_segment, .context = &all};

	*lines = (struct gp_gpu_lines){.devices =
					       calloc(devices->count + 1, sizeof(*lines->devices)),
				       .count = devices->count};
	gp_gpu_sweep(models, model_count, window, devices, kinds, &taker, 1);
	for (size_t i = 0; i < lines->count; i++)
		sum_up(&lines->devices[i]);
	return 0;
}

void gp_gpu_lines_free(struct gp_gpu_lines *lines)
{
	for (size_t i = 0; lines->devices && i < lines->count; i++) {
		gp_spill_free(lines->devices[i].ends_ns);
		gp_spill_free(lines->devices[i].states);
		gp_spill_free(lines->devices[i].sums_ns);
	}
	free(lines->devices);
	*lines = (struct gp_gpu_lines){0};
}

/* ---- sums ---- */

/* The first segment that ends after that time; count if none does. */
static size_t find(const struct gp_gpu_line *line, uint64_t time_ns)
{
	size_t low = 0, high = line->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (line->ends_ns[middle] > time_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* How long in each state from the line's start to that time. */
static void sum_until(const struct gp_gpu_line *line, uint64_t time_ns, uint64_t sums_ns[GP_STATES])
{
	size_t last = find(line, time_ns), i = last / STRIDE * STRIDE;
	uint64_t from_ns = i > 0 ? line->ends_ns[i - 1] : line->start_ns;

	memcpy(sums_ns, line->sums_ns[i / STRIDE], GP_STATES * sizeof(*sums_ns));
	for (; i < last; i++) {
		sums_ns[line->states[i]] += line->ends_ns[i] - from_ns;
		from_ns = line->ends_ns[i];
	}
	if (last < line->count && time_ns > from_ns)
		sums_ns[line->states[last]] += time_ns - from_ns;
}

void gp_gpu_line_add(const struct gp_gpu_line *line, uint64_t start_ns, uint64_t end_ns,
		     uint64_t state_ns[GP_STATES])
{
	uint64_t before_ns[GP_STATES], after_ns[GP_STATES];

	if (line->count == 0 || end_ns <= start_ns)
		return;
	sum_until(line, start_ns, before_ns);
	sum_until(line, end_ns, after_ns);
	for (unsigned i = 1; i < GP_STATES; i++)
		state_ns[i] += after_ns[i] - before_ns[i];
}

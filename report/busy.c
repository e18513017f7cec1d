#include "report/busy.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare_starts(const void *a, const void *b)
{
	const struct gp_interval *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return 0;
}

static bool are_sorted(const struct gp_interval *intervals, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (intervals[i].start_ns < intervals[i - 1].start_ns)
			return false;
	return true;
}

uint64_t gp_busy_union(struct gp_interval *intervals, size_t count)
{
	uint64_t total = 0, reached = 0;

	if (!are_sorted(intervals, count))
		qsort(intervals, count, sizeof(*intervals), compare_starts);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = intervals[i].start_ns > reached ? intervals[i].start_ns : reached;

		if (intervals[i].end_ns > from) {
			total += intervals[i].end_ns - from;
			reached = intervals[i].end_ns;
		}
	}
	return total;
}

static void stretch(struct gp_window *window, uint64_t start_unix_ns, uint64_t end_unix_ns)
{
	if (start_unix_ns < window->start_unix_ns)
		window->start_unix_ns = start_unix_ns;
	if (end_unix_ns > window->end_unix_ns)
		window->end_unix_ns = end_unix_ns;
}

static void stretch_to_calls(struct gp_window *window, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->call_count; i++) {
		uint64_t start = model->base_unix_ns + model->calls[i].start_ns;

		stretch(window, start, start + model->calls[i].duration_ns);
	}
}

static void stretch_to_ops(struct gp_window *window, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed)
			stretch(window, model->base_unix_ns + model->ops[i].start_ns,
				model->base_unix_ns + model->ops[i].end_ns);
}

struct gp_window gp_busy_window(struct gp_model *const *models, size_t model_count)
{
	struct gp_window window = {.start_unix_ns = UINT64_MAX};

	for (size_t i = 0; i < model_count; i++)
		stretch_to_calls(&window, models[i]);
	for (size_t i = 0; window.start_unix_ns == UINT64_MAX && i < model_count; i++)
		stretch_to_ops(&window, models[i]);
	if (window.start_unix_ns > window.end_unix_ns)
		window.start_unix_ns = window.end_unix_ns;
	return window;
}

/* What lies within the window; may be empty. */
static struct gp_interval clip(struct gp_interval interval, uint64_t from, uint64_t to)
{
	if (interval.start_ns < from)
		interval.start_ns = from;
	if (interval.end_ns > to)
		interval.end_ns = to;
	if (interval.end_ns < interval.start_ns)
		interval.end_ns = interval.start_ns;
	return interval;
}

static uint64_t clipped_union(const struct gp_interval *intervals, size_t count,
			      struct gp_interval *scratch, struct gp_window window)
{
	for (size_t i = 0; i < count; i++)
		scratch[i] = clip(intervals[i], window.start_unix_ns, window.end_unix_ns);
	return gp_busy_union(scratch, count);
}

struct gathering {
	struct gp_interval *intervals, *scratch;
	size_t *devices; /* parallel to intervals */
	size_t count;
};

static bool gather_model(struct gathering *all, const struct gp_model *model,
			 struct gp_device_list *devices)
{
	size_t device = 0;

	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (i == 0 || op->device_id != op[-1].device_id)
			device = gp_device_list_find(devices, model, op->device_id);
		if (device == SIZE_MAX)
			return false;
		if (op->untimed)
			continue;
		all->devices[all->count] = device;
		all->intervals[all->count++] = (struct gp_interval){
			.start_ns = model->base_unix_ns + op->start_ns,
			.end_ns = model->base_unix_ns + op->end_ns,
		};
	}
	return true;
}

static bool allocate(struct gathering *all, struct gp_model *const *models, size_t model_count)
{
	size_t count = 1;

	for (size_t i = 0; i < model_count; i++)
		count += models[i]->op_count;
	all->intervals = malloc(count * sizeof(*all->intervals));
	all->scratch = malloc(2 * count * sizeof(*all->scratch));
	all->devices = malloc(count * sizeof(*all->devices));
	return all->intervals && all->scratch && all->devices;
}

/* Each device's intervals side by side, in the first half of scratch; busy[].operations counts
 * them. */
static void sort_by_device(const struct gathering *all, struct gp_busy *busy, size_t *ends,
			   size_t device_count)
{
	for (size_t i = 0; i < all->count; i++)
		busy[all->devices[i]].operations++;
	for (size_t i = 0, end = 0; i < device_count; i++) {
		ends[i] = end;
		end += busy[i].operations;
	}
	for (size_t i = 0; i < all->count; i++)
		all->scratch[ends[all->devices[i]]++] = all->intervals[i];
}

/* The second half of scratch is for clipping, which leaves in order what is. */
static void measure(const struct gathering *all, struct gp_busy *busy, size_t end,
		    struct gp_window window)
{
	struct gp_interval *own = all->scratch + end - busy->operations;

	uint64_t total_ns = gp_busy_union(own, busy->operations);

	busy->inside_ns = clipped_union(own, busy->operations, all->scratch + all->count, window);
	busy->outside_ns = total_ns - busy->inside_ns;
}

static struct gp_busy *measure_all(const struct gathering *all, size_t device_count,
				   struct gp_window window)
{
	struct gp_busy *busy = calloc(device_count + 1, sizeof(*busy));
	size_t *ends = calloc(device_count + 1, sizeof(*ends));

	if (busy && ends) {
		sort_by_device(all, busy, ends, device_count);
		for (size_t i = 0; i < device_count; i++)
			measure(all, &busy[i], ends[i], window);
	} else {
		free(busy);
		busy = NULL;
	}
	free(ends);
	return busy;
}

struct gp_busy *gp_busy_of(struct gp_model *const *models, size_t model_count,
			   struct gp_window window, struct gp_device_list *devices)
{
	struct gathering all = {0};
	struct gp_busy *busy = NULL;
	bool gathered = allocate(&all, models, model_count);

	for (size_t i = 0; gathered && i < model_count; i++)
		gathered = gather_model(&all, models[i], devices);
	if (gathered)
		busy = measure_all(&all, devices->count, window);
	free(all.intervals);
	free(all.scratch);
	free(all.devices);
	return busy;
}

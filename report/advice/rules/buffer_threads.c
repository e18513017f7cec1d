#include "report/advice/rules/buffer_threads.h"

#include <stdlib.h>

#include "report/base/array.h"
#include "report/analysis/host/python_samples.h"
#include "report/tables/host_work.h"

/* In the numbers of the sums of host_work. */
#define FILLERS (UINT64_C(1) << 34)

/* ---- ranges ---- */

/* *call: the first call of the thread, or of an earlier thread. */
static bool uses_gpu(const struct gp_model *model, uint32_t thread, uint32_t *call)
{
	bool uses = false;

	while (*call < model->call_count && model->calls[*call].thread_id < thread)
		(*call)++;
	for (; *call < model->call_count && model->calls[*call].thread_id == thread; (*call)++)
		uses |= model->calls[*call].first_op != GP_NONE;
	return uses;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void gp_buffer_threads_find(struct gp_buffer_threads *fillers, const struct gp_model *model)
{
	uint32_t call = 0;
	bool uses = false;

	fillers->turns_ns = malloc(((size_t)model->range_count * 2 + 1) * sizeof(uint64_t));
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (i == 0 || range->thread_id != range[-1].thread_id)
			uses = uses_gpu(model, range->thread_id, &call);
		if (uses || range->end_ns == range->start_ns)
			continue;
		fillers->turns_ns[fillers->turn_count++] = range->start_ns;
		fillers->turns_ns[fillers->turn_count++] = range->end_ns;
	}
	qsort(fillers->turns_ns, fillers->turn_count, sizeof(uint64_t), by_time);
}

static bool is_earlier(const void *turn_ns, const void *time_ns)
{
	return *(const uint64_t *)turn_ns < *(const uint64_t *)time_ns;
}

void gp_buffer_threads_free(struct gp_buffer_threads *fillers)
{
	free(fillers->turns_ns);
	*fillers = (struct gp_buffer_threads){0};
}

bool gp_buffer_threads_turn(const struct gp_buffer_threads *fillers, uint64_t from_ns,
			    uint64_t to_ns)
{
	uint32_t at = gp_array_lower_bound(fillers->turns_ns, fillers->turn_count, sizeof(uint64_t),
					   is_earlier, &from_ns);

	return at < fillers->turn_count && fillers->turns_ns[at] < to_ns;
}

/* ---- samples ---- */

static void add_samples(struct gp_advisor *advisor, uint64_t sum, struct gp_host_places *places,
			uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_model *model = advisor->model;
	const struct gp_host_window window = {
		&advisor->host_work, sum, places, model, start_ns, end_ns, GP_HOST_TIMES};
	uint32_t call = 0;

	for (uint32_t first = 0, end; first < model->sample_count; first = end) {
		uint32_t thread = model->samples[first].thread_id;

		end = gp_python_samples_end(model, first);
		if (!uses_gpu(model, thread, &call))
			gp_host_work_add(&window, thread);
	}
}

bool gp_buffer_threads_work(struct gp_advisor *advisor, const struct gp_case *found,
			    uint64_t start_ns, uint64_t end_ns, uint64_t least_ns)
{
	uint64_t sum = FILLERS | (uint64_t)(found - advisor->cases);
	struct gp_host_function most = {0};
	struct gp_host_places *places;

	if (advisor->model->sample_count == 0)
		return false;
	places = gp_host_places_in(&advisor->scope);
	add_samples(advisor, sum, places, start_ns, end_ns);
	return gp_host_work_busiest(&advisor->host_work, sum, places, &most) > 0 &&
	       most.total_ns >= least_ns;
}

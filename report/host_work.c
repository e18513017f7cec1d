#include "report/host_work.h"

#include <stdbool.h>

struct sum {
	uint32_t place;
	uint64_t ns;
};

struct window {
	uint64_t start_ns, end_ns;
	struct sum sums[GP_HOST_WORK_PLACES];
	uint32_t count;
	struct gp_host_work work;
};

static void free_places(void *places)
{
	gp_host_places_free(places);
}

struct gp_host_places *gp_host_places_in(struct gp_scope *scope)
{
	if (!scope->host_places) {
		scope->host_places = gp_host_places_new();
		scope->free_host_places = free_places;
	}
	return scope->host_places;
}

/* The first sample of a thread that ends at that time or later. */
static uint32_t find_first(const struct gp_model *model, uint32_t thread, uint64_t time_ns)
{
	uint32_t low = 0, high = model->sample_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct gp_sample *sample = &model->samples[middle];

		if (sample->thread_id < thread ||
		    (sample->thread_id == thread && sample->end_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_of(const struct gp_model *model, uint32_t index, uint32_t thread)
{
	return index < model->sample_count && model->samples[index].thread_id == thread;
}

static uint64_t half_of(uint64_t between_ns)
{
	return between_ns / 2 < GP_HOST_WORK_REACH_NS ? between_ns / 2 : GP_HOST_WORK_REACH_NS;
}

/* How far a look reaches back, and on. */
static uint64_t back_ns(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];

	if (index == 0 || !is_of(model, index - 1, sample->thread_id) ||
	    sample[-1].end_ns > sample->start_ns)
		return 0;
	return half_of(sample->start_ns - sample[-1].end_ns);
}

static uint64_t on_ns(const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];

	if (!is_of(model, index + 1, sample->thread_id) || sample[1].start_ns < sample->end_ns)
		return 0;
	return half_of(sample[1].start_ns - sample->end_ns);
}

static struct sum *sum_of(struct window *window, uint32_t place)
{
	for (uint32_t i = 0; i < window->count; i++)
		if (window->sums[i].place == place)
			return &window->sums[i];
	if (window->count == GP_HOST_WORK_PLACES)
		return NULL;
	window->sums[window->count] = (struct sum){place, 0};
	return &window->sums[window->count++];
}

/* Of looks that come in even steps, those within as much of their time. */
static uint64_t looks_in(const struct gp_sample *sample, uint64_t kept_ns, uint64_t all_ns)
{
	uint64_t looks = (uint64_t)((double)sample->count * (double)kept_ns / (double)all_ns + 0.5);

	return looks > 0 ? looks : 1;
}

static void add_sample(struct window *window, struct gp_host_places *places,
		       const struct gp_model *model, uint32_t index)
{
	const struct gp_sample *sample = &model->samples[index];
	uint64_t start_ns = sample->start_ns - back_ns(model, index);
	uint64_t end_ns = sample->end_ns + on_ns(model, index);
	uint64_t all_ns = end_ns - start_ns;
	struct sum *sum;

	start_ns = start_ns > window->start_ns ? start_ns : window->start_ns;
	end_ns = end_ns < window->end_ns ? end_ns : window->end_ns;
	if (sample->stack == GP_NONE || end_ns <= start_ns)
		return;
	window->work.looks += looks_in(sample, end_ns - start_ns, all_ns);
	window->work.known_ns += end_ns - start_ns;
	sum = sum_of(window, gp_host_places_find(places, model, sample->stack));
	if (!sum)
		return;
	sum->ns += end_ns - start_ns;
	if (sum->ns > window->work.place_ns) {
		window->work.place_ns = sum->ns;
		window->work.place = sum->place;
	}
}

static struct gp_host_work look(struct gp_host_places *places, const struct gp_model *model,
				uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	struct window window = {.start_ns = start_ns, .end_ns = end_ns, .work.place = UINT32_MAX};
	uint64_t reach_ns = start_ns > GP_HOST_WORK_REACH_NS ? start_ns - GP_HOST_WORK_REACH_NS : 0;

	for (uint32_t i = find_first(model, thread, reach_ns);
	     is_of(model, i, thread) && model->samples[i].start_ns < end_ns + GP_HOST_WORK_REACH_NS;
	     i++)
		add_sample(&window, places, model, i);
	return window.work;
}

struct gp_host_work gp_host_work_of(struct gp_host_places *places, const struct gp_model *model,
				    uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	struct gp_host_work work = look(places, model, thread, start_ns, end_ns);

	return work.looks > 0 ? work : look(places, model, model->pid, start_ns, end_ns);
}

#include "report/html/host_track.h"

#include "report/base/array.h"
#include "report/base/spill_memory.h"

struct maker {
	const struct gp_html_host_track *track;
	struct gp_html_event *events;
	uint32_t count, capacity;
	uint32_t function; /* of the place of the last event */
};

static void add(struct maker *maker, struct gp_html_event event)
{
	gp_array_grow_spill(&maker->events, &maker->capacity, maker->count, sizeof(*maker->events));
	maker->events[maker->count++] = event;
}

static uint32_t stack_of(const struct maker *maker, uint32_t frame)
{
	struct gp_call_tree *tree = maker->track->tree;

	return tree ? gp_call_tree_find(tree, frame) + 1 : 0;
}

static uint32_t label_of(const struct maker *maker, char kind, const char *text)
{
	return maker->track->labels ? gp_html_label(maker->track->labels, kind, text) : 0;
}

static void add_unknown(struct maker *maker, uint64_t start_ns, uint64_t end_ns)
{
	add(maker, (struct gp_html_event){.start_ns = start_ns,
					  .end_ns = end_ns,
					  .label = label_of(maker, GP_LABEL_UNKNOWN,
							    "not known: no sample of this thread"),
					  .call = GP_NONE});
}

static void add_place(struct maker *maker, uint32_t index)
{
	const struct gp_model *model = maker->track->model;
	const struct gp_sample *sample = &model->samples[index];
	struct gp_sample_time time = gp_python_sample_time(model, index);
	struct gp_host_place place =
		gp_host_places_at(maker->track->places,
				  gp_host_places_find(maker->track->places, model, sample->stack));
	struct gp_html_event *last = maker->count > 0 ? &maker->events[maker->count - 1] : NULL;
	bool follows = last && gp_python_sample_follows(model, index);

	if (last && time.start_ns < last->end_ns)
		time.start_ns = last->end_ns;
	if (time.end_ns < time.start_ns)
		time.end_ns = time.start_ns;
	if (follows && maker->function == place.function_number) {
		last->end_ns = time.end_ns;
		last->aux += sample->count;
		return;
	}
	if (last && !follows)
		add_unknown(maker, last->end_ns, time.start_ns);
	maker->function = place.function_number;
	add(maker, (struct gp_html_event){.start_ns = time.start_ns,
					  .end_ns = time.end_ns,
					  .aux = sample->count,
					  .label = label_of(maker, GP_LABEL_PLACE, place.function),
					  .stack = stack_of(maker, sample->stack),
					  .call = GP_NONE});
}

int gp_html_host_track(const struct gp_html_host_track *track, uint32_t first,
		       struct gp_html_event **events, uint32_t *count)
{
	struct maker maker = {.track = track};
	uint32_t end = gp_python_samples_end(track->model, first);

	for (uint32_t i = first; i < end; i++)
		if (track->model->samples[i].stack != GP_NONE)
			add_place(&maker, i);
	*events = maker.events;
	*count = maker.count;
	return 0;
}

/* Host threads: calls and ranges, and the functions of Python by its samples. */
#include <errno.h>
#include <stdio.h>

#include "report/base/array.h"
#include "report/base/spill_memory.h"
#include "report/timeline/walk.h"

/* Samples with a stack. */
static void walk_samples(struct gp_timeline *t, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end && t->error == 0; i++) {
		const struct gp_sample *sample = &t->model->samples[i];

		if (sample->stack != GP_NONE &&
		    gp_timeline_shows(t, sample->start_ns, sample->end_ns))
			gp_walk_event(t, &(struct gp_timeline_event){.kind = GP_TIMELINE_PYTHON,
								     .start_ns = sample->start_ns,
								     .end_ns = sample->end_ns,
								     .of.sample = sample});
	}
}

static void walk_spans(struct gp_timeline *t, uint32_t first, uint32_t end)
{
	const struct gp_model *model = t->model;
	uint32_t thread_id = model->samples[first].thread_id, count = 0;
	struct gp_host_span *spans;
	struct gp_host_turn *turns;
	char name[GP_HOST_TRACK_BYTES];

	t->error = gp_host_spans_find(model, first, end, t->host_depth, &spans, &count, &turns);
	gp_walk_track(
		t, &(struct gp_timeline_track){.kind = GP_TRACK_PYTHON,
					       .thread_id = thread_id,
					       .first_sample = first,
					       .name = gp_host_track_name(model, thread_id, name)});
	for (uint32_t i = 0; t->error == 0 && i < count; i++)
		if (gp_timeline_shows(t, spans[i].start_ns, spans[i].end_ns))
			gp_walk_event(t, &(struct gp_timeline_event){.kind = GP_TIMELINE_PYTHON,
								     .start_ns = spans[i].start_ns,
								     .end_ns = spans[i].end_ns,
								     .of.python = &spans[i],
								     .turns = turns});
	gp_spill_free(spans);
	gp_spill_free(turns);
}

/* Python in the threads with lower numbers, from sample *next on. */
static void walk_python(struct gp_timeline *t, uint32_t *next, uint32_t before_thread)
{
	const struct gp_model *model = t->model;

	while (t->error == 0 && *next < model->sample_count &&
	       model->samples[*next].thread_id < before_thread) {
		uint32_t end = gp_python_samples_end(model, *next);

		if (t->is_table)
			walk_samples(t, *next, end);
		else
			walk_spans(t, *next, end);
		*next = end;
	}
}

static void walk_call(struct gp_timeline *t, struct gp_timeline_event *event,
		      const struct gp_call *call)
{
	event->arg_count = 0;
	event->kind =
		GP_API_IS_DRIVER(call->api) ? GP_TIMELINE_DRIVER_CALL : GP_TIMELINE_RUNTIME_CALL;
	event->is_instant = false;
	event->start_ns = call->start_ns;
	event->end_ns = call->start_ns + call->duration_ns;
	event->of.call = call;
	if (gp_walk_wants(t, event))
		gp_walk_event(t, event);
}

static void put_category(const struct gp_model *model, struct gp_timeline_event *event,
			 const struct gp_range *range)
{
	const char *name = gp_model_category(model, range->domain, range->category);

	if (range->category == 0)
		return;
	if (*name)
		gp_walk_text(event, "category", name);
	else
		gp_walk_number(event, "category", range->category);
}

static void put_payloads(struct gp_timeline_event *event, const struct gp_range *range)
{
	if (range->payload_kind != GP_PAYLOAD_NONE)
		gp_walk_arg(event, (struct gp_timeline_arg){.key = "payload",
							    .type = GP_ARG_PAYLOAD,
							    .number = range->payload,
							    .per = range->payload_kind});
	if (range->extended_payload != GP_NONE)
		gp_walk_arg(event, (struct gp_timeline_arg){.key = "fields",
							    .type = GP_ARG_FIELDS,
							    .number = range->extended_payload});
}

static void put_work(struct gp_timeline_event *event, const struct gp_range *range)
{
	if (range->op_count > 0) {
		gp_walk_number(event, "GPU operations", range->op_count);
		gp_walk_arg(event, (struct gp_timeline_arg){.key = "GPU time (us)",
							    .type = GP_ARG_TIME,
							    .number = range->gpu_busy_ns});
	}
	if (range->open)
		gp_walk_number(event, "never closed", 1);
}

static void tell_range(struct gp_timeline *t, struct gp_timeline_event *event,
		       const struct gp_range *range)
{
	char color[12];

	if (!event->is_elsewhere) {
		event->name = gp_walk_range_name(t->model, range);
		gp_walk_text(event, "domain", t->model->domains[range->domain]);
		put_category(t->model, event, range);
		put_payloads(event, range);
		snprintf(color, sizeof(color), "#%06x", range->color_argb & 0xffffffu);
		if (range->color_argb != 0)
			gp_walk_text(event, "color", color);
		put_work(event, range);
		t->cut_ranges += range->is_cut;
	}
	gp_walk_event(t, event);
}

static void walk_range(struct gp_timeline *t, struct gp_timeline_event *event,
		       const struct gp_range *range)
{
	event->arg_count = 0;
	event->kind = GP_TIMELINE_RANGE;
	event->is_instant = range->style == GP_STYLE_MARK;
	event->start_ns = range->start_ns;
	event->end_ns = range->end_ns;
	event->of.range = range;
	if (gp_walk_wants(t, event))
		tell_range(t, event, range);
}

GP_COMPARE_BY(compare_ranges, struct gp_range, start_ns)

/* Ranges that any thread may end. */
static void walk_started(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	uint32_t *order = gp_array_order(model->ranges, model->range_count, sizeof(*model->ranges),
					 compare_ranges, NULL);
	struct gp_timeline_event event = {0};

	gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_HOST,
						     .name = "NVTX start/end ranges"});
	for (uint32_t i = 0; t->error == 0 && i < model->range_count; i++)
		if (model->ranges[order[i]].style == GP_STYLE_START_END)
			walk_range(t, &event, &model->ranges[order[i]]);
	gp_spill_free(order);
}

void gp_walk_threads(struct gp_timeline *t)
{
	const struct gp_model *model = t->model;
	struct gp_timeline_track track = {.kind = GP_TRACK_THREAD, .is_nesting = true};
	struct gp_timeline_event event = {0};
	bool has_calls = gp_walk_has_kind(t, GP_TIMELINE_RUNTIME_CALL) ||
			 gp_walk_has_kind(t, GP_TIMELINE_DRIVER_CALL);
	uint32_t sample = gp_walk_has_kind(t, GP_TIMELINE_PYTHON) ? 0 : model->sample_count;
	uint32_t range = gp_walk_has_kind(t, GP_TIMELINE_RANGE) ? 0 : model->range_count;

	for (uint32_t call = has_calls ? 0 : model->call_count, begun = 0; t->error == 0;
	     begun = 1) {
		bool is_range = gp_model_range_is_next(model, call, range);
		uint32_t thread_id;

		if (!is_range && call == model->call_count)
			break;
		thread_id =
			is_range ? model->ranges[range].thread_id : model->calls[call].thread_id;
		if (!begun || thread_id != track.thread_id) {
			walk_python(t, &sample, thread_id);
			track.thread_id = thread_id;
			gp_walk_track(t, &track);
		}
		if (is_range &&
		    !(t->started_apart && model->ranges[range].style == GP_STYLE_START_END))
			walk_range(t, &event, &model->ranges[range]);
		if (is_range)
			range++;
		else
			walk_call(t, &event, &model->calls[call++]);
	}
	walk_python(t, &sample, UINT32_MAX);
	if (t->started_apart)
		walk_started(t);
}

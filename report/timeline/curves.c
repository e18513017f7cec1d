/* What only some ask for, of a model as a whole: curves as counters, the critical path as a track. */
#include <stdio.h>

#include "report/analysis/device/curves.h"
#include "report/analysis/idle/critical_path.h"
#include "report/analysis/loop/path_words.h"
#include "report/timeline/walk.h"

/* ---- curves ---- */

static void tell_length(struct gp_timeline *t, const struct gp_curve_point *point)
{
	const struct gp_op *op = &t->model->ops[point->index];
	char name[96], context[32] = "";

	if (t->model->context_count > 1)
		snprintf(context, sizeof(context), " (context %u)", op->context_id);
	snprintf(name, sizeof(name), "queue of stream %u%s", op->stream_id, context);
	gp_walk_counter(t, &(struct gp_timeline_counter){.kind = GP_TIMELINE_QUEUE,
							 .time_ns = point->time_ns,
							 .device_id = op->device_id,
							 .name = name,
							 .series = {{"operations", point->value}},
							 .series_count = 1,
							 .changed = GP_NONE});
}

static void tell_bandwidth(struct gp_timeline *t, const struct gp_curve_point *point)
{
	const struct gp_op *op = &t->model->ops[point->index];

	gp_walk_counter(t, &(struct gp_timeline_counter){.kind = GP_TIMELINE_BANDWIDTH,
							 .time_ns = point->time_ns,
							 .device_id = op->device_id,
							 .name = gp_curve_direction(op),
							 .series = {{"GB/s", point->value}},
							 .series_count = 1,
							 .changed = GP_NONE});
}

static void walk_curve(struct gp_timeline *t,
		       int (*make)(struct gp_curve *curve, const struct gp_model *model),
		       void (*tell)(struct gp_timeline *t, const struct gp_curve_point *point))
{
	uint64_t first_ns = gp_walk_first_shown(t);
	struct gp_curve curve;

	if (t->error != 0)
		return;
	t->error = make(&curve, t->model);
	if (t->error == 0)
		t->error = gp_curve_begin_at(&curve, first_ns);
	for (uint32_t i = 0; t->error == 0 && i < curve.count; i++)
		if (curve.points[i].time_ns == first_ns ||
		    gp_timeline_shows_moment(t, curve.points[i].time_ns))
			tell(t, &curve.points[i]);
	gp_curve_free(&curve);
}

void gp_walk_curves(struct gp_timeline *t)
{
	if (!t->has_curves || t->slices_only)
		return;
	walk_curve(t, gp_curve_queues, tell_length);
	walk_curve(t, gp_curve_bandwidth, tell_bandwidth);
}

/* ---- the critical path ---- */

static void walk_step(struct gp_timeline *t, const struct gp_path_step *step)
{
	const struct gp_model *model = t->model;
	char room[GP_PATH_WORDS_BYTES];
	struct gp_timeline_event event = {
		.kind = GP_TIMELINE_PATH, .start_ns = step->start_ns, .end_ns = step->end_ns};

	if (step->end_ns <= step->start_ns || !gp_walk_wants(t, &event))
		return;
	event.name = gp_path_words(room, model, step, t->names, false);
	gp_walk_text(&event, "of", gp_path_category(step->kind));
	if (step->index != GP_NONE)
		gp_walk_number(&event, "correlation",
			       gp_path_is_of_op(step) ? model->ops[step->index].correlation_id
						      : model->calls[step->index].correlation_id);
	gp_walk_event(t, &event);
}

void gp_walk_path(struct gp_timeline *t)
{
	struct gp_path path = {0};

	if (t->has_path && !t->slices_only && t->model->call_count > 0)
		t->error = gp_path_of(&path, t->model);
	if (path.count > 0)
		gp_walk_track(t, &(struct gp_timeline_track){.kind = GP_TRACK_HOST,
							     .name = "critical path"});
	for (uint32_t i = path.count; t->error == 0 && i-- > 0;)
		walk_step(t, &path.steps[i]);
	gp_path_free(&path);
}

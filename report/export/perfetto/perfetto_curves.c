/*
 * What changes over time, as counters (--counters), and what each moment waited for, as a track
 * (--critical-path).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/analysis/idle/critical_path.h"
#include "report/analysis/device/curves.h"
#include "report/base/array.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/analysis/loop/path_words.h"

/* ---- counters ---- */

/* The tracks of curves, by the operation that stands for each; 0 = not made yet. */
typedef uint64_t make_track(struct gp_perfetto *p, const struct gp_op *op);

static uint32_t number_of(struct gp_perfetto *p, const struct gp_op *op)
{
	return gp_gpu_numbers_find(&p->gpus, p->model, op->device_id, NULL);
}

static uint64_t make_queue(struct gp_perfetto *p, const struct gp_op *op)
{
	char name[96], context[32] = "";
	bool is_new;

	if (p->model->context_count > 1)
		snprintf(context, sizeof(context), " (context %u)", op->context_id);
	snprintf(name, sizeof(name), "GPU %u queue of stream %u%s", number_of(p, op), op->stream_id,
		 context);
	return gp_perfetto_counter(p, name, GP_PERFETTO_UNIT_COUNT, &is_new);
}

static uint64_t make_direction(struct gp_perfetto *p, const struct gp_op *op)
{
	char name[96];
	bool is_new;

	snprintf(name, sizeof(name), "GPU %u %s", number_of(p, op), gp_curve_direction(op));
	return gp_perfetto_counter(p, name, GP_PERFETTO_UNIT_GB_PER_S, &is_new);
}

static void write_point(struct gp_perfetto *p, uint64_t track, const struct gp_curve_point *point,
			bool is_rate)
{
	gp_perfetto_open_event(p, GP_PERFETTO_COUNTER, track, point->time_ns);
	if (is_rate)
		gp_protobuf_double(&p->event, EVENT_COUNTER_REAL, (double)point->value / 1e9);
	else
		gp_protobuf_value(&p->event, EVENT_COUNTER, point->value);
	gp_perfetto_close_event(p);
}

static void write_points(struct gp_perfetto *p, const struct gp_curve *curve, make_track *make)
{
	uint64_t *tracks = calloc((size_t)p->model->op_count + 1, sizeof(*tracks));

	if (!tracks)
		p->error = -ENOMEM;
	for (uint32_t i = 0; p->error == 0 && i < curve->count; i++) {
		const struct gp_curve_point *point = &curve->points[i];
		uint64_t *track = &tracks[point->index];

		if (!gp_slice_filter_has_moment(&p->filter, point->time_ns))
			continue;
		if (*track == 0)
			*track = make(p, &p->model->ops[point->index]);
		write_point(p, *track, point, make == make_direction);
	}
	free(tracks);
}

static void write_curve(struct gp_perfetto *p,
			int (*find)(struct gp_curve *curve, const struct gp_model *model),
			make_track *make)
{
	struct gp_curve curve;

	p->error = find(&curve, p->model);
	if (p->error == 0)
		p->error = gp_curve_begin_at(&curve, p->filter.from_ns);
	if (p->error == 0)
		write_points(p, &curve, make);
	gp_curve_free(&curve);
}

void gp_perfetto_write_counters(struct gp_perfetto *p)
{
	if (p->error == 0)
		write_curve(p, gp_curve_queues, make_queue);
	if (p->error == 0)
		write_curve(p, gp_curve_bandwidth, make_direction);
}

/* ---- the critical path ---- */

/* Names of steps that were written: by their text, for most come again and again. */
struct step_names {
	struct gp_groups texts;
	uint64_t *known;
	uint32_t count, capacity;
};

static uint64_t name_step(struct gp_perfetto *p, struct step_names *names, const char *words)
{
	uint32_t number = gp_groups_find(&names->texts, words);

	if (number == UINT32_MAX ||
	    gp_array_grow(&names->known, &names->capacity, number, sizeof(*names->known)) < 0) {
		p->error = -ENOMEM;
		return 0;
	}
	if (number >= names->count) {
		names->known[number] = 0;
		names->count = number + 1;
	}
	return gp_perfetto_name(p, &names->known[number], words);
}

static void write_step(struct gp_perfetto *p, const struct gp_path_step *step,
		       struct step_names *names)
{
	const struct gp_model *model = p->model;
	uint64_t track = gp_perfetto_place(p, step->start_ns, step->end_ns), name;
	char room[GP_PATH_WORDS_BYTES];

	name = name_step(p, names, gp_path_words(room, model, step, p->names, false));
	gp_perfetto_open_event(p, GP_PERFETTO_BEGIN, track, step->start_ns);
	gp_perfetto_name_event(p, GP_PERFETTO_PATH, name);
	gp_perfetto_note_text(p, GP_PERFETTO_OF, gp_path_category(step->kind));
	if (step->index != GP_NONE)
		gp_perfetto_note(p, GP_PERFETTO_CORRELATION,
				 gp_path_is_of_op(step) ? model->ops[step->index].correlation_id
							: model->calls[step->index].correlation_id);
	gp_perfetto_close_event(p);
	gp_perfetto_end_slice(p, track, step->end_ns);
}

void gp_perfetto_write_path(struct gp_perfetto *p)
{
	struct step_names names = {0};
	struct gp_path path = {0};

	if (p->error == 0 && p->model->call_count > 0)
		p->error = gp_path_of(&path, p->model);
	gp_perfetto_begin_track(p, "critical path", true);
	for (uint32_t i = path.count; p->error == 0 && i-- > 0;) {
		const struct gp_path_step *step = &path.steps[i];

		if (step->end_ns > step->start_ns &&
		    gp_slice_filter_has(&p->filter, step->start_ns, step->end_ns))
			write_step(p, step, &names);
	}
	gp_groups_free(&names.texts);
	free(names.known);
	gp_path_free(&path);
}

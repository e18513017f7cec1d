/*
 * What changes over time, as counters (--counters), and what each moment waited for, as a track
 * (--critical-path): HolisticTraceAnalysis draws them, too.
 */
#include <stdio.h>
#include <string.h>

#include "report/analysis/idle/critical_path.h"
#include "report/analysis/device/curves.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/analysis/loop/path_words.h"

/* ---- counters ---- */

typedef void put_point(struct gp_chrome *chrome, const struct gp_curve_point *point);

static void put_length(struct gp_chrome *chrome, const struct gp_curve_point *point)
{
	const struct gp_op *op = &chrome->model->ops[point->index];
	const struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, op->device_id);
	char name[96], context[32] = "";

	if (chrome->model->context_count > 1)
		snprintf(context, sizeof(context), " (context %u)", op->context_id);
	snprintf(name, sizeof(name), "%s%squeue of stream %u%s", chrome->owner,
		 *chrome->owner ? ": " : "", op->stream_id, context);
	gp_chrome_open_counter(chrome, name, gpu->pid, point->time_ns);
	gp_json_text(&chrome->json, "\"operations\":");
	gp_chrome_put_number(&chrome->json, point->value);
	gp_json_text(&chrome->json, "}}");
}

static void put_bandwidth(struct gp_chrome *chrome, const struct gp_curve_point *point)
{
	const struct gp_op *op = &chrome->model->ops[point->index];
	const struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, op->device_id);
	char name[96], number[32];

	snprintf(name, sizeof(name), "%s%sGPU %u %s", chrome->owner, *chrome->owner ? ": " : "",
		 gpu->number, gp_curve_direction(op));
	gp_chrome_open_counter(chrome, name, gpu->pid, point->time_ns);
	snprintf(number, sizeof(number), "\"GB/s\":%.3f", (double)point->value / 1e9);
	gp_json_text(&chrome->json, number);
	gp_json_text(&chrome->json, "}}");
}

static void write_curve(struct gp_chrome *chrome,
			int (*make)(struct gp_curve *curve, const struct gp_model *model),
			put_point *put)
{
	uint64_t first_ns = gp_chrome_first_shown(chrome);
	struct gp_curve curve;

	chrome->error = make(&curve, chrome->model);
	if (chrome->error == 0)
		chrome->error = gp_curve_begin_at(&curve, first_ns);
	for (uint32_t i = 0; chrome->error == 0 && i < curve.count; i++)
		if (curve.points[i].time_ns == first_ns ||
		    gp_chrome_is_moment_shown(chrome, curve.points[i].time_ns))
			put(chrome, &curve.points[i]);
	gp_curve_free(&curve);
}

void gp_chrome_write_counters(struct gp_chrome *chrome)
{
	if (chrome->error == 0)
		write_curve(chrome, gp_curve_queues, put_length);
	if (chrome->error == 0)
		write_curve(chrome, gp_curve_bandwidth, put_bandwidth);
}

/* ---- the critical path ---- */

static void write_step(struct gp_chrome *chrome, const struct gp_path_step *step)
{
	struct gp_json *json = &chrome->json;
	const struct gp_model *model = chrome->model;
	const char *category = gp_path_category(step->kind);
	char room[GP_PATH_WORDS_BYTES];

	gp_chrome_open_slice(chrome, "critical_path",
			     gp_path_words(room, model, step, chrome->names, false), step->start_ns,
			     step->end_ns, "of");
	gp_json_string(json, category, strlen(category));
	if (step->index != GP_NONE)
		gp_chrome_put_field(json, "correlation",
				    gp_path_is_of_op(step)
					    ? model->ops[step->index].correlation_id
					    : model->calls[step->index].correlation_id);
	gp_json_text(json, "}}");
	chrome->slices--; /* it is no event */
}

void gp_chrome_write_path(struct gp_chrome *chrome, struct gp_chrome_tids *tids)
{
	struct gp_path path = {0};

	if (chrome->error == 0 && chrome->model->call_count > 0)
		chrome->error = gp_path_of(&path, chrome->model);
	if (path.count > 0 && chrome->error == 0) {
		snprintf(chrome->track_name, sizeof(chrome->track_name), "critical path");
		gp_chrome_begin_track(chrome, tids, chrome->host_pid, gp_chrome_fresh_tid(tids),
				      false);
	}
	for (uint32_t i = path.count; chrome->error == 0 && i-- > 0;) {
		const struct gp_path_step *step = &path.steps[i];

		if (step->end_ns > step->start_ns &&
		    gp_chrome_is_shown(chrome, step->start_ns, step->end_ns))
			write_step(chrome, step);
	}
	gp_path_free(&path);
}

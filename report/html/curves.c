#include "report/html/curves.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/curves.h"
#include "report/analysis/device/energy_tracks.h"
#include "report/analysis/device/hw_metrics.h"
#include "report/base/array.h"
#include "report/html/pack.h"

/* The largest exact number of a page. */
#define MOST_VALUE ((UINT64_C(1) << 53) - 1)

#define KEPT_OF_GROUP 2u /* the highest and the last */

/* The kept ones of some successive points. */
struct group {
	struct gp_curve_point highest, last;
	uint64_t count;
};

enum kind { QUEUE, BANDWIDTH, HARDWARE, ENERGY };

struct curve {
	size_t process;
	enum kind kind;
	/* QUEUE, BANDWIDTH: one of its operations; HARDWARE, ENERGY: device and metric */
	uint32_t index;
	struct group group; /* not written yet */
};

struct curves {
	struct gp_scope *scope;
	struct gp_html_columns columns;
	struct curve *entries;
	uint32_t count, capacity;
	uint64_t group_most; /* points in a group */
	uint64_t points;
	uint64_t origin_unix_ns, last_ns;
};

typedef int make_curve(struct gp_curve *curve, const struct gp_model *model);

static void add_sample(struct gp_curve *curve, const struct gp_record_hw_sample *sample,
		       bool is_followed)
{
	for (uint32_t m = 0; m < GP_HW_METRICS; m++) {
		struct gp_curve_point point = {sample->start_ns, gp_hw_level(sample, m),
					       sample->device_id * GP_HW_METRICS + m, HARDWARE};

		if (!gp_hw_has(sample, m))
			continue;
		gp_curve_add(curve, point);
		point.time_ns = sample->end_ns;
		point.value = 0;
		if (!is_followed)
			gp_curve_add(curve, point);
	}
}

/* The curve is empty where there is no sample. */
static int make_hardware(struct gp_curve *curve, const struct gp_model *model)
{
	*curve = (struct gp_curve){0};
	for (uint32_t i = 0; i < model->hw_sample_count; i++) {
		const struct gp_record_hw_sample *sample = &model->hw_samples[i];

		add_sample(curve, sample,
			   i + 1 < model->hw_sample_count &&
				   sample[1].device_id == sample->device_id &&
				   sample[1].start_ns <= sample->end_ns);
	}
	return 0;
}

static int make_energy(struct gp_curve *curve, const struct gp_model *model)
{
	const struct gp_energy *first = model->energies;

	*curve = (struct gp_curve){0};
	for (uint32_t i = 0; i < model->energy_count; i++) {
		const struct gp_energy *sample = &model->energies[i];

		if (sample->device_id != first->device_id)
			first = sample;
		for (unsigned t = 0; t < GP_ENERGY_TRACKS; t++)
			gp_curve_add(curve,
				     (struct gp_curve_point){
					     sample->time_ns, gp_energy_level(sample, first, t),
					     sample->device_id * GP_ENERGY_TRACKS + t, ENERGY});
	}
	return 0;
}

static make_curve *const makers[] = {[QUEUE] = gp_curve_queues,
				     [BANDWIDTH] = gp_curve_bandwidth,
				     [HARDWARE] = make_hardware,
				     [ENERGY] = make_energy};

/* Curves of this process and kind begin at first. */
static struct curve *find_curve(struct curves *all, uint32_t first, struct curve wanted)
{
	for (uint32_t i = first; i < all->count; i++)
		if (all->entries[i].index == wanted.index)
			return &all->entries[i];
	gp_array_grow(&all->entries, &all->capacity, all->count, sizeof(*all->entries));
	all->entries[all->count] = wanted;
	return &all->entries[all->count++];
}

static void put_point(struct curves *all, const struct curve *curve,
		      const struct gp_curve_point *point)
{
	const struct gp_model *model = all->scope->models[curve->process];
	uint64_t unix_ns = model->base_unix_ns + point->time_ns;
	uint64_t time_ns = unix_ns > all->origin_unix_ns ? unix_ns - all->origin_unix_ns : 0;

	if (gp_html_columns_at_block(&all->columns))
		all->last_ns = 0;
	gp_html_columns_add(&all->columns,
			    (uint64_t[]){gp_html_zigzag((int64_t)(time_ns - all->last_ns)),
					 (uint64_t)(curve - all->entries),
					 point->value < MOST_VALUE ? point->value : MOST_VALUE});
	all->last_ns = time_ns;
}

static void put_group(struct curves *all, struct curve *curve)
{
	struct group *group = &curve->group;

	if (group->count > 1 && group->highest.value > group->last.value)
		put_point(all, curve, &group->highest);
	if (group->count > 0)
		put_point(all, curve, &group->last);
	*group = (struct group){0};
}

static void take_point(struct curves *all, struct curve *curve, const struct gp_curve_point *point)
{
	struct group *group = &curve->group;

	if (group->count == 0 || point->value > group->highest.value)
		group->highest = *point;
	group->last = *point;
	all->points++;
	if (++group->count >= all->group_most)
		put_group(all, curve);
}

/* The curves of one process and kind, if any. */
static int take_curves(struct curves *all, size_t process, enum kind kind)
{
	uint32_t first = all->count;
	struct gp_curve points;
	int result = makers[kind](&points, all->scope->models[process]);

	for (uint32_t i = 0; result == 0 && i < points.count; i++) {
		struct curve *curve = find_curve(all, first,
						 (struct curve){.process = process,
								.kind = kind,
								.index = points.points[i].index});

		take_point(all, curve, &points.points[i]);
	}
	for (uint32_t i = first; result == 0 && i < all->count; i++)
		put_group(all, &all->entries[i]);
	gp_curve_free(&points);
	return result;
}

/*
 * The number of points in a group: more than one if there are more than the limit.  An operation
 * makes at most two points of each kind.
 */
static uint64_t choose_group(const struct gp_scope *scope, bool has_operations, uint64_t limit)
{
	uint64_t points = 0;

	for (size_t m = 0; m < scope->model_count; m++)
		points += (has_operations ? UINT64_C(2) * scope->models[m]->op_count : 0) +
			  UINT64_C(1) * GP_HW_METRICS * scope->models[m]->hw_sample_count +
			  UINT64_C(1) * GP_ENERGY_TRACKS * scope->models[m]->energy_count;
	return limit == 0 || points <= limit ? 1 : points / (limit / KEPT_OF_GROUP + 1) + 1;
}

/* How a curve is shown. */
struct legend {
	char name[64];
	const char *unit;
	unsigned divisor;
	uint16_t device_id;
};

static struct legend legend_of_metric(const struct curve *curve)
{
	const struct gp_hw_metric_row *metric = &gp_hw_metrics[curve->index % GP_HW_METRICS];
	const char *series = metric->unit == GP_HW_UNIT_BYTES ? metric->series : "";
	struct legend legend = {.unit = gp_hw_units[metric->unit].word,
				.divisor = gp_hw_units[metric->unit].divisor,
				.device_id = (uint16_t)(curve->index / GP_HW_METRICS)};

	snprintf(legend.name, sizeof(legend.name), "%s%s%s", metric->track, *series ? " " : "",
		 series);
	return legend;
}

static struct legend legend_of_energy(const struct curve *curve)
{
	const struct gp_energy_track_row *row = &gp_energy_tracks[curve->index % GP_ENERGY_TRACKS];
	struct legend legend = {.unit = row->unit,
				.divisor = row->divisor,
				.device_id = (uint16_t)(curve->index / GP_ENERGY_TRACKS)};

	snprintf(legend.name, sizeof(legend.name), "%s", row->name);
	return legend;
}

static struct legend legend_of_operations(const struct curve *curve, const struct gp_model *model)
{
	const struct gp_op *op = &model->ops[curve->index];
	struct legend legend = {.unit = "operations", .divisor = 1, .device_id = op->device_id};

	if (curve->kind == BANDWIDTH) {
		snprintf(legend.name, sizeof(legend.name), "%s", gp_curve_direction(op));
		legend.unit = gp_hw_units[GP_HW_UNIT_BYTES].word;
		legend.divisor = gp_hw_units[GP_HW_UNIT_BYTES].divisor;
	} else if (model->context_count > 1) {
		snprintf(legend.name, sizeof(legend.name), "queue of stream %u (context %u)",
			 op->stream_id, op->context_id);
	} else {
		snprintf(legend.name, sizeof(legend.name), "queue of stream %u", op->stream_id);
	}
	return legend;
}

static void put_curve(const struct curves *all, const struct curve *curve, struct gp_json *json)
{
	const struct gp_model *model = all->scope->models[curve->process];
	const struct legend legend = curve->kind == HARDWARE ? legend_of_metric(curve)
				     : curve->kind == ENERGY ? legend_of_energy(curve)
							     : legend_of_operations(curve, model);

	gp_json_text(json, "{\"process\":");
	gp_json_unsigned(json, curve->process);
	gp_json_text(json, ",\"device\":");
	gp_json_unsigned(json, gp_scope_device(all->scope, model, legend.device_id));
	gp_json_string_after(json, ",\"name\":", legend.name);
	gp_json_string_after(json, ",\"unit\":", legend.unit);
	gp_json_text(json, ",\"divisor\":");
	gp_json_unsigned(json, legend.divisor);
	gp_json_text(json, "}");
}

static void put_names(const struct curves *all, struct gp_json *json)
{
	gp_json_text(json, "{\"points\":");
	gp_json_unsigned(json, all->columns.rows);
	gp_json_text(json, ",\"leftOut\":");
	gp_json_unsigned(json, all->points - all->columns.rows);
	gp_json_text(json, ",\"curves\":[");
	for (uint32_t i = 0; i < all->count; i++) {
		gp_json_text(json, i > 0 ? "," : "");
		put_curve(all, &all->entries[i], json);
	}
	gp_json_text(json, "]}");
}

int gp_html_curves(struct gp_scope *scope, bool has_operations, uint64_t origin_unix_ns,
		   uint64_t limit, FILE *out, struct gp_json *json)
{
	struct curves all = {.scope = scope,
			     .origin_unix_ns = origin_unix_ns,
			     .group_most = choose_group(scope, has_operations, limit)};
	int result = gp_html_columns_open(&all.columns, out, "curves", 3);

	for (size_t m = 0; result == 0 && m < scope->model_count; m++)
		for (enum kind kind = QUEUE; result == 0 && kind <= ENERGY; kind++)
			if (has_operations || kind >= HARDWARE)
				result = take_curves(&all, m, kind);
	if (result == 0)
		put_names(&all, json);
	gp_html_columns_close(&all.columns);
	free(all.entries);
	return result < 0 ? result : 0;
}

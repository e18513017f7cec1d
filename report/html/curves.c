#include "report/html/curves.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/curves.h"
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

struct curve {
	size_t process;
	uint32_t op; /* one of its operations */
	bool is_rate;
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

static make_curve *const makers[] = {gp_curve_queues, gp_curve_bandwidth};

/* Curves of this process and kind begin at first. */
static struct curve *find_curve(struct curves *all, uint32_t first, struct curve wanted)
{
	for (uint32_t i = first; i < all->count; i++)
		if (all->entries[i].op == wanted.op)
			return &all->entries[i];
	if (gp_array_grow(&all->entries, &all->capacity, all->count, sizeof(*all->entries)) < 0)
		return NULL;
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
static int take_curves(struct curves *all, size_t process, size_t kind)
{
	uint32_t first = all->count;
	struct gp_curve points;
	int result = makers[kind](&points, all->scope->models[process]);

	for (uint32_t i = 0; result == 0 && i < points.count; i++) {
		struct curve *curve = find_curve(all, first,
						 (struct curve){.process = process,
								.op = points.points[i].index,
								.is_rate = kind > 0});

		if (curve)
			take_point(all, curve, &points.points[i]);
		else
			result = -ENOMEM;
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
static uint64_t choose_group(const struct gp_scope *scope, uint64_t limit)
{
	uint64_t points = 0;

	for (size_t m = 0; m < scope->model_count; m++)
		points += UINT64_C(2) * scope->models[m]->op_count;
	return limit == 0 || points <= limit ? 1 : points / (limit / KEPT_OF_GROUP + 1) + 1;
}

static void put_curve(const struct curves *all, const struct curve *curve, struct gp_json *json)
{
	const struct gp_model *model = all->scope->models[curve->process];
	const struct gp_op *op = &model->ops[curve->op];
	char name[64];

	if (curve->is_rate)
		snprintf(name, sizeof(name), "%s", gp_curve_direction(op));
	else if (model->context_count > 1)
		snprintf(name, sizeof(name), "queue of stream %u (context %u)", op->stream_id,
			 op->context_id);
	else
		snprintf(name, sizeof(name), "queue of stream %u", op->stream_id);
	gp_json_text(json, "{\"process\":");
	gp_json_unsigned(json, curve->process);
	gp_json_text(json, ",\"device\":");
	gp_json_unsigned(json, gp_scope_device(all->scope, model, op->device_id));
	gp_json_string_after(json, ",\"name\":", name);
	gp_json_text(json, curve->is_rate ? ",\"rate\":1}" : ",\"rate\":0}");
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

int gp_html_curves(struct gp_scope *scope, uint64_t origin_unix_ns, uint64_t limit, FILE *out,
		   struct gp_json *json)
{
	struct curves all = {.scope = scope,
			     .origin_unix_ns = origin_unix_ns,
			     .group_most = choose_group(scope, limit)};
	int closed, result = gp_html_columns_open(&all.columns, out, "curves", 3);

	for (size_t m = 0; result == 0 && m < scope->model_count; m++)
		for (size_t kind = 0; result == 0 && kind < sizeof(makers) / sizeof(*makers);
		     kind++)
			result = take_curves(&all, m, kind);
	if (result == 0)
		put_names(&all, json);
	closed = gp_html_columns_close(&all.columns);
	free(all.entries);
	return result < 0 ? result : closed;
}

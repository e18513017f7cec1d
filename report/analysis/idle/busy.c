#include "report/analysis/idle/busy.h"

#include <stdbool.h>
#include <stdlib.h>

#include "report/analysis/device/device_ops.h"
#include "report/model/sums/totals.h"
#include "report/model/recorded.h"

static void stretch(struct gp_window *window, uint64_t start_unix_ns, uint64_t end_unix_ns)
{
	if (start_unix_ns < window->start_unix_ns)
		window->start_unix_ns = start_unix_ns;
	if (end_unix_ns > window->end_unix_ns)
		window->end_unix_ns = end_unix_ns;
}

bool gp_busy_is_open(const struct gp_model *model)
{
	return !model->losses.closed && !model->recorder &&
	       gp_recorded_last_known_ns(model) > model->last_call_ns;
}

static void stretch_to_ops(struct gp_window *window, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		if (!model->ops[i].untimed && !gp_op_is_on_host(&model->ops[i]))
			stretch(window, model->base_unix_ns + model->ops[i].start_ns,
				model->base_unix_ns + model->ops[i].end_ns);
}

/* A trace of another recorder may end amid the work: its calls are no bounds. */
static void stretch_to_calls(struct gp_window *window, const struct gp_model *model)
{
	uint64_t end_ns =
		gp_busy_is_open(model) ? gp_recorded_last_known_ns(model) : model->last_call_ns;

	if (model->call_count > 0 || model->last_call_ns > 0)
		stretch(window, model->base_unix_ns + model->first_call_ns,
			model->base_unix_ns + end_ns);
	if (gp_recorded_by_another(model))
		stretch_to_ops(window, model);
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

struct gp_window gp_busy_life(struct gp_model *model)
{
	struct gp_window life = gp_busy_window(&model, 1);
	struct gp_recorded_part part;
	uint32_t next = 0;

	while (model->gate_count > 0 && gp_recorded_part(model, &next, &part))
		stretch(&life, model->base_unix_ns + part.start_ns,
			model->base_unix_ns + part.end_ns);
	return life;
}

/* From when on nothing runs any more that was launched while the recording paused. */
static uint64_t known_from(const struct gp_model *model, const struct gp_recorded_part *part)
{
	const struct gp_op *first;
	const struct gp_call *call;

	if (!part->resumed || part->resumed->reason == GP_GATE_KEPT ||
	    part->resumed->first_op == GP_NONE)
		return part->start_ns;
	first = &model->ops[part->resumed->first_op];
	if (first->call == GP_NONE)
		return part->start_ns;
	call = &model->calls[first->call];
	if (call->start_ns < part->start_ns || call->start_ns >= part->end_ns ||
	    first->start_ns <= call->start_ns + call->duration_ns + GP_BUSY_LATENCY_NS)
		return part->start_ns;
	return first->start_ns < part->end_ns ? first->start_ns : part->end_ns;
}

static size_t gather_parts(struct gp_interval *intervals, const struct gp_model *model)
{
	struct gp_recorded_part part;
	uint32_t next = 0;
	size_t count = 0;

	while (gp_recorded_part(model, &next, &part))
		intervals[count++] =
			(struct gp_interval){model->base_unix_ns + known_from(model, &part),
					     model->base_unix_ns + part.end_ns};
	return count;
}

/* The lives of the processes, as far as they lie within the window. */
static size_t gather_lives(struct gp_interval *intervals, struct gp_model *const *models,
			   size_t model_count, struct gp_window window)
{
	size_t count = 0;

	for (size_t i = 0; i < model_count; i++) {
		struct gp_window life = gp_busy_window(&models[i], 1);

		if (life.start_unix_ns < window.start_unix_ns)
			life.start_unix_ns = window.start_unix_ns;
		if (life.end_unix_ns > window.end_unix_ns)
			life.end_unix_ns = window.end_unix_ns;
		if (life.start_unix_ns < life.end_unix_ns)
			intervals[count++] =
				(struct gp_interval){life.start_unix_ns, life.end_unix_ns};
	}
	return count;
}

/*
 * Of a process that nothing paused, its life counts; of others the parts do, as long as the summary
 * says that they are.
 */
int gp_busy_parts_of(struct gp_busy_parts *parts, struct gp_model *const *models,
		     size_t model_count, struct gp_window window)
{
	size_t gates = 0, count = 0;

	for (size_t i = 0; i < model_count; i++)
		gates += models[i]->gate_count;
	*parts = (struct gp_busy_parts){
		.intervals = malloc((model_count + gates + 1) * sizeof(*parts->intervals))};
	for (size_t i = 0; i < model_count; i++)
		count += models[i]->gate_count > 0
				 ? gather_parts(parts->intervals + count, models[i])
				 : gather_lives(parts->intervals + count, &models[i], 1, window);
	parts->count = gp_interval_join(parts->intervals, count);
	parts->total_ns = gp_interval_union(parts->intervals, parts->count);
	return 0;
}

static bool is_any_in_part(struct gp_model *const *models, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (models[i]->gate_count > 0)
			return true;
	return false;
}

/* Of a device with these users among the models. */
static int parts_of_users(struct gp_busy_parts *parts, struct gp_model *const *users,
			  size_t user_count, struct gp_model *const *models, size_t model_count,
			  struct gp_window window)
{
	return is_any_in_part(users, user_count)
		       ? gp_busy_parts_of(parts, users, user_count, window)
		       : gp_busy_parts_of(parts, models, model_count, window);
}

void gp_busy_device_parts(struct gp_busy_parts *parts, const struct gp_device_ops *ops,
			  size_t device, size_t model_count, struct gp_window window)
{
	uint32_t *users = calloc(model_count + 1, sizeof(*users));
	struct gp_model **models = calloc(model_count + 1, sizeof(struct gp_model *));

	size_t count = gp_device_ops_users(ops, device, users);

	*parts = (struct gp_busy_parts){0};
	for (size_t i = 0; i < count; i++)
		models[i] = ops->models[users[i]];
	parts_of_users(parts, models, count, ops->models, model_count, window);
	free(models);
	free(users);
}

void gp_busy_lives_ns(uint64_t *lives_ns, struct gp_model *const *models, size_t model_count)
{
	struct gp_interval *intervals = malloc((model_count + 1) * sizeof(*intervals));

	*lives_ns = 0;
	*lives_ns = gp_interval_union(intervals, gather_lives(intervals, models, model_count,
							      gp_busy_window(models, model_count)));
	free(intervals);
}

void gp_busy_recorded_ns(uint64_t *recorded_ns, struct gp_model *const *models, size_t model_count)
{
	struct gp_busy_parts parts;

	gp_busy_parts_of(&parts, models, model_count, gp_busy_window(models, model_count));
	*recorded_ns = parts.total_ns;
	free(parts.intervals);
}

/* How long both last. */
static uint64_t common(struct gp_interval part, uint64_t from, uint64_t to)
{
	uint64_t start = part.start_ns > from ? part.start_ns : from;
	uint64_t end = part.end_ns < to ? part.end_ns : to;

	return end > start ? end - start : 0;
}

/* The operations of a device, in the order of their starts, as they are added up. */
struct progress {
	const struct gp_busy_parts *parts;
	uint64_t reached_ns; /* where all so far have ended */
	size_t part;         /* the first that has not ended before that */
};

static void add(struct gp_busy *busy, struct progress *progress, uint64_t start_ns, uint64_t end_ns)
{
	const struct gp_busy_parts *parts = progress->parts;
	uint64_t new_ns = gp_interval_reach(&progress->reached_ns, start_ns, end_ns);
	uint64_t from = end_ns - new_ns, inside_ns = 0;

	busy->operations++;
	if (new_ns == 0)
		return;
	while (progress->part < parts->count && parts->intervals[progress->part].end_ns <= from)
		progress->part++;
	for (size_t p = progress->part; p < parts->count && parts->intervals[p].start_ns < end_ns;
	     p++)
		inside_ns += common(parts->intervals[p], from, end_ns);
	busy->inside_ns += inside_ns;
	busy->outside_ns += new_ns - inside_ns;
}

/* Of a part of a trace (gp_part), operations count within its time. */
static void add_op(struct gp_busy *busy, struct progress *progress, const struct gp_model *model,
		   const struct gp_op *op)
{
	struct gp_interval time = {op->start_ns, op->end_ns};

	if (model->part.is_one && time.start_ns < model->part.from_ns)
		time.start_ns = model->part.from_ns;
	if (model->part.is_one && time.end_ns > model->part.to_ns)
		time.end_ns = model->part.to_ns;
	if (!model->part.is_one || time.start_ns < time.end_ns)
		add(busy, progress, model->base_unix_ns + time.start_ns,
		    model->base_unix_ns + time.end_ns);
}

static void measure(struct gp_busy *busy, struct gp_device_ops *ops, size_t device,
		    size_t model_count, struct gp_window window)
{
	struct gp_busy_parts parts;
	struct progress progress = {.parts = &parts};
	struct gp_op_at at;

	gp_busy_device_parts(&parts, ops, device, model_count, window);
	busy->possible_ns = parts.total_ns;
	gp_device_ops_start(ops, device);
	while (gp_device_ops_next(ops, &at))
		add_op(busy, &progress, ops->models[at.model], gp_op_of(ops->models, at));
	free(parts.intervals);
}

/*
 * The longest possible time of an operation whose time cannot be right: until the next of its
 * stream.
 */
static uint64_t most_ns(const struct gp_model *model, const struct gp_contradiction *one)
{
	uint64_t end_ns = one->stated.end_ns;

	for (uint32_t i = one->op + 1;
	     i < model->op_count && gp_ops_share_stream(&model->ops[i], &one->stated); i++) {
		if (!gp_model_has_place(model, &model->ops[i]))
			continue;
		if (model->ops[i].start_ns < end_ns)
			end_ns = model->ops[i].start_ns;
		break;
	}
	return end_ns - one->stated.start_ns;
}

static void add_not_known(struct gp_busy *busy, const struct gp_device_list *devices,
			  const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->contradiction_count; i++) {
		const struct gp_contradiction *one = &model->contradictions[i];
		size_t device = gp_device_list_known(devices, model, one->stated.device_id);

		if (device < devices->count)
			busy[device].more_ns += most_ns(model, one);
	}
}

static void measure_models(struct gp_busy **busy, struct gp_model *const *models,
			   size_t model_count, struct gp_window window,
			   struct gp_device_list *devices)
{
	struct gp_device_ops ops;

	gp_device_ops_open(&ops, models, model_count, devices);
	*busy = calloc(devices->count + 1, sizeof(**busy));
	for (size_t i = 0; *busy && i < devices->count; i++)
		measure(&(*busy)[i], &ops, i, model_count, window);
	for (size_t m = 0; *busy && m < model_count; m++)
		add_not_known(*busy, devices, models[m]);
	gp_device_ops_close(&ops);
}

/* ---- models that have sums alone ---- */

/* A process's times on a device. */
struct use {
	size_t device;
	struct gp_model *model;
	const struct gp_cover_device *cover;
};

static void gather_uses(struct use *uses, size_t *count, struct gp_model *const *models,
			size_t model_count, struct gp_device_list *devices)
{
	for (size_t i = 0; i < model_count; i++) {
		const struct gp_cover *cover = &gp_totals_of(models[i])->cover;

		for (uint32_t j = 0; j < cover->device_count; j++) {
			uint16_t id = (uint16_t)cover->devices[j].device;
			size_t device = gp_device_list_find(devices, models[i], id);

			uses[(*count)++] = (struct use){device, models[i], &cover->devices[j]};
		}
	}
}

static void measure_uses(struct gp_busy *busy, const struct use *uses, size_t use_count,
			 size_t device, struct gp_model *const *models, size_t model_count,
			 struct gp_window window)
{
	struct gp_model **users = calloc(use_count + 1, sizeof(struct gp_model *));
	const struct gp_cover_device **covers =
		calloc(use_count + 1, sizeof(struct gp_cover_device *));
	struct gp_busy_parts parts = {0};
	uint64_t ns = 0, late_ns = 0;
	uint32_t count = 0;

	for (size_t i = 0; i < use_count; i++)
		if (uses[i].device == device) {
			users[count] = uses[i].model;
			covers[count++] = uses[i].cover;
			late_ns += uses[i].cover->late_ns;
		}
	parts_of_users(&parts, users, count, models, model_count, window);
	gp_cover_union(covers, count, &ns, &busy->more_ns);
	busy->possible_ns = parts.total_ns;
	busy->inside_ns = ns < busy->possible_ns ? ns : busy->possible_ns;
	busy->outside_ns = ns - busy->inside_ns;
	busy->more_ns += late_ns;
	free(parts.intervals);
	free(users);
	free(covers);
}

static void measure_totals(struct gp_busy **busy, struct gp_model *const *models,
			   size_t model_count, struct gp_window window,
			   struct gp_device_list *devices)
{
	size_t room = 1, count = 0;
	struct use *uses;

	for (size_t i = 0; i < model_count; i++)
		room += gp_totals_of(models[i])->cover.device_count;
	uses = calloc(room, sizeof(*uses));
	gather_uses(uses, &count, models, model_count, devices);
	*busy = calloc(devices->count + 1, sizeof(**busy));
	for (size_t i = 0; *busy && i < devices->count; i++)
		measure_uses(&(*busy)[i], uses, count, i, models, model_count, window);
	free(uses);
}

struct gp_busy *gp_busy_of(struct gp_model *const *models, size_t model_count,
			   struct gp_window window, struct gp_device_list *devices)
{
	struct gp_busy *busy = NULL;

	if (gp_totals_any(models, model_count))
		measure_totals(&busy, models, model_count, window, devices);
	else
		measure_models(&busy, models, model_count, window, devices);
	return busy;
}

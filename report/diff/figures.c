#include "report/diff/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/diff/code_lines.h"
#include "report/diff/energy_figures.h"
#include "report/analysis/analysis.h"
#include "report/analysis/idle/activity.h"
#include "report/analysis/idle/call_cause.h"
#include "report/analysis/idle/busy.h"
#include "report/symbols/demangle.h"
#include "report/tables/by/ranks.h"
#include "report/tables/host_work.h"
#include "report/analysis/memory/memory_sites.h"
#include "report/model/memory_stats.h"
#include "report/model/occupancy.h"
#include "report/model/process_name.h"
#include "report/model/recorded.h"
#include "report/base/stats.h"
#include "report/base/text/text.h"

const struct gp_metric_row gp_metric_rows[GP_METRICS] = {
#define GP_METRIC(NAME, name, words, unit, kind, recorded, gated, meaning)                         \
	[GP_METRIC_##NAME] = {                                                                     \
		name, words, meaning, GP_UNIT_##unit, GP_METRIC_##kind, GP_METRIC_OF_##recorded,   \
		gated},
#include "report/diff/metric.def"
#undef GP_METRIC
};

enum gp_metric gp_metric_find(const char *name)
{
	int metric = 0;

	while (metric < GP_METRICS && strcmp(gp_metric_rows[metric].name, name) != 0)
		metric++;
	return (enum gp_metric)metric;
}

/* State while the figures of a run are computed. */
struct gathering {
	struct gp_model *const *models;
	size_t model_count;
	struct gp_figures *figures;
	struct gp_device_list devices;
	bool is_of_job; /* ranks are compared */
};

static void add(struct gathering *g, enum gp_metric metric, uint64_t value)
{
	g->figures->values[metric] += (double)value;
}

/* ---- operations and calls by their names ---- */

static int compare_names(const void *a, const void *b)
{
	const struct gp_named_figure *left = a, *right = b;

	return strcmp(left->name, right->name);
}

/* Merge kernels with one name, as from two files with the same name in different folders. */
static void add_same(struct gp_named_figure *row, struct gp_named_figure *same)
{
	row->count += same->count;
	row->total_ns += same->total_ns;
	row->median_ns = row->occupancy = (double)NAN;
	free(same->name);
}

void gp_named_sort(struct gp_named_list *list)
{
	uint32_t kept = 0;

	if (list->count > 0)
		qsort(list->rows, list->count, sizeof(*list->rows), compare_names);
	for (uint32_t i = 0; i < list->count; i++)
		if (kept > 0 && strcmp(list->rows[kept - 1].name, list->rows[i].name) == 0)
			add_same(&list->rows[kept - 1], &list->rows[i]);
		else
			list->rows[kept++] = list->rows[i];
	list->count = kept;
}

char *gp_kernel_figure_name(const char *recorded)
{
	char *stable = gp_demangle_stable(recorded);
	char *name = stable ? gp_text_escape(stable) : NULL;

	free(stable);
	return name;
}

const struct gp_named_figure *gp_named_find(const struct gp_named_list *list, const char *name)
{
	struct gp_named_figure key = {.name = (char *)name};

	if (list->count == 0)
		return NULL;
	return bsearch(&key, list->rows, list->count, sizeof(*list->rows), compare_names);
}

/* The list takes ownership of the name. */
static void take_group(struct gp_named_list *list, struct gp_group *group, char *name)
{
	struct gp_stats stats = gp_group_stats(group);
	struct gp_named_figure *row = &list->rows[list->count];

	*row = (struct gp_named_figure){
		.name = name,
		.count = (double)group->count,
		.total_ns = (double)group->total_ns,
		.median_ns = stats.count > 0 ? stats.median : (double)NAN,
		.occupancy = (double)NAN,
	};
	list->count++;
}

static void make_room(struct gp_named_list *list, uint32_t count)
{
	list->rows = calloc((size_t)count + 1, sizeof(*list->rows));
}

static void take_operations(struct gp_figures *figures, const struct gp_groups *groups)
{
	struct gp_named_list *kernels = &figures->named[GP_NAMED_KERNEL];
	struct gp_named_list *others = &figures->named[GP_NAMED_OTHER];

	make_room(kernels, groups->count);
	make_room(others, groups->count);
	for (uint32_t i = 0; i < groups->count; i++) {
		const char *key = groups->rows[i].key;

		if (key[0] == GP_ACTIVITY_KERNEL)
			take_group(kernels, &groups->rows[i], gp_kernel_figure_name(key + 1));
		else
			take_group(others, &groups->rows[i], gp_text_escape(key + 1));
	}
}

static void take_calls(struct gp_figures *figures, const struct gp_groups *groups)
{
	struct gp_named_list *calls = &figures->named[GP_NAMED_CALL];

	make_room(calls, groups->count);
	for (uint32_t i = 0; i < groups->count; i++)
		take_group(calls, &groups->rows[i], gp_text_escape(groups->rows[i].key));
}

static int take_activity(struct gathering *g)
{
	struct gp_activity activity;

	gp_activity_gather(&activity, g->models, g->model_count);
	add(g, GP_METRIC_LAUNCHES, activity.launches);
	add(g, GP_METRIC_GRAPH_LAUNCHES, activity.graph_launches);
	add(g, GP_METRIC_KERNELS, activity.kernels);
	add(g, GP_METRIC_COPIES, activity.copies);
	add(g, GP_METRIC_SETS, activity.sets);
	for (uint32_t i = 0; i < activity.calls.count; i++)
		add(g, GP_METRIC_FAILURES, activity.calls.rows[i].failed);
	take_operations(g->figures, &activity.operations);
	take_calls(g->figures, &activity.calls);
	gp_activity_free(&activity);
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++)
		gp_named_sort(&g->figures->named[kind]);
	return 0;
}

/* ---- Python functions ---- */

static void take_functions(struct gp_named_list *list, const struct gp_host_function *functions,
			   uint32_t count, const struct gp_host_places *places)
{
	make_room(list, count);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = gp_host_places_at(places, functions[i].place).function;
		struct gp_named_figure row = {.name = gp_text_escape(name),
					      .count = (double)functions[i].samples,
					      .total_ns = (double)functions[i].total_ns,
					      .median_ns = (double)NAN,
					      .occupancy = (double)NAN};

		list->rows[list->count++] = row;
	}
}

static int take_host(struct gathering *g)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_HOST];
	struct gp_host_places *places = gp_host_places_new();
	struct gp_host_function *functions = NULL;
	struct gp_tally tally = {.error = 0};
	uint32_t count = 0;

	for (size_t i = 0; i < g->model_count; i++)
		gp_host_work_add_all(&tally, 0, places, g->models[i]);
	functions = gp_host_work_functions(&tally, 0, places, &count);
	take_functions(list, functions, count, places);
	gp_named_sort(list);
	free(functions);
	gp_host_places_free(places);
	gp_tally_free(&tally);
	return 0;
}

/* ---- operations one by one ---- */

static void take_copy(struct gathering *g, const struct gp_op *op)
{
	static const struct {
		uint8_t copy_kind;
		enum gp_metric count, bytes;
	} ways[] = {
		{GP_COPY_HTOD, GP_METRIC_COPIES_HTOD, GP_METRIC_BYTES_HTOD},
		{GP_COPY_DTOH, GP_METRIC_COPIES_DTOH, GP_METRIC_BYTES_DTOH},
		{0, GP_METRIC_COPIES_OTHER, GP_METRIC_BYTES_OTHER},
	};
	size_t way = 0;

	while (ways[way].copy_kind != 0 && ways[way].copy_kind != op->copy_kind)
		way++;
	add(g, ways[way].count, 1);
	add(g, ways[way].bytes, op->bytes);
	if ((op->flags & GP_COPY_ASYNC) &&
	    (op->source_kind == GP_COPY_PAGEABLE || op->destination_kind == GP_COPY_PAGEABLE))
		add(g, GP_METRIC_PAGEABLE_ASYNC, 1);
}

static void take_op(struct gathering *g, const struct gp_op *op)
{
	static const enum gp_metric times[] = {
		[GP_OP_KERNEL] = GP_METRIC_KERNEL_TIME,
		[GP_OP_COPY] = GP_METRIC_COPY_TIME,
		[GP_OP_SET] = GP_METRIC_SET_TIME,
		[GP_OP_GRAPH] = GP_METRIC_KERNEL_TIME,
	};

	if (!gp_op_is_on_host(op))
		add(g, times[op->kind], op->end_ns - op->start_ns);
	if (op->kind == GP_OP_COPY)
		take_copy(g, op);
	else if (op->kind == GP_OP_SET)
		add(g, GP_METRIC_BYTES_SET, op->bytes);
}

static void take_call(struct gathering *g, const struct gp_model *model, const struct gp_call *call)
{
	switch (gp_model_api_class(model, call->api)) {
	case GP_API_LAUNCH:
	case GP_API_GRAPH_LAUNCH:
		add(g, GP_METRIC_LAUNCH_TIME, call->duration_ns);
		break;
	case GP_API_SYNC:
		add(g, GP_METRIC_SYNCS, 1);
		add(g, GP_METRIC_SYNC_TIME, call->duration_ns);
		break;
	case GP_API_ALLOC:
	case GP_API_FREE:
		add(g, GP_METRIC_MEMORY_CALL_TIME,
		    gp_call_without_context_ns(model, (uint32_t)(call - model->calls)));
		break;
	default:
		break;
	}
}

static void take_model(struct gathering *g, const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++)
		take_op(g, &model->ops[i]);
	for (uint32_t i = 0; i < model->call_count; i++)
		take_call(g, model, &model->calls[i]);
}

/* ---- occupancy ---- */

/* Sums over the launches of a name. */
struct occupancy {
	double sum, count;
};

static void take_launch(struct occupancy *found, const struct gp_model *model,
			const struct gp_op *op)
{
	const struct gp_record_device *device = gp_model_device(model, op->device_id);
	struct gp_occupancy occupancy;

	if (op->shape == GP_NONE || op->name >= model->name_count || !device ||
	    !gp_occupancy_of(device, &model->shapes[op->shape], &occupancy))
		return;
	found[op->name].sum += occupancy.share;
	found[op->name].count++;
}

/* If several processes have a kernel, the last one counts. */
static void take_occupancy_of(struct gathering *g, const struct gp_model *model)
{
	struct gp_named_list *kernels = &g->figures->named[GP_NAMED_KERNEL];
	struct occupancy *found = calloc((size_t)model->name_count + 1, sizeof(*found));

	for (uint32_t i = 0; i < model->op_count; i++)
		if (model->ops[i].kind == GP_OP_KERNEL)
			take_launch(found, model, &model->ops[i]);
	for (uint32_t i = 0; i < model->name_count; i++) {
		char *name = found[i].count > 0 ? gp_kernel_figure_name(model->names[i]) : NULL;
		const struct gp_named_figure *row = name ? gp_named_find(kernels, name) : NULL;

		if (row)
			kernels->rows[row - kernels->rows].occupancy =
				found[i].sum / found[i].count;
		free(name);
	}
	free(found);
}

static int take_occupancy(struct gathering *g)
{
	for (size_t i = 0; i < g->model_count; i++)
		take_occupancy_of(g, g->models[i]);
	return 0;
}

/* ---- busy and idle times, idle causes, exposed times ---- */

/* A device without any operation does not count as idle, unless no device has any. */
static bool is_used(const struct gathering *g, const struct gp_busy *busy, size_t device)
{
	bool any = false;

	for (size_t i = 0; i < g->devices.count && !any; i++)
		any = busy[i].operations > 0;
	return !any || busy[device].operations > 0;
}

static void take_busy(struct gathering *g, const struct gp_busy *busy, struct gp_window window)
{
	struct gp_figures_extent *extent = &g->figures->extent;

	*extent = (struct gp_figures_extent){window.start_unix_ns, window.end_unix_ns, 0};
	add(g, GP_METRIC_WALL, window.end_unix_ns - window.start_unix_ns);
	for (size_t i = 0; i < g->devices.count; i++) {
		add(g, GP_METRIC_GPU_BUSY, busy[i].inside_ns + busy[i].outside_ns);
		if (!is_used(g, busy, i))
			continue;
		extent->gpus++;
		add(g, GP_METRIC_GPU_IDLE, busy[i].possible_ns - busy[i].inside_ns);
	}
}

static void take_states(struct gathering *g, const struct gp_busy *busy,
			const struct gp_wheres *wheres)
{
	static const struct {
		enum gp_metric metric;
		unsigned state;
	} states[] = {
		{GP_METRIC_EXPOSED_COPIES, GP_STATE_COPY},
		{GP_METRIC_EXPOSED_COMMUNICATION, GP_STATE_COMMUNICATION},
		{GP_METRIC_IDLE_HOST, GP_STATE_IDLE + GP_IDLE_HOST},
		{GP_METRIC_IDLE_LAUNCH, GP_STATE_IDLE + GP_IDLE_LAUNCH},
		{GP_METRIC_IDLE_SYNC, GP_STATE_IDLE + GP_IDLE_SYNC},
		{GP_METRIC_IDLE_COPY, GP_STATE_IDLE + GP_IDLE_COPY},
		{GP_METRIC_IDLE_ALLOC, GP_STATE_IDLE + GP_IDLE_ALLOC},
		{GP_METRIC_IDLE_STARTUP, GP_STATE_IDLE + GP_IDLE_SETUP},
		{GP_METRIC_IDLE_DEPENDENCY, GP_STATE_IDLE + GP_IDLE_DEPENDENCY},
		{GP_METRIC_IDLE_PROFILER, GP_STATE_IDLE + GP_IDLE_PROFILER},
		{GP_METRIC_IDLE_UNUSED, GP_STATE_IDLE + GP_IDLE_UNUSED},
		{GP_METRIC_IDLE_UNKNOWN, GP_STATE_IDLE + GP_IDLE_UNKNOWN},
	};

	_Static_assert(COUNT(states) == 2 + GP_IDLE_CAUSES, "each idle cause has a metric");
	for (size_t i = 0; i < wheres->count; i++)
		for (size_t k = 0; is_used(g, busy, i) && k < COUNT(states); k++)
			add(g, states[k].metric, wheres->devices[i].state_ns[states[k].state]);
}

/* ---- the step and its phases ---- */

static void take_steps(struct gathering *g, const struct gp_steps *steps)
{
	bool enough = steps && gp_steps_have_median(steps);
	double *values = g->figures->values;

	g->figures->step_count = steps ? steps->count : 0;
	g->figures->loop_ns = steps ? gp_steps_recurring_ns(steps) : 0;
	values[GP_METRIC_STEP] = enough ? (double)steps->median_ns : (double)NAN;
	values[GP_METRIC_STEP_SPREAD] = enough ? (double)steps->spread_ns : (double)NAN;
	values[GP_METRIC_STEP_MEAN] = enough ? (double)gp_steps_mean_ns(steps) : (double)NAN;
}

static void take_phases(struct gp_named_list *list, const struct gp_phases *phases)
{
	make_room(list, GP_PHASE_KINDS);
	for (uint32_t i = 0; i < GP_PHASE_KINDS; i++) {
		struct gp_named_figure row = {
			.count = phases->rows[i].steps,
			.total_ns = (double)gp_phases_step_ns(phases, GP_PHASE_HOST, i),
			.median_ns = (double)NAN,
			.occupancy = (double)NAN,
		};

		if (row.count == 0)
			continue;
		row.name = gp_text_escape(phases->rows[i].name);
		list->rows[list->count++] = row;
	}
	gp_named_sort(list);
}

static void add_rank(struct gathering *g, const struct gp_model *model,
		     const struct gp_steps *steps, const struct gp_kinds *kinds)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_RANK];
	struct gp_rank_times times = {0};

	gp_rank_times_add(&times, kinds, model);
	list->rows[list->count++] = (struct gp_named_figure){
		.name = strdup(gp_process_name(model).text),
		.count = model->op_count,
		.total_ns = (double)times.computing_ns,
		.median_ns = steps->median_ns > 0 ? (double)steps->median_ns : (double)NAN,
		.occupancy = (double)NAN,
	};
}

/* Of a job; a single process is compared by the metrics. */
static void take_ranks(struct gathering *g, const struct gp_analysis *basis,
		       const struct gp_kinds *kinds)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_RANK];

	if (g->is_of_job)
		make_room(list, g->model_count);
	for (size_t i = 0; g->is_of_job && i < g->model_count; i++)
		if (gp_model_rank(g->models[i]) != GP_NONE)
			add_rank(g, g->models[i], &basis->steps[i], kinds);
	gp_named_sort(list);
}

static void take_analysis(struct gathering *g, struct gp_analysis *basis, struct gp_window window,
			  const struct gp_kinds *kinds)
{
	struct gp_busy *busy = gp_busy_of(g->models, g->model_count, window, &g->devices);
	size_t process = SIZE_MAX;

	gp_analysis_of(basis, g->models, g->model_count, &g->devices, kinds, 0);
	take_busy(g, busy, window);
	take_states(g, busy, &basis->wheres);
	process = gp_analysis_main_process(basis);
	take_steps(g, process < SIZE_MAX ? &basis->steps[process] : NULL);
	gp_energy_figures(g->figures, g->models, g->model_count, &g->devices, basis, busy);
	take_ranks(g, basis, kinds);
	if (process < SIZE_MAX && basis->phases[process].time_count > 0)
		take_phases(&g->figures->named[GP_NAMED_PHASE], &basis->phases[process]);
	gp_analysis_free(basis);
	free(busy);
}

static int take_where(struct gathering *g)
{
	struct gp_analysis basis = {0};
	char message[256];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));

	take_analysis(g, &basis, gp_busy_window(g->models, g->model_count), kinds);
	gp_kinds_free(kinds);
	return 0;
}

/* ---- memory ---- */

static int take_memory(struct gathering *g)
{
	struct gp_memory_stats stats;

	gp_memory_stats_of(g->models, g->model_count, &g->devices, &stats);
	for (size_t i = 0; i < stats.row_count; i++) {
		const struct gp_memory_row *row = &stats.rows[i];

		if (row->kind == GP_MEMORY_OF_DEVICE) {
			add(g, GP_METRIC_BYTES_PEAK, row->peak_bytes);
		} else if (row->kind != GP_MEMORY_IPC) {
			add(g, GP_METRIC_ALLOCATIONS, row->allocations);
			add(g, GP_METRIC_BYTES_ALLOCATED, row->allocated_bytes);
		}
	}
	gp_memory_stats_free(&stats);
	return 0;
}

static void add_leak(struct gathering *g, const struct gp_memory_sites *found,
		     const struct gp_memory_site *row)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_LEAK];
	struct gp_named_figure leak = {
		.name = gp_text_escape(gp_call_sites_at(found->sites, row->site).place),
		.count = (double)row->left_blocks,
		.total_ns = (double)row->left_bytes,
		.median_ns = (double)NAN,
		.occupancy = (double)NAN};

	add(g, GP_METRIC_BYTES_LEAKED, row->left_bytes);
	list->rows[list->count++] = leak;
}

static int take_leaked(struct gathering *g)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_LEAK];
	struct gp_memory_sites found;

	if (!gp_memory_sites_knows_leaks(g->models, g->model_count)) {
		g->figures->values[GP_METRIC_BYTES_LEAKED] = (double)NAN;
		return 0;
	}
	gp_memory_sites_of(g->models, g->model_count, &g->devices, GP_MEMORY_LEFT, &found);
	list->rows = calloc((size_t)found.row_count + 1, sizeof(*list->rows));
	for (uint32_t i = 0; i < found.row_count; i++)
		if (gp_memory_site_is_leak(&found, &found.rows[i]))
			add_leak(g, &found, &found.rows[i]);
	gp_memory_sites_free(&found);
	gp_named_sort(list);
	return 0;
}

static int take_lines(struct gathering *g)
{
	struct gp_named_list *list = &g->figures->named[GP_NAMED_LINE];

	gp_code_lines_of(g->models, g->model_count, list);
	gp_named_sort(list);
	return 0;
}

/* ---- unknown metrics ---- */

static bool is_recorded(const struct gp_model *model, enum gp_metric_source source)
{
	switch (source) {
	case GP_METRIC_OF_GPU:
		return gp_recorded_kind(model, "gpu");
	case GP_METRIC_OF_MEMORY:
		return gp_recorded_knows_memory(model);
	default:
		return gp_recorded_kind(model, "default") || gp_recorded_kind(model, "sync");
	}
}

/* Traces of AMD's GPUs do not say whether memory of the host is page-locked. */
static bool lacks_memory_kinds(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (op->kind == GP_OP_COPY &&
		    ((op->copy_kind == GP_COPY_HTOD && op->source_kind == 0) ||
		     (op->copy_kind == GP_COPY_DTOH && op->destination_kind == 0)))
			return true;
	}
	return false;
}

/* Only the GPU was recorded. */
static bool lacks_calls(const struct gp_model *model)
{
	return model->op_count > 0 && model->call_count == 0;
}

/* The host's side of the GPU's work. */
static bool is_of_calls(enum gp_metric metric)
{
	return metric == GP_METRIC_LAUNCHES || metric == GP_METRIC_GRAPH_LAUNCHES ||
	       metric == GP_METRIC_SYNCS || metric == GP_METRIC_LAUNCH_TIME ||
	       metric == GP_METRIC_SYNC_TIME || metric == GP_METRIC_PAGEABLE_ASYNC ||
	       (metric >= GP_METRIC_IDLE_HOST && metric <= GP_METRIC_IDLE_UNKNOWN);
}

static void forget(struct gathering *g, const struct gp_model *model)
{
	double *values = g->figures->values;

	if ((model->unknown & GP_UNKNOWN_STATUS) != 0)
		values[GP_METRIC_FAILURES] = (double)NAN;
	if (lacks_memory_kinds(model))
		values[GP_METRIC_PAGEABLE_ASYNC] = (double)NAN;
	for (int metric = 0; metric < GP_METRICS && lacks_calls(model); metric++)
		if (is_of_calls((enum gp_metric)metric))
			values[metric] = (double)NAN;
}

static void forget_unrecorded(struct gathering *g)
{
	for (int metric = 0; metric < GP_METRICS; metric++)
		for (size_t i = 0; i < g->model_count; i++)
			if (!is_recorded(g->models[i], gp_metric_rows[metric].source))
				g->figures->values[metric] = (double)NAN;
	for (size_t i = 0; i < g->model_count; i++)
		forget(g, g->models[i]);
}

/* The times of a step, and what gpuprof-run measures throughout: windows tell nothing of a whole. */
static void forget_totals(struct gp_figures *figures)
{
	static const enum gp_metric kept[] = {
		GP_METRIC_STEP,
		GP_METRIC_STEP_SPREAD,
		GP_METRIC_ENERGY,
		GP_METRIC_CLOCKS_LOWERED,
	};
	double values[COUNT(kept)];

	for (size_t i = 0; i < COUNT(kept); i++)
		values[i] = figures->values[kept[i]];
	for (int metric = 0; metric < GP_METRICS; metric++)
		figures->values[metric] = (double)NAN;
	for (size_t i = 0; i < COUNT(kept); i++)
		figures->values[kept[i]] = values[i];
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++)
		for (uint32_t i = 0; kind != GP_NAMED_PHASE && i < figures->named[kind].count; i++)
			figures->named[kind].rows[i].count = figures->named[kind].rows[i].total_ns =
				(double)NAN;
}

static int gather(struct gathering *g)
{
	static int (*const steps[])(struct gathering *) = {
		take_activity, take_host,   take_occupancy, take_where,
		take_memory,   take_leaked, take_lines,
	};
	int result;

	*g->figures = (struct gp_figures){0};
	result = gp_device_list_all(&g->devices, g->models, g->model_count);
	for (size_t i = 0; result == 0 && i < COUNT(steps); i++)
		result = steps[i](g);
	for (size_t i = 0; i < g->model_count; i++)
		take_model(g, g->models[i]);
	forget_unrecorded(g);
	if (gp_recorded_any_sampled(g->models, g->model_count))
		forget_totals(g->figures);
	gp_device_list_free(&g->devices);
	return result;
}

int gp_figures_of(struct gp_model *const *models, size_t model_count, struct gp_figures *figures)
{
	struct gathering g = {.models = models,
			      .model_count = model_count,
			      .figures = figures,
			      .is_of_job = model_count > 1};

	return gather(&g);
}

int gp_figures_of_process(struct gp_model *model, struct gp_figures *figures)
{
	struct gathering g = {
		.models = &model, .model_count = 1, .figures = figures, .is_of_job = true};

	return gather(&g);
}

void gp_figures_free(struct gp_figures *figures)
{
	for (int kind = 0; kind < GP_NAMED_KINDS; kind++) {
		struct gp_named_list *list = &figures->named[kind];

		for (uint32_t i = 0; i < list->count; i++)
			free(list->rows[i].name);
		free(list->rows);
	}
	*figures = (struct gp_figures){0};
}

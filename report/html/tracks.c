#include "report/html/tracks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"
#include "report/html/host_track.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/text/utf8.h"

/* The walk through all tracks. */
struct walker {
	struct gp_html_tracks *tracks;
	const struct gp_model *model;
	uint32_t process;
	struct gp_host_depth *host_depths; /* of each process */
	uint32_t first_shape;              /* of the model, among those of all */
	struct gp_html_gather gather;
	uint32_t row_limit;            /* of the present track */
	uint64_t ties, ties_kept, tie; /* of the shortest events that are kept: every so manieth */
	bool is_measuring; /* the first of two walks: nothing is handed over, lengths are noted */
	uint64_t total;    /* events, where there are more than the limit */
	uint64_t *durations_ns;
	uint32_t duration_count, duration_capacity;
	char name[160];
	int error;
};

static void fail(struct walker *walker, int error)
{
	if (walker->error == 0)
		walker->error = error;
}

static uint64_t duration_of(const struct gp_html_event *event)
{
	return event->end_ns - event->start_ns;
}

static void note_durations(struct walker *walker)
{
	const struct gp_html_gather *gather = &walker->gather;

	for (uint32_t i = 0; i < gather->count; i++) {
		int result =
			gp_array_grow_spill(&walker->durations_ns, &walker->duration_capacity,
					    walker->duration_count, sizeof(*walker->durations_ns));

		if (result < 0) {
			fail(walker, result);
			return;
		}
		walker->durations_ns[walker->duration_count++] = duration_of(&gather->events[i]);
	}
}

/* ---- what stands together ---- */

/* There is no row in which it is by itself. */
static bool is_crowded(void *context, const struct gp_html_event *event)
{
	const struct walker *walker = context;

	return event->row == walker->row_limit;
}

/*
 * Where not all that are as long as the shortest can be kept, those that are stand all over the
 * trace.
 */
static bool is_left_over(void *context, const struct gp_html_event *event)
{
	struct walker *walker = context;

	if (is_crowded(context, event))
		return false;
	if (duration_of(event) != walker->tracks->shortest_ns)
		return duration_of(event) < walker->tracks->shortest_ns;
	walker->tie += walker->ties_kept;
	if (walker->tie < walker->ties)
		return true;
	walker->tie -= walker->ties;
	return false;
}

static bool is_below_least(void *context, const struct gp_html_event *event)
{
	const struct walker *walker = context;

	return duration_of(event) < walker->tracks->least_ns && !is_crowded(context, event);
}

static uint32_t label_of_together(struct walker *walker, const char *kind, const char *text)
{
	return gp_html_label(&walker->tracks->labels,
			     strcmp(kind, "stream") == 0 ? GP_LABEL_SHORT_OPS : GP_LABEL_SHORT,
			     text);
}

/* The row of what has no other one: what overlaps there becomes one event. */
static void group_crowd(struct walker *walker, const char *kind)
{
	struct gp_html_together how = {.is_short = is_crowded, .context = walker};
	char text[64];

	if (walker->gather.rows <= walker->row_limit)
		return;
	snprintf(text, sizeof(text), "(more than %u in parallel, together)", walker->row_limit);
	how.label = label_of_together(walker, kind, text);
	walker->tracks->crowded += gp_html_gather_group(&walker->gather, &how);
}

/* Of what is as short, or shorter: the text of the label says so. */
static uint32_t label_of_short(struct walker *walker, const char *kind)
{
	char text[64];

	snprintf(text, sizeof(text), "(shorter than %s, together)",
		 gp_format_ns(gp_html_tracks_least_ns(walker->tracks)).text);
	return label_of_together(walker, kind, text);
}

/* Gaps in a row between events of which none is kept by itself, as far as duration tells. */
static uint32_t find_gaps(const struct walker *walker, uint64_t *gaps_ns)
{
	const struct gp_html_gather *gather = &walker->gather;
	uint64_t shortest_ns = walker->tracks->shortest_ns;
	uint32_t count = 0;

	for (uint32_t i = 1; i < gather->count; i++) {
		const struct gp_html_event *event = &gather->events[i], *before = event - 1;

		if (event->row == before->row && duration_of(event) <= shortest_ns &&
		    duration_of(before) <= shortest_ns)
			gaps_ns[count++] = event->start_ns - before->end_ns;
	}
	return count;
}

/*
 * The widest gaps part what stands together: as many as the track's part of the limit allows.  Less
 * than what is returned parts nothing.
 */
static uint64_t least_gap(struct walker *walker)
{
	const struct gp_html_tracks *tracks = walker->tracks;
	uint32_t events = walker->gather.count, count;
	uint64_t *gaps_ns = gp_spill_take((size_t)events * sizeof(*gaps_ns));
	uint64_t allowed = (uint64_t)((double)tracks->event_limit / GP_HTML_PARTS_OF_LIMIT *
				      (double)events / (double)walker->total);
	uint64_t gap_ns = 0;

	if (!gaps_ns) {
		fail(walker, -ENOMEM);
		return 0;
	}
	count = find_gaps(walker, gaps_ns);
	if (count > allowed)
		gap_ns = gp_stats_select(gaps_ns, count, count - 1 - allowed) + 1;
	gp_spill_free(gaps_ns);
	return gap_ns;
}

static void group(struct walker *walker, const char *kind)
{
	struct gp_html_tracks *tracks = walker->tracks;
	struct gp_html_together how = {
		.is_short = is_below_least, .context = walker, .gap_ns = tracks->least_ns};

	if (tracks->least_ns > 0 || tracks->is_limited)
		how.label = label_of_short(walker, kind);
	if (tracks->least_ns > 0)
		tracks->grouped += gp_html_gather_group(&walker->gather, &how);
	if (!tracks->is_limited)
		return;
	how.is_short = is_left_over;
	how.gap_ns = least_gap(walker);
	tracks->grouped += gp_html_gather_group(&walker->gather, &how);
}

static void hand_over(struct walker *walker, const struct gp_html_track *track)
{
	fail(walker, walker->tracks->take(walker->tracks->context, track, &walker->gather));
}

static int place(struct walker *walker, const char *kind)
{
	struct gp_html_gather *gather = &walker->gather;

	walker->row_limit = strcmp(kind, "python") == 0 ? GP_HTML_PYTHON_ROWS : GP_HTML_ROWS;
	if (strcmp(kind, "python") == 0)
		return gp_html_gather_order(gather, walker->row_limit);
	if (strcmp(kind, "gpu-ranges") == 0)
		return gp_html_gather_place_levels(gather, walker->row_limit);
	return gp_html_gather_place(gather, strcmp(kind, "thread") == 0, walker->row_limit);
}

/* What was gathered is placed and handed over; id is the thread's or the device's number. */
static void end_track(struct walker *walker, const char *kind, uint64_t id)
{
	const struct gp_html_track track = {.model = walker->model,
					    .process = walker->process,
					    .first_shape = walker->first_shape,
					    .kind = kind,
					    .id = id,
					    .name = walker->name,
					    .is_host = strcmp(kind, "thread") == 0};

	if (walker->error < 0 || walker->gather.count == 0)
		return;
	fail(walker, place(walker, kind));
	if (walker->error < 0)
		return;
	group_crowd(walker, kind);
	group(walker, kind);
	if (walker->is_measuring)
		note_durations(walker);
	else
		hand_over(walker, &track);
	gp_html_gather_clear(&walker->gather);
}

static void add(struct walker *walker, const struct gp_html_event *event)
{
	if (walker->error == 0)
		fail(walker, gp_html_gather_add(&walker->gather, event));
}

__attribute__((format(printf, 2, 3))) static void append(struct walker *walker, const char *format,
							 ...)
{
	size_t used = strlen(walker->name);
	va_list list;

	va_start(list, format);
	vsnprintf(walker->name + used, sizeof(walker->name) - used, format, list);
	va_end(list);
}

/* ---- threads ---- */

static uint32_t stack_of(struct walker *walker, uint32_t stack)
{
	struct gp_call_tree *tree = walker->tracks->tree;

	return stack == GP_NONE || !tree || walker->is_measuring
		       ? 0
		       : gp_call_tree_find(tree, stack) + 1;
}

static void add_call(struct walker *walker, uint32_t index)
{
	const struct gp_call *call = &walker->model->calls[index];

	add(walker, &(struct gp_html_event){
			    .start_ns = call->start_ns,
			    .end_ns = call->start_ns + call->duration_ns,
			    .aux = call->status,
			    .label = gp_html_label_call(&walker->tracks->labels, call),
			    .stack = stack_of(walker, call->stack),
			    .call = index,
		    });
}

static void add_range(struct walker *walker, const struct gp_range *range)
{
	add(walker, &(struct gp_html_event){
			    .start_ns = range->start_ns,
			    .end_ns = range->end_ns,
			    .label = gp_html_label_range(&walker->tracks->labels, range),
			    .call = GP_NONE,
		    });
}

static void name_thread(struct walker *walker, const char *before, uint32_t id)
{
	const char *name = gp_model_thread_name(walker->model, id);

	strcpy(walker->name, before);
	if (*name)
		append(walker, "%.*s (thread %u)", (int)gp_utf8_cut(name, 100), name, id);
	else
		append(walker, "thread %u", id);
}

/* What Python did there. */
static void walk_looks(struct walker *walker, uint32_t first, uint32_t end, uint32_t id)
{
	const struct gp_html_host_track track = {
		.model = walker->model,
		.places = gp_host_places_in(walker->tracks->scope),
		.depth = walker->host_depths[walker->process],
		.labels = &walker->tracks->labels,
		.tree = walker->is_measuring ? NULL : walker->tracks->tree};
	struct gp_html_event *events;
	uint32_t count;

	fail(walker, gp_html_host_track(&track, first, end, &events, &count));
	for (uint32_t i = 0; walker->error == 0 && i < count; i++)
		add(walker, &events[i]);
	gp_spill_free(events);
	name_thread(walker, "Python: ", id);
	end_track(walker, "python", id);
}

/* Where the walk through the threads is. */
struct cursor {
	uint32_t call, range, sample;
};

/* The lowest thread that is left; false: none is. */
static bool find_thread(const struct gp_model *model, const struct cursor *at, uint32_t *id)
{
	bool has_call = at->call < model->call_count, has_range = at->range < model->range_count;
	bool has_sample = at->sample < model->sample_count;

	*id = has_call ? model->calls[at->call].thread_id : UINT32_MAX;
	if (has_range && model->ranges[at->range].thread_id < *id)
		*id = model->ranges[at->range].thread_id;
	if (has_sample && model->samples[at->sample].thread_id < *id)
		*id = model->samples[at->sample].thread_id;
	return has_call || has_range || has_sample;
}

/* Calls, ranges and looks are sorted by thread, all of them. */
static void walk_threads(struct walker *walker)
{
	const struct gp_model *model = walker->model;
	struct cursor at = {0};
	uint32_t id;

	while (walker->error == 0 && find_thread(model, &at, &id)) {
		uint32_t sample = at.sample;

		for (; at.call < model->call_count && model->calls[at.call].thread_id == id;
		     at.call++)
			add_call(walker, at.call);
		for (; at.range < model->range_count && model->ranges[at.range].thread_id == id;
		     at.range++)
			if (model->ranges[at.range].style != GP_STYLE_START_END)
				add_range(walker, &model->ranges[at.range]);
		name_thread(walker, "", id);
		end_track(walker, "thread", id);
		if (sample < model->sample_count && model->samples[sample].thread_id == id) {
			at.sample = gp_python_samples_end(model, sample);
			walk_looks(walker, sample, at.sample, id);
		}
	}
}

static void walk_start_end_ranges(struct walker *walker)
{
	for (uint32_t i = 0; i < walker->model->range_count; i++)
		if (walker->model->ranges[i].style == GP_STYLE_START_END)
			add_range(walker, &walker->model->ranges[i]);
	strcpy(walker->name, "start/end ranges");
	end_track(walker, "ranges", 0);
}

/* ---- streams ---- */

static uint32_t call_of(const struct walker *walker, const struct gp_op *op)
{
	const struct gp_call *cause = gp_model_op_cause(walker->model, op);

	return cause ? (uint32_t)(cause - walker->model->calls) : GP_NONE;
}

static void add_op(struct walker *walker, const struct gp_op *op)
{
	uint64_t aux = op->bytes;

	if (op->kind == GP_OP_KERNEL)
		aux = op->shape < walker->model->shape_count
			      ? (uint64_t)walker->first_shape + op->shape + 1
			      : 0;
	add(walker, &(struct gp_html_event){
			    .start_ns = op->start_ns,
			    .end_ns = op->end_ns,
			    .aux = aux,
			    .label = gp_html_label_op(&walker->tracks->labels, op),
			    .call = call_of(walker, op),
		    });
}

static void name_stream(struct walker *walker, const struct gp_op *op)
{
	const char *name = gp_model_stream_name(walker->model, op->context_id, op->stream_id);

	walker->name[0] = '\0';
	append(walker, "stream %u", op->stream_id);
	if (gp_model_is_null_stream(walker->model, op->context_id, op->stream_id))
		append(walker, " (default)");
	if (*name)
		append(walker, " %.*s", (int)gp_utf8_cut(name, 80), name);
	if (walker->model->context_count > 1)
		append(walker, " (context %u)", op->context_id);
}

static void walk_streams(struct walker *walker)
{
	const struct gp_model *model = walker->model;

	for (uint32_t i = 0; walker->error == 0 && i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!op->untimed)
			add_op(walker, op);
		if (i + 1 < model->op_count && gp_ops_share_stream(op, op + 1))
			continue;
		name_stream(walker, op);
		end_track(walker, "stream",
			  gp_scope_device(walker->tracks->scope, model, op->device_id));
	}
}

/* The device of all operations of a model; GP_NONE where there are several. */
static uint32_t only_device(const struct gp_model *model)
{
	for (uint32_t i = 1; i < model->op_count; i++)
		if (model->ops[i].device_id != model->ops[0].device_id)
			return GP_NONE;
	return model->op_count > 0 ? model->ops[0].device_id : GP_NONE;
}

static bool is_on_gpu(const struct gp_range *range)
{
	return range->gpu_end_ns > range->gpu_start_ns;
}

static bool are_of_threads(const struct gp_model *model)
{
	const struct gp_range *first = NULL;

	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (!is_on_gpu(range))
			continue;
		if (first && first->thread_id != range->thread_id)
			return true;
		first = range;
	}
	return false;
}

/* The ranges of a thread that a range lies in, the innermost last: until when. */
struct around {
	uint64_t end_ns[GP_HTML_ROWS];
	uint32_t count;
};

/* How many that are: of no more than GP_HTML_ROWS - 1 there are levels. */
static uint32_t level_in(struct around *around, const struct gp_range *range)
{
	while (around->count > 0 && around->end_ns[around->count - 1] <= range->start_ns)
		around->count--;
	if (around->count == GP_HTML_ROWS)
		return GP_HTML_ROWS - 1;
	around->end_ns[around->count] = range->end_ns;
	return around->count++;
}

/*
 * Ranges where their operations are, thread by thread: from the first one's start to the last one's
 * end.
 */
static void walk_gpu_ranges(struct walker *walker)
{
	const struct gp_model *model = walker->model;
	uint32_t device = only_device(model);
	uint64_t id = device == GP_NONE
			      ? UINT32_MAX
			      : gp_scope_device(walker->tracks->scope, model, (uint16_t)device);
	bool of_threads = are_of_threads(model);
	struct around around = {.count = 0};

	strcpy(walker->name, "ranges on the GPU");
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];
		uint32_t level;

		if (i == 0 || range->thread_id != range[-1].thread_id) {
			around.count = 0;
			end_track(walker, "gpu-ranges", id);
			if (of_threads)
				name_thread(walker, "ranges of ", range->thread_id);
		}
		level = level_in(&around, range);
		if (!is_on_gpu(range))
			continue;
		add(walker, &(struct gp_html_event){
				    .start_ns = range->gpu_start_ns,
				    .end_ns = range->gpu_end_ns,
				    .label = gp_html_label_range(&walker->tracks->labels, range),
				    .call = GP_NONE,
				    .row = level,
			    });
	}
	end_track(walker, "gpu-ranges", id);
}

/* ---- the rest of a process ---- */

/* Those of the recording's start, before the program did anything, are left out. */
static void walk_overheads(struct walker *walker)
{
	uint64_t origin_ns = walker->tracks->origin_unix_ns;

	for (uint32_t i = 0; i < walker->model->overhead_count; i++) {
		const struct gp_overhead *overhead = &walker->model->overheads[i];
		const char *name = gp_overhead_name(overhead->overhead_kind);

		if (walker->model->base_unix_ns + overhead->start_ns < origin_ns)
			continue;
		add(walker, &(struct gp_html_event){.start_ns = overhead->start_ns,
						    .end_ns = overhead->end_ns,
						    .label = gp_html_label(&walker->tracks->labels,
									   GP_LABEL_OVERHEAD, name),
						    .call = GP_NONE});
	}
	strcpy(walker->name, "CUPTI and driver overhead");
	end_track(walker, "overhead", 0);
}

static void walk_host_functions(struct walker *walker)
{
	for (uint32_t i = 0; i < walker->model->host_function_count; i++) {
		const struct gp_record_host_function *function = &walker->model->host_functions[i];

		add(walker,
		    &(struct gp_html_event){.start_ns = function->start_ns,
					    .end_ns = function->end_ns,
					    .label = gp_html_label(&walker->tracks->labels,
								   GP_LABEL_CODE, "host function"),
					    .call = GP_NONE});
	}
	strcpy(walker->name, "host functions");
	end_track(walker, "code", 0);
}

static void walk_jits(struct walker *walker)
{
	for (uint32_t i = 0; i < walker->model->jit_count; i++) {
		const struct gp_record_jit *jit = &walker->model->jits[i];
		char name[96];

		snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
			 gp_jit_entry_name(jit->entry_kind));
		add(walker, &(struct gp_html_event){.start_ns = jit->start_ns,
						    .end_ns = jit->end_ns,
						    .aux = jit->cache_bytes,
						    .label = gp_html_label(&walker->tracks->labels,
									   GP_LABEL_CODE, name),
						    .call = GP_NONE});
	}
	strcpy(walker->name, "compiling");
	end_track(walker, "code", 0);
}

static void walk_unified(struct walker *walker)
{
	for (uint32_t i = 0; i < walker->model->unified_count; i++) {
		const struct gp_record_unified *event = &walker->model->unifieds[i];
		const char *name = gp_unified_name(event->counter_kind);

		if (event->end_ns < event->start_ns)
			continue;
		add(walker, &(struct gp_html_event){.start_ns = event->start_ns,
						    .end_ns = event->end_ns,
						    .aux = event->value,
						    .label = gp_html_label(&walker->tracks->labels,
									   GP_LABEL_UNIFIED, name),
						    .call = GP_NONE});
	}
	strcpy(walker->name, "unified memory");
	end_track(walker, "unified", 0);
}

static void walk_process(struct walker *walker)
{
	fail(walker, gp_html_labels_use(&walker->tracks->labels, walker->model));
	if (walker->tracks->tree)
		fail(walker, gp_call_tree_use(walker->tracks->tree, walker->model));
	if (walker->error < 0)
		return;
	walk_threads(walker);
	walk_start_end_ranges(walker);
	walk_gpu_ranges(walker);
	walk_streams(walker);
	walk_unified(walker);
	walk_overheads(walker);
	walk_host_functions(walker);
	walk_jits(walker);
	walker->first_shape += walker->model->shape_count;
}

/* ---- which events ---- */

/* What starting the recording took is no part of the program: it does not move the beginning. */
static uint64_t earliest_of(const struct gp_model *model)
{
	uint64_t earliest_ns =
		model->call_count + model->op_count > 0 ? model->first_ns : UINT64_MAX;

	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].start_ns < earliest_ns)
			earliest_ns = model->ranges[i].start_ns;
	for (uint32_t i = 0; i < model->jit_count; i++)
		if (model->jits[i].start_ns < earliest_ns)
			earliest_ns = model->jits[i].start_ns;
	for (uint32_t i = 0; i < model->unified_count; i++)
		if (model->unifieds[i].start_ns < earliest_ns)
			earliest_ns = model->unifieds[i].start_ns;
	for (uint32_t i = 0; i < model->sample_count; i++)
		if (model->samples[i].start_ns < earliest_ns)
			earliest_ns = model->samples[i].start_ns;
	return earliest_ns == UINT64_MAX ? model->base_unix_ns : model->base_unix_ns + earliest_ns;
}

static void find_origin(struct gp_html_tracks *tracks)
{
	tracks->origin_unix_ns = UINT64_MAX;
	for (size_t i = 0; i < tracks->scope->model_count; i++) {
		uint64_t earliest_ns = earliest_of(tracks->scope->models[i]);

		if (earliest_ns < tracks->origin_unix_ns)
			tracks->origin_unix_ns = earliest_ns;
	}
}

/*
 * How many events the looks at a process's threads make; where durations_ns is given, it gets how
 * long they are.
 */
static size_t measure_looks(struct walker *walker, size_t process, uint64_t *durations_ns)
{
	const struct gp_model *model = walker->tracks->scope->models[process];
	const struct gp_html_host_track track = {.model = model,
						 .places = gp_host_places_in(walker->tracks->scope),
						 .depth = walker->host_depths[process]};
	size_t all = 0;

	for (uint32_t first = 0, end; walker->error == 0 && first < model->sample_count;
	     first = end) {
		struct gp_html_event *events;
		uint32_t count;

		end = gp_python_samples_end(model, first);
		fail(walker, gp_html_host_track(&track, first, end, &events, &count));
		for (uint32_t i = 0; durations_ns && walker->error == 0 && i < count; i++)
			durations_ns[all + i] = duration_of(&events[i]);
		all += count;
		gp_spill_free(events);
	}
	return all;
}

/* Of calls, operations, ranges, which may be there twice, and looks: all else is little. */
static uint64_t count_events(struct walker *walker)
{
	const struct gp_scope *scope = walker->tracks->scope;
	uint64_t count = 0;

	for (size_t i = 0; i < scope->model_count; i++)
		count += (uint64_t)scope->models[i]->call_count + scope->models[i]->op_count +
			 2 * (uint64_t)scope->models[i]->range_count +
			 measure_looks(walker, i, NULL);
	return count;
}

static size_t copy_durations(struct walker *walker, size_t process, uint64_t *durations_ns)
{
	const struct gp_model *model = walker->tracks->scope->models[process];
	size_t count = measure_looks(walker, process, durations_ns);

	for (uint32_t i = 0; i < model->call_count; i++)
		durations_ns[count++] = model->calls[i].duration_ns;
	for (uint32_t i = 0; i < model->op_count; i++)
		durations_ns[count++] = model->ops[i].end_ns - model->ops[i].start_ns;
	for (uint32_t i = 0; i < model->range_count; i++)
		durations_ns[count++] = model->ranges[i].end_ns - model->ranges[i].start_ns;
	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].gpu_end_ns > model->ranges[i].gpu_start_ns)
			durations_ns[count++] =
				model->ranges[i].gpu_end_ns - model->ranges[i].gpu_start_ns;
	return count;
}

/*
 * Of more events than the limit: how long the shortest is that stays by itself, and how many of
 * those that are as long.
 */
static void choose_shortest(struct walker *walker, uint64_t *durations_ns, size_t count)
{
	struct gp_html_tracks *tracks = walker->tracks;
	uint64_t kept = tracks->event_limit * GP_HTML_PARTS_KEPT / GP_HTML_PARTS_OF_LIMIT;

	if (count <= tracks->event_limit)
		return;
	tracks->is_limited = true;
	walker->total = count;
	tracks->shortest_ns = gp_stats_select(durations_ns, count, count - kept - 1);
	walker->ties_kept = kept;
	for (size_t i = 0; i < count; i++) {
		walker->ties += durations_ns[i] == tracks->shortest_ns;
		walker->ties_kept -= durations_ns[i] > tracks->shortest_ns;
	}
}

static void walk_all(struct walker *walker)
{
	const struct gp_scope *scope = walker->tracks->scope;

	walker->first_shape = 0;
	for (size_t i = 0; walker->error == 0 && i < scope->model_count; i++) {
		walker->model = scope->models[i];
		walker->process = (uint32_t)i;
		walk_process(walker);
	}
}

/* How many stay where short ones stand together, and how long they are, is known once they do. */
static void measure(struct walker *walker)
{
	walker->is_measuring = true;
	walk_all(walker);
	walker->is_measuring = false;
	walker->tracks->grouped = walker->tracks->crowded = 0;
	if (walker->error == 0)
		choose_shortest(walker, walker->durations_ns, walker->duration_count);
	gp_spill_free(walker->durations_ns);
}

static void find_shortest(struct walker *walker, uint64_t total)
{
	const struct gp_scope *scope = walker->tracks->scope;
	uint64_t *durations_ns = gp_spill_take(total * sizeof(*durations_ns));
	size_t count = 0;

	if (!durations_ns) {
		fail(walker, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < scope->model_count; i++)
		count += copy_durations(walker, i, durations_ns + count);
	choose_shortest(walker, durations_ns, count);
	gp_spill_free(durations_ns);
}

/* How deep what Python did is shown: the least of all processes is told. */
static int find_host_depths(struct walker *walker)
{
	struct gp_html_tracks *tracks = walker->tracks;
	const struct gp_scope *scope = tracks->scope;

	walker->host_depths =
		gp_spill_take_zeroed(scope->model_count + 1, sizeof(*walker->host_depths));
	if (!walker->host_depths)
		return -ENOMEM;
	for (size_t i = 0; i < scope->model_count; i++) {
		struct gp_host_depth depth = gp_host_spans_depth(scope->models[i]);

		walker->host_depths[i] = depth;
		if (i == 0 || depth.functions < tracks->host_depth.functions)
			tracks->host_depth.functions = depth.functions;
		tracks->host_depth.left_out += depth.left_out;
	}
	return 0;
}

int gp_html_tracks_walk(struct gp_html_tracks *tracks)
{
	struct walker walker = {.tracks = tracks};
	uint64_t total;

	if (find_host_depths(&walker) < 0)
		return -ENOMEM;
	total = count_events(&walker);
	if (total >= UINT32_MAX)
		fail(&walker, -EOVERFLOW);
	find_origin(tracks);
	if (walker.error == 0 && tracks->event_limit > 0 && total > tracks->event_limit) {
		if (tracks->least_ns > 0)
			measure(&walker);
		else
			find_shortest(&walker, total);
	}
	walk_all(&walker);
	fail(&walker, tracks->labels.error);
	if (tracks->tree)
		gp_call_tree_use(tracks->tree, NULL);
	gp_html_gather_free(&walker.gather);
	gp_spill_free(walker.host_depths);
	return walker.error;
}

void gp_html_tracks_free(struct gp_html_tracks *tracks)
{
	gp_html_labels_free(&tracks->labels);
}

#include "report/html/tracks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/tables/host_work.h"
#include "report/html/host_track.h"
#include "report/base/spill_memory.h"
#include "report/base/stats.h"
#include "report/base/text/utf8.h"
#include "report/timeline/timeline.h"

/* Stands for the label of a range until its track ends; its row is the index of the range. */
#define OF_RANGE UINT32_MAX

/* State of the walk over all tracks. */
struct walker {
	struct gp_html_tracks *tracks;
	const struct gp_model *model;
	uint32_t process;
	struct gp_host_depth *host_depths; /* of each process */
	uint32_t first_shape;              /* number of shapes of earlier models */
	struct gp_html_gather gather;
	const char *kind;    /* of the current track */
	uint64_t id;         /* number of its thread or device */
	bool has_own_tracks; /* the stage: those of the walk */
	uint32_t row_limit;
	uint64_t ties, ties_kept, tie; /* the regular selection of the shortest kept events */
	/* The first of two walks notes durations: of events, or of merged events. */
	bool is_counting, is_measuring;
	uint64_t total; /* number of events, if there are more than the limit */
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

static void note_duration(struct walker *walker, uint64_t duration_ns)
{
	gp_array_grow_spill(&walker->durations_ns, &walker->duration_capacity,
			    walker->duration_count, sizeof(*walker->durations_ns));
	walker->durations_ns[walker->duration_count++] = duration_ns;
}

/* ---- groups of short events ---- */

/* No row has space for it. */
static bool is_crowded(void *context, const struct gp_html_event *event)
{
	const struct walker *walker = context;

	return event->row == walker->row_limit;
}

/* Of the events with the shortest kept duration, those that are kept are spread over the trace. */
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

static uint32_t label_of_together(struct walker *walker, const char *text)
{
	return gp_html_label(
		&walker->tracks->labels,
		strcmp(walker->kind, "stream") == 0 ? GP_LABEL_SHORT_OPS : GP_LABEL_SHORT, text);
}

/* Merge overlapping events that no row has space for. */
static void group_crowd(struct walker *walker)
{
	struct gp_html_together how = {.is_short = is_crowded, .context = walker};
	char text[64];

	if (walker->gather.rows <= walker->row_limit)
		return;
	snprintf(text, sizeof(text), "(more than %u in parallel, together)", walker->row_limit);
	how.label = label_of_together(walker, text);
	walker->tracks->crowded += gp_html_gather_group(&walker->gather, &how);
}

/* The text of the label has the limit of the duration. */
static uint32_t label_of_short(struct walker *walker)
{
	char text[64];

	snprintf(text, sizeof(text), "(shorter than %s, together)",
		 gp_format_ns(gp_html_tracks_least_ns(walker->tracks)).text);
	return label_of_together(walker, text);
}

/* The gaps in rows between two events that may both be merged, judged by their durations. */
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
 * The widest gaps split merged events: as many gaps as the share of the track in the limit allows.
 * Smaller gaps than the returned one do not split.
 */
static uint64_t least_gap(struct walker *walker)
{
	const struct gp_html_tracks *tracks = walker->tracks;
	uint32_t events = walker->gather.count, count;
	uint64_t *gaps_ns = gp_spill_take((size_t)events * sizeof(*gaps_ns));
	uint64_t allowed = (uint64_t)((double)tracks->event_limit / GP_HTML_PARTS_OF_LIMIT *
				      (double)events / (double)walker->total);
	uint64_t gap_ns = 0;

	count = find_gaps(walker, gaps_ns);
	if (count > allowed)
		gap_ns = gp_stats_select(gaps_ns, count, count - 1 - allowed) + 1;
	gp_spill_free(gaps_ns);
	return gap_ns;
}

static void group(struct walker *walker)
{
	struct gp_html_tracks *tracks = walker->tracks;
	struct gp_html_together how = {
		.is_short = is_below_least, .context = walker, .gap_ns = tracks->least_ns};

	if (tracks->least_ns > 0 || tracks->is_limited)
		how.label = label_of_short(walker);
	if (tracks->least_ns > 0)
		tracks->grouped += gp_html_gather_group(&walker->gather, &how);
	if (!tracks->is_limited)
		return;
	how.is_short = is_left_over;
	how.gap_ns = least_gap(walker);
	tracks->grouped += gp_html_gather_group(&walker->gather, &how);
}

static int place(struct gp_html_gather *gather, struct walker *walker)
{
	bool is_python = strcmp(walker->kind, "python") == 0;

	walker->row_limit = is_python ? GP_HTML_PYTHON_ROWS : GP_HTML_ROWS;
	if (is_python)
		return gp_html_gather_order(gather, walker->row_limit);
	if (strcmp(walker->kind, "gpu-ranges") == 0)
		return gp_html_gather_place_levels(gather, walker->row_limit);
	gp_html_gather_place(gather, strcmp(walker->kind, "thread") == 0, walker->row_limit);
	return 0;
}

/* Labels of calls come before those of ranges of their thread. */
static void label_ranges(struct walker *walker)
{
	struct gp_html_event *events = walker->gather.events;

	for (uint32_t i = 0; i < walker->gather.count; i++)
		if (events[i].label == OF_RANGE)
			events[i].label = gp_html_label_range(
				&walker->tracks->labels, &walker->model->ranges[events[i].row]);
}

/* Place the gathered events and call take(). */
static void end_track(struct walker *walker)
{
	struct gp_html_gather *gather = &walker->gather;

	if (walker->error < 0 || gather->count == 0)
		return;
	label_ranges(walker);
	fail(walker, place(gather, walker));
	if (walker->error < 0)
		return;
	group_crowd(walker);
	group(walker);
	for (uint32_t i = 0; walker->is_measuring && i < gather->count; i++)
		note_duration(walker, duration_of(&gather->events[i]));
	if (!walker->is_measuring)
		fail(walker,
		     walker->tracks->take(walker->tracks->context,
					  &(struct gp_html_track){
						  .model = walker->model,
						  .process = walker->process,
						  .first_shape = walker->first_shape,
						  .kind = walker->kind,
						  .id = walker->id,
						  .name = walker->name,
						  .is_host = strcmp(walker->kind, "thread") == 0,
					  },
					  gather));
	gp_html_gather_clear(gather);
}

static void begin_track(struct walker *walker, const char *kind, uint64_t id, const char *name)
{
	end_track(walker);
	walker->kind = kind;
	walker->id = id;
	strcpy(walker->name, name);
}

static void add(struct walker *walker, const struct gp_html_event *event)
{
	if (walker->is_counting)
		note_duration(walker, duration_of(event));
	else if (walker->error == 0)
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

static void append_thread(struct walker *walker, uint32_t id)
{
	const char *name = gp_model_thread_name(walker->model, id);

	if (*name)
		append(walker, "%.*s (thread %u)", (int)gp_utf8_cut(name, 100), name, id);
	else
		append(walker, "thread %u", id);
}

/* ---- events of the walk ---- */

static uint32_t stack_of(struct walker *walker, uint32_t stack)
{
	struct gp_call_tree *tree = walker->tracks->tree;

	return stack == GP_NONE || !tree || walker->is_measuring
		       ? 0
		       : gp_call_tree_find(tree, stack) + 1;
}

static struct gp_html_event of_call(struct walker *walker, const struct gp_call *call)
{
	return (struct gp_html_event){
		.aux = call->is_estimated ? GP_HTML_ESTIMATED : call->status,
		.label = gp_html_label_call(&walker->tracks->labels, call),
		.stack = stack_of(walker, call->stack),
		.call = (uint32_t)(call - walker->model->calls),
	};
}

static struct gp_html_event of_op(struct walker *walker, const struct gp_op *op)
{
	const struct gp_call *cause = gp_model_op_cause(walker->model, op);
	struct gp_html_event event = {
		.aux = op->bytes,
		.label = gp_html_label_op(&walker->tracks->labels, op),
		.call = cause ? (uint32_t)(cause - walker->model->calls) : GP_NONE,
	};

	if (op->kind == GP_OP_KERNEL)
		event.aux = op->shape < walker->model->shape_count
				    ? (uint64_t)walker->first_shape + op->shape + 1
				    : 0;
	return event;
}

/* Spans are below the row of places. */
static struct gp_html_event of_span(struct walker *walker, const struct gp_host_span *span)
{
	return (struct gp_html_event){
		.aux = span->samples,
		.label = gp_html_label_frame(&walker->tracks->labels, span->frame),
		.stack = stack_of(walker, span->frame),
		.call = GP_NONE,
		.row = span->depth + 1,
	};
}

static struct gp_html_event of_other(struct walker *walker, const struct gp_timeline_event *event,
				     char label, uint64_t aux)
{
	return (struct gp_html_event){
		.aux = aux,
		.label = gp_html_label(&walker->tracks->labels, label, event->name),
		.call = GP_NONE,
	};
}

static struct gp_html_event make_event(struct walker *walker, const struct gp_timeline_event *event)
{
	switch (event->kind) {
	case GP_TIMELINE_RUNTIME_CALL:
	case GP_TIMELINE_DRIVER_CALL:
		return of_call(walker, event->of.call);
	case GP_TIMELINE_RANGE:
		return (struct gp_html_event){
			.label = OF_RANGE,
			.call = GP_NONE,
			.row = (uint32_t)(event->of.range - walker->model->ranges),
		};
	case GP_TIMELINE_PYTHON:
		return of_span(walker, event->of.python);
	case GP_TIMELINE_OVERHEAD:
		return of_other(walker, event, GP_LABEL_OVERHEAD, 0);
	case GP_TIMELINE_COMPILING:
		return of_other(walker, event, GP_LABEL_CODE, event->of.jit->cache_bytes);
	case GP_TIMELINE_PHASE:
		return of_other(walker, event, GP_LABEL_PHASE, 0);
	case GP_TIMELINE_UNIFIED:
		return of_other(walker, event, GP_LABEL_UNIFIED, event->of.unified->value);
	case GP_TIMELINE_KERNEL:
	case GP_TIMELINE_COPY:
	case GP_TIMELINE_MEMSET:
	case GP_TIMELINE_GRAPH:
		return of_op(walker, event->of.op);
	default:
		return of_other(walker, event, GP_LABEL_CODE, 0);
	}
}

/*
 * Left out: operations with impossible times, as the page sums them; and overhead of starting the
 * recording, before the program did anything.
 */
static bool is_left_out(const struct walker *walker, const struct gp_timeline_event *event)
{
	if (event->end_ns < event->start_ns)
		return true;
	if (event->kind == GP_TIMELINE_OVERHEAD)
		return walker->model->base_unix_ns + event->start_ns <
		       walker->tracks->origin_unix_ns;
	return gp_timeline_is_op(event) && event->of.op->untimed;
}

static int take_event(void *context, const struct gp_timeline_event *event)
{
	struct walker *walker = context;
	struct gp_html_event made = {0};

	if (is_left_out(walker, event))
		return 0;
	if (!walker->is_counting)
		made = make_event(walker, event);
	made.start_ns = event->start_ns;
	made.end_ns = event->end_ns;
	add(walker, &made);
	return walker->error;
}

/* ---- tracks of the walk ---- */

/* The first row of the Python track. */
static void add_places(struct walker *walker, uint32_t first_sample)
{
	const struct gp_html_host_track track = {
		.model = walker->model,
		.places = gp_host_places_in(walker->tracks->scope),
		.labels = walker->is_counting ? NULL : &walker->tracks->labels,
		.tree = walker->is_counting || walker->is_measuring ? NULL : walker->tracks->tree};
	struct gp_html_event *events;
	uint32_t count;

	fail(walker, gp_html_host_track(&track, first_sample, &events, &count));
	for (uint32_t i = 0; walker->error == 0 && i < count; i++)
		add(walker, &events[i]);
	gp_spill_free(events);
}

static void name_stream(struct walker *walker, const struct gp_timeline_track *stream)
{
	const char *name =
		gp_model_stream_name(walker->model, stream->context_id, stream->stream_id);

	append(walker, "stream %u", stream->stream_id);
	if (gp_model_is_null_stream(walker->model, stream->context_id, stream->stream_id))
		append(walker, " (default)");
	if (*name)
		append(walker, " %.*s", (int)gp_utf8_cut(name, 80), name);
	if (walker->model->context_count > 1)
		append(walker, " (context %u)", stream->context_id);
}

/* Other tracks are the one track of their stage. */
static int take_track(void *context, const struct gp_timeline_track *track)
{
	struct walker *walker = context;

	switch (track->kind) {
	case GP_TRACK_THREAD:
		begin_track(walker, "thread", track->thread_id, "");
		append_thread(walker, track->thread_id);
		break;
	case GP_TRACK_PYTHON:
		begin_track(walker, "python", track->thread_id, "Python: ");
		append_thread(walker, track->thread_id);
		add_places(walker, track->first_sample);
		break;
	case GP_TRACK_STREAM:
		begin_track(walker, "stream",
			    gp_scope_device(walker->tracks->scope, walker->model,
					    (uint16_t)track->device_id),
			    "");
		name_stream(walker, track);
		break;
	default:
		if (strcmp(walker->kind, "thread") == 0 || strcmp(walker->kind, "python") == 0)
			begin_track(walker, "ranges", 0, "start/end ranges");
		else if (walker->has_own_tracks)
			begin_track(walker, walker->kind, 0, track->name ? track->name : "");
	}
	return walker->error;
}

/* ---- ranges on the GPU ---- */

/* The device of all operations of a model; GP_NONE if there are several. */
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

/* The ends of the ranges around a range of a thread, the innermost last. */
struct around {
	uint64_t end_ns[GP_HTML_ROWS];
	uint32_t count;
};

/* The nesting level of a range, at most GP_HTML_ROWS - 1. */
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
 * Ranges on the GPU, by thread: each from the start of its first operation to the end of its last
 * one.
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

	begin_track(walker, "gpu-ranges", id, "ranges on the GPU");
	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];
		uint32_t level;

		if (i == 0 || range->thread_id != range[-1].thread_id) {
			around.count = 0;
			end_track(walker);
			if (of_threads) {
				strcpy(walker->name, "ranges of ");
				append_thread(walker, range->thread_id);
			}
		}
		level = level_in(&around, range);
		if (!is_on_gpu(range))
			continue;
		add(walker,
		    &(struct gp_html_event){
			    .start_ns = range->gpu_start_ns,
			    .end_ns = range->gpu_end_ns,
			    .label = walker->is_counting
					     ? 0
					     : gp_html_label_range(&walker->tracks->labels, range),
			    .call = GP_NONE,
			    .row = level,
		    });
	}
	end_track(walker);
}

/* ---- a process ---- */

#define BIT(id) GP_TIMELINE_BIT(id)

/* Kinds that the page leaves out. */
#define NOT_SHOWN                                                                                  \
	(BIT(GATE) | BIT(UNFINISHED) | BIT(STREAM_RANGE) | BIT(SYNC) | BIT(EVENT) | BIT(PATH) |    \
	 BIT(ALLOCATION) | BIT(ENERGY_SAMPLE))

/*
 * The walks in order, each for one track or for the tracks that the walk begins.  kinds 0: all that
 * no other stage has, each on its own tracks.
 */
static const struct stage {
	uint32_t kinds;
	const char *kind, *name;
} stages[] = {
	{GP_TIMELINE_CALLS | BIT(RANGE) | BIT(PYTHON), "thread", ""},
	{GP_TIMELINE_OPS, "stream", ""},
	{BIT(PHASE), "phase", "phases of the main loop"},
	{BIT(UNIFIED), "unified", "unified memory"},
	{BIT(OVERHEAD), "overhead", "profiler and driver overhead"},
	{0, "code", ""},
	{BIT(COMPILING), "code", "compiling"},
};

/* Only the first two stages can have millions of events. */
#define COUNTED_STAGES 2u

static uint32_t other_kinds(void)
{
	uint32_t others = ~NOT_SHOWN;

	for (size_t i = 0; i < COUNT(stages); i++)
		others &= ~stages[i].kinds;
	return others;
}

static void walk_process(struct walker *walker)
{
	static const struct gp_timeline_sink sink = {.track = take_track, .event = take_event};
	struct gp_timeline timeline = {.model = walker->model,
				       .filter = gp_slice_filter_of_part(walker->model),
				       .started_apart = true,
				       .host_depth = walker->host_depths[walker->process],
				       .sink = &sink,
				       .context = walker};
	size_t count = walker->is_counting ? COUNTED_STAGES : COUNT(stages);

	fail(walker, gp_html_labels_use(&walker->tracks->labels, walker->model));
	if (walker->tracks->tree)
		fail(walker, gp_call_tree_use(walker->tracks->tree, walker->model));
	for (size_t i = 0; i < count && walker->error == 0; i++) {
		begin_track(walker, stages[i].kind, 0, stages[i].name);
		walker->has_own_tracks = stages[i].kinds == 0;
		timeline.kinds = walker->has_own_tracks ? other_kinds() : stages[i].kinds;
		fail(walker, gp_timeline_walk(&timeline));
		end_track(walker);
		if (i == 0)
			walk_gpu_ranges(walker);
	}
	walker->first_shape += walker->model->shape_count;
}

/* ---- choice of events ---- */

/* Overhead of starting the recording is not part of the program, and does not count. */
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

/* Whether there may be more events than the limit; kinds that are not counted here are few. */
static bool may_exceed(const struct gp_html_tracks *tracks, uint64_t limit)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tracks->scope->model_count; i++) {
		const struct gp_model *model = tracks->scope->models[i];

		if (model->sample_count > 0)
			return true;
		count += (uint64_t)model->call_count + model->op_count +
			 2 * (uint64_t)model->range_count;
	}
	return count > limit;
}

/*
 * If there are more events than the limit, find the shortest kept duration, and the number of kept
 * events with it.
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

/* The first walk: count events and note their durations, after merging by least_ns. */
static void measure(struct walker *walker)
{
	walker->is_measuring = walker->tracks->least_ns > 0;
	walker->is_counting = !walker->is_measuring;
	walk_all(walker);
	walker->is_counting = walker->is_measuring = false;
	walker->tracks->grouped = walker->tracks->crowded = 0;
	if (walker->error == 0)
		choose_shortest(walker, walker->durations_ns, walker->duration_count);
	gp_spill_free(walker->durations_ns);
}

/* The depth of Python functions on the page; the reported one is the least of all processes. */
static void find_host_depths(struct walker *walker)
{
	struct gp_html_tracks *tracks = walker->tracks;
	const struct gp_scope *scope = tracks->scope;

	walker->host_depths =
		gp_spill_take_zeroed(scope->model_count + 1, sizeof(*walker->host_depths));
	for (size_t i = 0; i < scope->model_count; i++) {
		struct gp_host_depth depth = gp_host_spans_depth(scope->models[i]);

		walker->host_depths[i] = depth;
		if (i == 0 || depth.functions < tracks->host_depth.functions)
			tracks->host_depth.functions = depth.functions;
		tracks->host_depth.left_out += depth.left_out;
	}
}

int gp_html_tracks_walk(struct gp_html_tracks *tracks)
{
	struct walker walker = {.tracks = tracks};

	find_host_depths(&walker);
	find_origin(tracks);
	if (tracks->event_limit > 0 && may_exceed(tracks, tracks->event_limit))
		measure(&walker);
	walk_all(&walker);
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

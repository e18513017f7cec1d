#include "report/html/timeline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/cuda_names.h"
#include "report/html/gather.h"
#include "report/html/pack.h"
#include "report/stats.h"

/*
 * START and LINK count from the event before; a start may be earlier than that, and wraps at 48 bits.  LINK of an operation is 1 + the number
 * of the call that caused it, counted over all events.  AUX: of a kernel 1 + its launch shape, of copies and sets bytes, of a call what it
 * returned.
 */
enum column { START, DURATION, LABEL, LINK, AUX, STACK, COLUMNS };

/* The work on one track. */
struct writer {
	struct gp_html_timeline *timeline;
	const struct gp_model *model;
	uint32_t process;
	struct gp_html_columns columns;
	struct gp_html_gather gather;
	uint32_t *event_of_call; /* 1 + the event's number; 0 = none */
	uint32_t first_shape;    /* of the model, among those of all */
	uint64_t last_start_ns;
	uint32_t last_link, tracks;
	uint64_t ties, ties_kept, tie; /* of the shortest events that are kept: every so manieth */
	char name[160];
	int error;
};

static uint64_t to_page(const struct writer *writer, uint64_t time_ns)
{
	return writer->model->base_unix_ns + time_ns - writer->timeline->origin_unix_ns;
}

static void fail(struct writer *writer, int error)
{
	if (writer->error == 0)
		writer->error = error;
}

/* ---- writing a track ---- */

static void add_sum(uint32_t *sum, uint64_t value)
{
	*sum = *sum * 31 + ((uint32_t)value ^ (uint32_t)(value >> 32));
}

static uint32_t link_of(struct writer *writer, const struct gp_html_event *event, bool is_host)
{
	if (event->call == GP_NONE)
		return 0;
	if (!is_host)
		return writer->event_of_call[event->call];
	writer->event_of_call[event->call] = (uint32_t)writer->timeline->events + 1;
	return 0;
}

static void put_event(struct writer *writer, const struct gp_html_event *event, bool is_host)
{
	struct gp_html_timeline *timeline = writer->timeline;
	uint32_t link = link_of(writer, event, is_host);
	uint64_t start_ns = to_page(writer, event->start_ns);
	uint64_t row[COLUMNS] = {
		[START] = start_ns,     [DURATION] = event->end_ns - event->start_ns,
		[LABEL] = event->label, [LINK] = link,
		[AUX] = event->aux,     [STACK] = event->stack};

	for (int i = 0; i < COLUMNS; i++)
		add_sum(&timeline->sums[i], row[i]);
	row[START] = start_ns - writer->last_start_ns;
	row[LINK] = gp_html_zigzag((int64_t)link - (int64_t)writer->last_link);
	gp_html_columns_add(&writer->columns, row);
	writer->last_start_ns = start_ns;
	writer->last_link = link;
	timeline->events++;
}

static void put_rows(struct writer *writer, bool is_host)
{
	const struct gp_html_gather *gather = &writer->gather;
	struct gp_json *json = &writer->timeline->tracks;
	uint64_t first = writer->timeline->events;
	uint32_t row = 0;

	for (uint32_t i = 0; i < gather->count && gather->events[i].row != GP_NONE; i++) {
		const struct gp_html_event *event = &gather->events[i];

		if (event->row != row) {
			gp_json_unsigned(json, writer->timeline->events - first);
			gp_json_text(json, ",");
			first = writer->timeline->events;
			row = event->row;
		}
		put_event(writer, event, is_host);
	}
	gp_json_unsigned(json, writer->timeline->events - first);
}

static void count_too_deep(struct writer *writer)
{
	const struct gp_html_gather *gather = &writer->gather;

	for (uint32_t i = gather->count; i > 0 && gather->events[i - 1].row == GP_NONE; i--)
		writer->timeline->too_deep++;
}

/* What the rows hold goes out; kind as the page knows it, id is the thread's or the device's number. */
static void put_track(struct writer *writer, const char *kind, uint64_t id)
{
	struct gp_json *json = &writer->timeline->tracks;
	bool is_host = strcmp(kind, "thread") == 0;
	bool nests = is_host || strcmp(kind, "gpu-ranges") == 0;

	if (writer->error < 0 || writer->gather.count == 0)
		return;
	fail(writer, gp_html_gather_place(&writer->gather, nests, GP_HTML_ROWS));
	if (writer->error < 0)
		return;
	gp_json_text(json, writer->tracks++ > 0 ? ",\n{\"kind\":\"" : "{\"kind\":\"");
	gp_json_text(json, kind);
	gp_json_text(json, "\",\"id\":");
	gp_json_unsigned(json, id);
	gp_json_text(json, ",\"process\":");
	gp_json_unsigned(json, writer->process);
	gp_json_text(json, ",\"name\":");
	gp_json_string(json, writer->name, strlen(writer->name));
	gp_json_text(json, ",\"rows\":[");
	put_rows(writer, is_host);
	gp_json_text(json, "]}");
	count_too_deep(writer);
	gp_html_gather_clear(&writer->gather);
}

/* Where not all that are as long as the shortest can be kept, those that are stand all over the trace. */
static bool is_kept(struct writer *writer, uint64_t duration_ns)
{
	if (duration_ns != writer->timeline->shortest_ns || writer->ties == 0)
		return duration_ns >= writer->timeline->shortest_ns;
	writer->tie += writer->ties_kept;
	if (writer->tie < writer->ties)
		return false;
	writer->tie -= writer->ties;
	return true;
}

static void add(struct writer *writer, const struct gp_html_event *event)
{
	if (!is_kept(writer, event->end_ns - event->start_ns))
		writer->timeline->shorter++;
	else if (writer->error == 0)
		fail(writer, gp_html_gather_add(&writer->gather, event));
}

__attribute__((format(printf, 2, 3))) static void append(struct writer *writer, const char *format,
							 ...)
{
	size_t used = strlen(writer->name);
	va_list list;

	va_start(list, format);
	vsnprintf(writer->name + used, sizeof(writer->name) - used, format, list);
	va_end(list);
}

/* ---- threads ---- */

static uint32_t stack_of(struct writer *writer, uint32_t stack)
{
	return stack == GP_NONE ? 0 : gp_call_tree_find(writer->timeline->tree, stack) + 1;
}

static void add_call(struct writer *writer, uint32_t index)
{
	const struct gp_call *call = &writer->model->calls[index];

	add(writer, &(struct gp_html_event){
			    .start_ns = call->start_ns,
			    .end_ns = call->start_ns + call->duration_ns,
			    .aux = call->status,
			    .label = gp_html_label_call(&writer->timeline->labels, call),
			    .stack = stack_of(writer, call->stack),
			    .call = index,
		    });
}

static void add_range(struct writer *writer, const struct gp_range *range)
{
	add(writer, &(struct gp_html_event){
			    .start_ns = range->start_ns,
			    .end_ns = range->end_ns,
			    .label = gp_html_label_range(&writer->timeline->labels, range),
			    .call = GP_NONE,
		    });
}

static void name_thread(struct writer *writer, uint32_t id)
{
	const char *name = gp_model_thread_name(writer->model, id);

	writer->name[0] = '\0';
	if (*name)
		append(writer, "%.100s (thread %u)", name, id);
	else
		append(writer, "thread %u", id);
}

/* Calls and ranges are sorted by thread, both: the lowest number that is left is the next one's. */
static void write_threads(struct writer *writer)
{
	const struct gp_model *model = writer->model;
	uint32_t call = 0, range = 0;

	while (writer->error == 0 && (call < model->call_count || range < model->range_count)) {
		uint32_t id = call < model->call_count ? model->calls[call].thread_id : UINT32_MAX;

		if (range < model->range_count && model->ranges[range].thread_id < id)
			id = model->ranges[range].thread_id;
		for (; call < model->call_count && model->calls[call].thread_id == id; call++)
			add_call(writer, call);
		for (; range < model->range_count && model->ranges[range].thread_id == id; range++)
			if (model->ranges[range].style != GP_STYLE_START_END)
				add_range(writer, &model->ranges[range]);
		name_thread(writer, id);
		put_track(writer, "thread", id);
	}
}

static void write_start_end_ranges(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->model->range_count; i++)
		if (writer->model->ranges[i].style == GP_STYLE_START_END)
			add_range(writer, &writer->model->ranges[i]);
	strcpy(writer->name, "start/end ranges");
	put_track(writer, "ranges", 0);
}

/* ---- streams ---- */

static uint32_t call_of(const struct writer *writer, const struct gp_op *op)
{
	const struct gp_call *cause = gp_model_op_cause(writer->model, op);

	return cause ? (uint32_t)(cause - writer->model->calls) : GP_NONE;
}

static void add_op(struct writer *writer, const struct gp_op *op)
{
	uint64_t aux = op->bytes;

	if (op->kind == GP_OP_KERNEL)
		aux = op->shape < writer->model->shape_count
			      ? (uint64_t)writer->first_shape + op->shape + 1
			      : 0;
	add(writer, &(struct gp_html_event){
			    .start_ns = op->start_ns,
			    .end_ns = op->end_ns,
			    .aux = aux,
			    .label = gp_html_label_op(&writer->timeline->labels, op),
			    .call = call_of(writer, op),
		    });
}

static void name_stream(struct writer *writer, const struct gp_op *op)
{
	const char *name = gp_model_stream_name(writer->model, op->context_id, op->stream_id);

	writer->name[0] = '\0';
	append(writer, "stream %u", op->stream_id);
	if (gp_model_is_null_stream(writer->model, op->context_id, op->stream_id))
		append(writer, " (default)");
	if (*name)
		append(writer, " %.80s", name);
	if (writer->model->context_count > 1)
		append(writer, " (context %u)", op->context_id);
}

static bool is_same_stream(const struct gp_op *a, const struct gp_op *b)
{
	return a->device_id == b->device_id && a->context_id == b->context_id &&
	       a->stream_id == b->stream_id;
}

static void write_streams(struct writer *writer)
{
	const struct gp_model *model = writer->model;

	for (uint32_t i = 0; writer->error == 0 && i < model->op_count; i++) {
		const struct gp_op *op = &model->ops[i];

		if (!op->untimed)
			add_op(writer, op);
		if (i + 1 < model->op_count && is_same_stream(op, op + 1))
			continue;
		name_stream(writer, op);
		put_track(writer, "stream",
			  gp_scope_device(writer->timeline->scope, model, op->device_id));
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

/* Ranges where their operations are: from the first one's start to the last one's end. */
static void write_gpu_ranges(struct writer *writer)
{
	const struct gp_model *model = writer->model;
	uint32_t device = only_device(model);

	for (uint32_t i = 0; i < model->range_count; i++) {
		const struct gp_range *range = &model->ranges[i];

		if (range->gpu_end_ns <= range->gpu_start_ns)
			continue;
		add(writer, &(struct gp_html_event){
				    .start_ns = range->gpu_start_ns,
				    .end_ns = range->gpu_end_ns,
				    .label = gp_html_label_range(&writer->timeline->labels, range),
				    .call = GP_NONE,
			    });
	}
	strcpy(writer->name, "ranges on the GPU");
	put_track(writer, "gpu-ranges",
		  device == GP_NONE
			  ? UINT32_MAX
			  : gp_scope_device(writer->timeline->scope, model, (uint16_t)device));
}

/* ---- the rest of a process ---- */

static void write_overheads(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->model->overhead_count; i++) {
		const struct gp_overhead *overhead = &writer->model->overheads[i];
		const char *name = gp_overhead_name(overhead->overhead_kind);

		add(writer,
		    &(struct gp_html_event){.start_ns = overhead->start_ns,
					    .end_ns = overhead->end_ns,
					    .label = gp_html_label(&writer->timeline->labels,
								   GP_LABEL_OVERHEAD, name),
					    .call = GP_NONE});
	}
	strcpy(writer->name, "CUPTI and driver overhead");
	put_track(writer, "overhead", 0);
}

static void write_jits(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->model->jit_count; i++) {
		const struct gp_record_jit *jit = &writer->model->jits[i];
		char name[96];

		snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
			 gp_jit_entry_name(jit->entry_kind));
		add(writer,
		    &(struct gp_html_event){
			    .start_ns = jit->start_ns,
			    .end_ns = jit->end_ns,
			    .aux = jit->cache_bytes,
			    .label = gp_html_label(&writer->timeline->labels, GP_LABEL_CODE, name),
			    .call = GP_NONE});
	}
	strcpy(writer->name, "compiling");
	put_track(writer, "code", 0);
}

static void write_unified(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->model->unified_count; i++) {
		const struct gp_record_unified *event = &writer->model->unifieds[i];
		const char *name = gp_unified_name(event->counter_kind);

		if (event->end_ns < event->start_ns)
			continue;
		add(writer,
		    &(struct gp_html_event){.start_ns = event->start_ns,
					    .end_ns = event->end_ns,
					    .aux = event->value,
					    .label = gp_html_label(&writer->timeline->labels,
								   GP_LABEL_UNIFIED, name),
					    .call = GP_NONE});
	}
	strcpy(writer->name, "unified memory");
	put_track(writer, "unified", 0);
}

/* "[gx,gy,gz,bx,by,bz,registers,static shared,dynamic shared,cluster x,y,z]" of each. */
static void put_shapes(struct writer *writer)
{
	struct gp_json *json = &writer->timeline->shapes;

	for (uint32_t i = 0; i < writer->model->shape_count; i++) {
		const struct gp_record_shape *shape = &writer->model->shapes[i];
		const uint32_t values[] = {shape->grid[0],
					   shape->grid[1],
					   shape->grid[2],
					   shape->block[0],
					   shape->block[1],
					   shape->block[2],
					   shape->registers,
					   shape->static_shared_bytes,
					   shape->dynamic_shared_bytes,
					   shape->cluster[0],
					   shape->cluster[1],
					   shape->cluster[2]};

		gp_json_text(json, writer->first_shape + i > 0 ? ",\n[" : "[");
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
			gp_json_text(json, v > 0 ? "," : "");
			gp_json_unsigned(json, values[v]);
		}
		gp_json_text(json, "]");
	}
	writer->first_shape += writer->model->shape_count;
}

static void write_process(struct writer *writer)
{
	const struct gp_model *model = writer->model;

	writer->event_of_call =
		calloc((size_t)model->call_count + 1, sizeof(*writer->event_of_call));
	if (!writer->event_of_call)
		fail(writer, -ENOMEM);
	fail(writer, gp_html_labels_use(&writer->timeline->labels, model));
	fail(writer, gp_call_tree_use(writer->timeline->tree, model));
	if (writer->error == 0) {
		write_threads(writer);
		write_start_end_ranges(writer);
		write_gpu_ranges(writer);
		write_streams(writer);
		write_unified(writer);
		write_overheads(writer);
		write_jits(writer);
		put_shapes(writer);
	}
	free(writer->event_of_call);
	writer->event_of_call = NULL;
}

/* ---- which events ---- */

static uint64_t earliest_of(const struct gp_model *model)
{
	uint64_t earliest_ns =
		model->call_count + model->op_count > 0 ? model->first_ns : UINT64_MAX;

	for (uint32_t i = 0; i < model->range_count; i++)
		if (model->ranges[i].start_ns < earliest_ns)
			earliest_ns = model->ranges[i].start_ns;
	for (uint32_t i = 0; i < model->overhead_count; i++)
		if (model->overheads[i].start_ns < earliest_ns)
			earliest_ns = model->overheads[i].start_ns;
	for (uint32_t i = 0; i < model->jit_count; i++)
		if (model->jits[i].start_ns < earliest_ns)
			earliest_ns = model->jits[i].start_ns;
	for (uint32_t i = 0; i < model->unified_count; i++)
		if (model->unifieds[i].start_ns < earliest_ns)
			earliest_ns = model->unifieds[i].start_ns;
	return earliest_ns == UINT64_MAX ? model->base_unix_ns : model->base_unix_ns + earliest_ns;
}

static void find_origin(struct gp_html_timeline *timeline)
{
	timeline->origin_unix_ns = UINT64_MAX;
	for (size_t i = 0; i < timeline->scope->model_count; i++) {
		uint64_t earliest_ns = earliest_of(timeline->scope->models[i]);

		if (earliest_ns < timeline->origin_unix_ns)
			timeline->origin_unix_ns = earliest_ns;
	}
}

/* Of calls, operations and ranges, which may be there twice: all else is little. */
static uint64_t count_events(const struct gp_scope *scope)
{
	uint64_t count = 0;

	for (size_t i = 0; i < scope->model_count; i++)
		count += (uint64_t)scope->models[i]->call_count + scope->models[i]->op_count +
			 2 * (uint64_t)scope->models[i]->range_count;
	return count;
}

static size_t copy_durations(const struct gp_model *model, uint64_t *durations_ns)
{
	size_t count = 0;

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

static int find_shortest(struct writer *writer)
{
	struct gp_html_timeline *timeline = writer->timeline;
	const struct gp_scope *scope = timeline->scope;
	uint64_t total = count_events(scope), *durations_ns;
	size_t count = 0;

	if (timeline->event_limit == 0 || total <= timeline->event_limit)
		return 0;
	durations_ns = malloc(total * sizeof(*durations_ns));
	if (!durations_ns)
		return -ENOMEM;
	for (size_t i = 0; i < scope->model_count; i++)
		count += copy_durations(scope->models[i], durations_ns + count);
	if (count <= timeline->event_limit) {
		free(durations_ns);
		return 0;
	}
	timeline->shortest_ns = gp_stats_select(durations_ns, count, count - timeline->event_limit);
	writer->ties_kept = timeline->event_limit;
	for (size_t i = 0; i < count; i++) {
		writer->ties += durations_ns[i] == timeline->shortest_ns;
		writer->ties_kept -= durations_ns[i] > timeline->shortest_ns;
	}
	free(durations_ns);
	return 0;
}

int gp_html_timeline_write(struct gp_html_timeline *timeline, FILE *out)
{
	struct writer writer = {.timeline = timeline};

	fail(&writer, gp_html_columns_open(&writer.columns, out, "events", COLUMNS));
	fail(&writer, gp_json_open(&timeline->tracks, NULL));
	fail(&writer, gp_json_open(&timeline->shapes, NULL));
	fail(&writer, find_shortest(&writer));
	if (count_events(timeline->scope) >= UINT32_MAX)
		fail(&writer, -EOVERFLOW);
	find_origin(timeline);
	for (size_t i = 0; writer.error == 0 && i < timeline->scope->model_count; i++) {
		writer.model = timeline->scope->models[i];
		writer.process = (uint32_t)i;
		write_process(&writer);
	}
	fail(&writer, timeline->labels.error);
	fail(&writer, gp_html_columns_close(&writer.columns));
	gp_call_tree_use(timeline->tree, NULL);
	gp_html_gather_free(&writer.gather);
	return writer.error;
}

void gp_html_timeline_free(struct gp_html_timeline *timeline)
{
	gp_html_labels_free(&timeline->labels);
	gp_json_close(&timeline->tracks);
	gp_json_close(&timeline->shapes);
}

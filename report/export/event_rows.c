#include "report/export/event_rows.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/analysis/idle/activity.h"
#include "report/trace/cuda_names.h"
#include "report/model/awaited_ops.h"
#include "report/model/gpu_numbers.h"
#include "report/model/losses.h"
#include "report/symbols/call_site.h"
#include "report/symbols/names.h"
#include "report/codec/json_write.h"
#include "report/symbols/unique_names.h"
#include "report/model/payload.h"
#include "report/export/payload_json.h"
#include "report/symbols/symbols.h"
#include "report/timeline/timeline.h"

const struct gp_table_column gp_event_columns[GP_EVENT_COLUMNS] = {
	[GP_EVENT_KIND] = {"kind", GP_UNIT_TEXT},
	[GP_EVENT_NAME] = {"name", GP_UNIT_TEXT},
	[GP_EVENT_START] = {"start_ns", GP_UNIT_NS},
	[GP_EVENT_DURATION] = {"duration_ns", GP_UNIT_NS},
	[GP_EVENT_PID] = {"pid", GP_UNIT_NUMBER},
	[GP_EVENT_TID] = {"tid", GP_UNIT_NUMBER},
	[GP_EVENT_DEVICE] = {"device", GP_UNIT_NUMBER},
	[GP_EVENT_CONTEXT] = {"context", GP_UNIT_NUMBER},
	[GP_EVENT_STREAM] = {"stream", GP_UNIT_NUMBER},
	[GP_EVENT_CORRELATION] = {"correlation", GP_UNIT_NUMBER},
	[GP_EVENT_BYTES] = {"bytes", GP_UNIT_BYTES},
	[GP_EVENT_COUNT] = {"count", GP_UNIT_COUNT},
	[GP_EVENT_SOURCE] = {"source", GP_UNIT_TEXT},
	[GP_EVENT_DESTINATION] = {"destination", GP_UNIT_TEXT},
	[GP_EVENT_GRID_X] = {"grid_x", GP_UNIT_NUMBER},
	[GP_EVENT_GRID_Y] = {"grid_y", GP_UNIT_NUMBER},
	[GP_EVENT_GRID_Z] = {"grid_z", GP_UNIT_NUMBER},
	[GP_EVENT_BLOCK_X] = {"block_x", GP_UNIT_NUMBER},
	[GP_EVENT_BLOCK_Y] = {"block_y", GP_UNIT_NUMBER},
	[GP_EVENT_BLOCK_Z] = {"block_z", GP_UNIT_NUMBER},
	[GP_EVENT_REGISTERS] = {"registers", GP_UNIT_COUNT},
	[GP_EVENT_STATIC_SHARED] = {"static_shared_bytes", GP_UNIT_BYTES},
	[GP_EVENT_DYNAMIC_SHARED] = {"dynamic_shared_bytes", GP_UNIT_BYTES},
	[GP_EVENT_GRAPH] = {"graph", GP_UNIT_NUMBER},
	[GP_EVENT_GRAPH_NODE] = {"graph_node", GP_UNIT_NUMBER},
	[GP_EVENT_STATUS] = {"status", GP_UNIT_NUMBER},
	[GP_EVENT_ERROR] = {"error", GP_UNIT_TEXT},
	[GP_EVENT_MEMORY] = {"memory", GP_UNIT_TEXT},
	[GP_EVENT_ADDRESS] = {"address", GP_UNIT_ADDRESS},
	[GP_EVENT_POOL] = {"pool", GP_UNIT_ADDRESS},
	[GP_EVENT_DOMAIN] = {"domain", GP_UNIT_TEXT},
	[GP_EVENT_CATEGORY] = {"category", GP_UNIT_TEXT},
	[GP_EVENT_LEVEL] = {"level", GP_UNIT_COUNT},
	[GP_EVENT_PAYLOAD] = {"payload", GP_UNIT_TEXT},
	[GP_EVENT_UNIX] = {"unix_ns", GP_UNIT_NUMBER},
	[GP_EVENT_FIELDS] = {"fields", GP_UNIT_TEXT},
	[GP_EVENT_POWER] = {"power_mw", GP_UNIT_NUMBER},
	[GP_EVENT_ENERGY] = {"energy_mj", GP_UNIT_NUMBER},
	[GP_EVENT_CLOCK] = {"clock_mhz", GP_UNIT_NUMBER},
	[GP_EVENT_PLACE] = {"place", GP_UNIT_TEXT},
	[GP_EVENT_IS_ESTIMATED] = {"place_is_estimated", GP_UNIT_FLAG},
	[GP_EVENT_CLASS] = {"class", GP_UNIT_TEXT},
	[GP_EVENT_LACKS_OPERATION] = {"lacks_operation", GP_UNIT_FLAG},
};

static_assert(GP_EVENT_COLUMNS <= 64, "a bit for each column");

size_t gp_event_table_of(const struct gp_event_table *tables, size_t count, const char *kind)
{
	for (size_t t = 0; t + 1 < count; t++)
		for (size_t k = 0; k < COUNT(tables[t].kinds) && tables[t].kinds[k]; k++)
			if (strcmp(tables[t].kinds[k], kind) == 0)
				return t;
	return count - 1;
}

struct rows {
	const struct gp_model *model;
	struct gp_names *names;
	struct gp_symbols *symbols;
	struct gp_call_sites *sites; /* of the model; NULL: the format has no places */
	struct gp_awaited_ops awaited;
	struct gp_gpu_numbers gpus;
	uint64_t base_unix_ns; /* times are relative to this */
	uint64_t offset_ns;    /* added to times of the model */
	const struct gp_event_format *format;
	struct gp_json out;
	struct gp_value values[GP_EVENT_COLUMNS]; /* the current row */
	uint32_t thread_id;                       /* of the current track */
	struct gp_json fields;                    /* of its payload, in memory */
	char label[GP_ACTIVITY_LABEL_BYTES], payload[40], category[16]; /* its texts */
};

/* ---- one row ---- */

static void set(struct rows *rows, enum gp_event_column column, uint64_t whole)
{
	rows->values[column] = gp_value_whole(whole);
}

/* Leaves the column empty for 0, which means none. */
static void set_if_any(struct rows *rows, enum gp_event_column column, uint64_t whole)
{
	if (whole != 0)
		set(rows, column, whole);
}

static void set_text(struct rows *rows, enum gp_event_column column, const char *text)
{
	if (text && *text)
		rows->values[column] = gp_value_text(text);
}

static void set_name(struct rows *rows, const char *name)
{
	rows->values[GP_EVENT_NAME] = gp_value_text(name);
}

static void set_device(struct rows *rows, uint16_t device_id)
{
	set(rows, GP_EVENT_DEVICE, gp_gpu_numbers_find(&rows->gpus, rows->model, device_id, NULL));
}

static void begin(struct rows *rows, const char *kind, const char *name)
{
	memset(rows->values, 0, sizeof(rows->values));
	rows->values[GP_EVENT_KIND] = gp_value_text(kind);
	set_name(rows, name);
	set(rows, GP_EVENT_PID, rows->model->pid);
}

static void set_times(struct rows *rows, uint64_t start_ns, uint64_t end_ns)
{
	set(rows, GP_EVENT_START, rows->offset_ns + start_ns);
	set(rows, GP_EVENT_DURATION, end_ns > start_ns ? end_ns - start_ns : 0);
}

static void end(struct rows *rows)
{
	rows->format->put_row(&rows->out, rows->values, rows->format->context);
}

/* The place of a call; of none, or of one without a stack, it is empty. */
static void set_place(struct rows *rows, const struct gp_call *call)
{
	uint32_t site;

	if (!rows->sites || !call || call->stack == GP_NONE)
		return;
	site = gp_call_sites_find(rows->sites, rows->model, call);
	set_text(rows, GP_EVENT_PLACE, gp_call_sites_at(rows->sites, site).place);
	set(rows, GP_EVENT_IS_ESTIMATED, call->is_estimated);
}

/* Set columns from the arguments of an event; arguments without a column are ignored. */
static void set_args(struct rows *rows, const struct gp_timeline_event *event)
{
	static const struct {
		const char *key;
		enum gp_event_column column;
		bool has_zero; /* 0 is a value */
	} columns[] = {
		{"thread", GP_EVENT_TID, false},
		{"context", GP_EVENT_CONTEXT, true},
		{"stream", GP_EVENT_STREAM, true},
		{"correlation", GP_EVENT_CORRELATION, false},
		{"compute cache bytes", GP_EVENT_BYTES, false},
		{"graph id", GP_EVENT_GRAPH, false},
		{"graph node id", GP_EVENT_GRAPH_NODE, false},
		{"by", GP_EVENT_CATEGORY, false},
		{"state", GP_EVENT_ERROR, false},
		{"power mW", GP_EVENT_POWER, true},
		{"energy mJ", GP_EVENT_ENERGY, true},
		{"clock MHz", GP_EVENT_CLOCK, false},
	};

	for (uint32_t i = 0; i < event->arg_count; i++) {
		const struct gp_timeline_arg *arg = &event->args[i];

		if (strcmp(arg->key, "device") == 0)
			set_device(rows, (uint16_t)arg->number);
		for (size_t c = 0; c < COUNT(columns); c++) {
			if (strcmp(arg->key, columns[c].key) != 0)
				continue;
			if (arg->type == GP_ARG_TEXT)
				set_text(rows, columns[c].column, arg->text);
			else if (arg->number != 0 || columns[c].has_zero)
				set(rows, columns[c].column, arg->number);
		}
	}
}

/* ---- the process itself ---- */

static void write_process(struct rows *rows)
{
	const struct gp_model *model = rows->model;
	const char *program = model->info[GP_INFO_PROGRAM];

	begin(rows, "process", program ? program : "");
	set_times(rows, model->first_ns, model->last_ns);
	set(rows, GP_EVENT_UNIX, model->base_unix_ns + model->first_ns);
	end(rows);
}

static void write_devices(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->device_count; i++) {
		begin(rows, "device", model->device_names[i] ? model->device_names[i] : "");
		set_device(rows, model->devices[i].device_id);
		set(rows, GP_EVENT_BYTES, model->devices[i].memory_bytes);
		set(rows, GP_EVENT_COUNT, model->devices[i].multiprocessors);
		end(rows);
	}
}

static void write_threads(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->model->thread_count; i++) {
		begin(rows, "thread", rows->model->threads[i].name);
		set(rows, GP_EVENT_TID, rows->model->threads[i].id);
		end(rows);
	}
}

/* ---- operations ---- */

/* If a trace has only the sum of shared memory, it is in the dynamic part; the static is unknown. */
static void set_shape(struct rows *rows, const struct gp_record_shape *shape)
{
	for (int i = 0; i < 3; i++) {
		set(rows, (enum gp_event_column)(GP_EVENT_GRID_X + i), shape->grid[i]);
		set(rows, (enum gp_event_column)(GP_EVENT_BLOCK_X + i), shape->block[i]);
	}
	set(rows, GP_EVENT_REGISTERS, shape->registers);
	if ((rows->model->unknown & GP_UNKNOWN_SHARED_PARTS) == 0)
		set(rows, GP_EVENT_STATIC_SHARED, shape->static_shared_bytes);
	set(rows, GP_EVENT_DYNAMIC_SHARED, shape->dynamic_shared_bytes);
}

static void set_op(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_model *model = rows->model;
	const struct gp_op *op = event->of.op;

	if (op->kind != GP_OP_KERNEL)
		gp_activity_label(rows->label, op);
	set_name(rows, op->kind == GP_OP_KERNEL
			       ? gp_names_full(rows->names, gp_model_kernel_name(model, op))
			       : rows->label);
	if (op->untimed)
		rows->values[GP_EVENT_DURATION] = gp_value_none();
	set_device(rows, op->device_id);
	set(rows, GP_EVENT_CONTEXT, op->context_id);
	set(rows, GP_EVENT_STREAM, op->stream_id);
	set(rows, GP_EVENT_CORRELATION, op->correlation_id);
	set_if_any(rows, GP_EVENT_GRAPH, op->graph_id);
	set_if_any(rows, GP_EVENT_GRAPH_NODE, gp_model_detail(model, op)->graph_node_id);
	if (op->kind == GP_OP_KERNEL && op->shape < model->shape_count)
		set_shape(rows, &model->shapes[op->shape]);
	if (op->kind == GP_OP_COPY)
		set_text(rows, GP_EVENT_SOURCE, gp_memory_name(op->source_kind));
	if (op->kind == GP_OP_COPY || op->kind == GP_OP_SET) {
		set(rows, GP_EVENT_BYTES, op->bytes);
		set_text(rows, GP_EVENT_DESTINATION, gp_memory_name(op->destination_kind));
	}
	set_place(rows, gp_model_op_stack_call(model, op));
}

/* ---- the host ---- */

static const char *class_of(struct gp_api api)
{
	static const char *const words[GP_API_CLASSES] = {
		[GP_API_OTHER] = "other",
		[GP_API_LAUNCH] = "launch",
		[GP_API_GRAPH_LAUNCH] = "graph launch",
		[GP_API_COPY] = "copy",
		[GP_API_MEMSET] = "memset",
		[GP_API_ALLOC] = "allocation",
		[GP_API_FREE] = "free",
		[GP_API_SYNC] = "wait",
		[GP_API_CAPTURE_BEGIN] = "begin of a capture",
		[GP_API_CAPTURE_END] = "end of a capture",
		[GP_API_CONTROL] = "control",
		[GP_API_EVENT] = "event",
		[GP_API_MODULE] = "module",
		[GP_API_HOST] = "host function",
	};

	/* The host does not wait in it. */
	if (api.class == GP_API_SYNC && strstr(api.name, "WaitEvent"))
		return "wait of a stream";
	return words[api.class];
}

static void set_call(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_model *model = rows->model;
	const struct gp_call *call = event->of.call;
	struct gp_api api = gp_model_api(model, call->api);
	uint64_t asked_bytes;

	set_name(rows, api.name);
	set_text(rows, GP_EVENT_CLASS, class_of(api));
	set(rows, GP_EVENT_LACKS_OPERATION, gp_awaited_ops_has(&rows->awaited, call));
	set(rows, GP_EVENT_TID, call->thread_id);
	set_if_any(rows, GP_EVENT_CONTEXT, call->context_id);
	set(rows, GP_EVENT_CORRELATION, call->correlation_id);
	if ((model->unknown & GP_UNKNOWN_STATUS) == 0)
		set(rows, GP_EVENT_STATUS, call->status);
	if (call->status != 0)
		set_text(rows, GP_EVENT_ERROR, gp_status_name(call->status));
	if (call->status != 0 && gp_model_asked_bytes(model, call, &asked_bytes))
		set(rows, GP_EVENT_BYTES, asked_bytes);
	set_place(rows, call);
}

/* The name of the row is the innermost function. */
static void set_sample(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_sample *sample = event->of.sample;
	size_t count;

	set_name(rows,
		 gp_symbols_find(rows->symbols, rows->model, sample->stack, &count)->function);
	set(rows, GP_EVENT_TID, sample->thread_id);
	set(rows, GP_EVENT_COUNT, sample->count);
}

static void set_sync(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_record_sync *sync = event->of.sync;

	set_name(rows, gp_sync_name(sync->sync_kind));
	set_device(rows, gp_model_context_device(rows->model, sync->context_id));
	set(rows, GP_EVENT_CONTEXT, sync->context_id);
	if (sync->stream_id != GP_NO_STREAM)
		set(rows, GP_EVENT_STREAM, sync->stream_id);
	set(rows, GP_EVENT_CORRELATION, sync->correlation_id);
}

static void set_overhead(struct rows *rows, const struct gp_timeline_event *event)
{
	set_if_any(rows, GP_EVENT_TID, event->of.overhead->thread_id);
	set_if_any(rows, GP_EVENT_CORRELATION, event->of.overhead->correlation_id);
}

/* CUDA runs host functions on its own thread. */
static void set_host_function(struct rows *rows, const struct gp_timeline_event *event)
{
	set_args(rows, event);
	set_name(rows, "");
}

static void set_unfinished(struct rows *rows, const struct gp_timeline_event *event)
{
	set_args(rows, event);
	set(rows, GP_EVENT_TID, rows->thread_id);
}

/* ---- ranges ---- */

static void set_payload(struct rows *rows, const struct gp_range *range)
{
	char *text = rows->payload;
	size_t bytes = sizeof(rows->payload);

	if (range->payload_kind == GP_PAYLOAD_NONE)
		return;
	if (range->payload_kind == GP_PAYLOAD_SIGNED)
		snprintf(text, bytes, "%" PRId64, (int64_t)range->payload);
	else if (range->payload_kind == GP_PAYLOAD_FLOATING)
		snprintf(text, bytes, "%.17g", gp_payload_floating(range->payload));
	else
		snprintf(text, bytes, "%" PRIu64, range->payload);
	set_text(rows, GP_EVENT_PAYLOAD, text);
}

static void set_fields(struct rows *rows, const struct gp_range *range)
{
	if (range->extended_payload == GP_NONE)
		return;
	rows->fields.used = 0;
	gp_payload_json_fields(&rows->fields, rows->model, range->extended_payload);
	gp_json_bytes(&rows->fields, "", 1);
	if (rows->fields.error == 0)
		set_text(rows, GP_EVENT_FIELDS, rows->fields.buffer);
}

static void set_range(struct rows *rows, const struct gp_timeline_event *event)
{
	static const char *const kinds[] = {
		[GP_STYLE_PUSH_POP] = "range",
		[GP_STYLE_START_END] = "start/end range",
		[GP_STYLE_MARK] = "mark",
	};
	const struct gp_range *range = event->of.range;
	const char *category = gp_model_category(rows->model, range->domain, range->category);

	set_text(rows, GP_EVENT_KIND, kinds[range->style]);
	set_name(rows, gp_model_range_text(rows->model, range));
	set(rows, GP_EVENT_TID, range->thread_id);
	set_text(rows, GP_EVENT_DOMAIN, rows->model->domains[range->domain]);
	if (range->category != 0) {
		snprintf(rows->category, sizeof(rows->category), "%" PRIu32, range->category);
		set_text(rows, GP_EVENT_CATEGORY, *category ? category : rows->category);
	}
	if (range->style == GP_STYLE_PUSH_POP)
		set(rows, GP_EVENT_LEVEL, range->level);
	set_payload(rows, range);
	set_fields(rows, range);
	if (range->open)
		set_text(rows, GP_EVENT_ERROR, "never closed");
}

/* ---- memory ---- */

static void set_allocation(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_memory_event *memory = event->of.memory;
	const struct gp_call *call =
		memory->call == GP_NONE ? NULL : &rows->model->calls[memory->call];

	set_text(rows, GP_EVENT_KIND, memory->op == GP_MEMORY_ALLOC ? "allocation" : "free");
	set_name(rows, call ? gp_model_api(rows->model, call->api).name : "(the context's end)");
	if (call) {
		set(rows, GP_EVENT_TID, call->thread_id);
		set(rows, GP_EVENT_CORRELATION, call->correlation_id);
	}
	set_device(rows, memory->device_id);
	set(rows, GP_EVENT_BYTES, memory->bytes);
	set(rows, GP_EVENT_ADDRESS, memory->address);
	set_text(rows, GP_EVENT_MEMORY, gp_allocation_name(memory->memory_kind));
	set_if_any(rows, GP_EVENT_POOL, memory->pool);
	set_place(rows, call);
}

static void set_unified(struct rows *rows, const struct gp_timeline_event *event)
{
	const struct gp_record_unified *unified = event->of.unified;
	uint32_t device = gp_unified_device(unified);

	set_times(rows, unified->start_ns, unified->end_ns);
	if (device < GP_DEVICE_LIMIT)
		set_device(rows, (uint16_t)device);
	set(rows, gp_unified_counts_bytes(unified->counter_kind) ? GP_EVENT_BYTES : GP_EVENT_COUNT,
	    unified->value);
	set(rows, GP_EVENT_ADDRESS, unified->address);
}

/* The driver reports the memory of a device for all processes together. */
static int take_counter(void *context, const struct gp_timeline_counter *counter)
{
	struct rows *rows = context;

	if (counter->kind != GP_TIMELINE_IN_USE)
		return 0;
	begin(rows, "memory in use", "");
	set(rows, GP_EVENT_START, rows->offset_ns + counter->time_ns);
	set_device(rows, (uint16_t)counter->device_id);
	set(rows, GP_EVENT_BYTES, counter->series[0].value);
	end(rows);
	return rows->out.error;
}

/* ---- losses ---- */

static void write_missing(void *context, const struct gp_loss *loss, uint64_t count)
{
	struct rows *rows = context;

	begin(rows, "missing", loss->sentence);
	set(rows, GP_EVENT_COUNT, count);
	end(rows);
}

/* ---- all rows ---- */

/* Kinds whose rows have more than the arguments of the event. */
static void (*const setters[GP_TIMELINE_KINDS])(struct rows *rows,
						const struct gp_timeline_event *event) = {
	[GP_TIMELINE_RUNTIME_CALL] = set_call,
	[GP_TIMELINE_DRIVER_CALL] = set_call,
	[GP_TIMELINE_RANGE] = set_range,
	[GP_TIMELINE_PYTHON] = set_sample,
	[GP_TIMELINE_OVERHEAD] = set_overhead,
	[GP_TIMELINE_HOST_FUNCTION] = set_host_function,
	[GP_TIMELINE_UNFINISHED] = set_unfinished,
	[GP_TIMELINE_KERNEL] = set_op,
	[GP_TIMELINE_COPY] = set_op,
	[GP_TIMELINE_MEMSET] = set_op,
	[GP_TIMELINE_GRAPH] = set_op,
	[GP_TIMELINE_SYNC] = set_sync,
	[GP_TIMELINE_UNIFIED] = set_unified,
	[GP_TIMELINE_ALLOCATION] = set_allocation,
};

static int take_track(void *context, const struct gp_timeline_track *track)
{
	((struct rows *)context)->thread_id = track->thread_id;
	return 0;
}

static int take_event(void *context, const struct gp_timeline_event *event)
{
	struct rows *rows = context;

	if (event->kind == GP_TIMELINE_EVENT && event->start_ns == 0) /* its time is unknown */
		return 0;
	begin(rows, gp_timeline_words[event->kind], event->name ? event->name : "");
	set_times(rows, event->start_ns, event->end_ns);
	if (event->is_instant)
		rows->values[GP_EVENT_DURATION] = gp_value_none();
	if (setters[event->kind])
		setters[event->kind](rows, event);
	else
		set_args(rows, event);
	end(rows);
	return rows->out.error;
}

static void write_about(struct rows *rows)
{
	write_process(rows);
	write_devices(rows);
	write_threads(rows);
	gp_loss_each(rows->model, write_missing, rows);
	gp_loss_each_of_part(rows->model, write_missing, rows);
}

/* Write the rows of each kind in turn. */
static int write_events(struct rows *rows, const struct gp_export_options *options)
{
	static const struct gp_timeline_sink sink = {
		.track = take_track, .event = take_event, .counter = take_counter};
	struct gp_timeline timeline = {
		.model = rows->model,
		.filter = gp_slice_filter_of(&options->choice, rows->model),
		.is_table = true,
		.has_untimed = true,
		.names = rows->names,
		.sink = &sink,
		.context = rows,
	};

	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		timeline.kinds |= (uint32_t)(gp_timeline_words[kind] != NULL) << kind;
	return gp_timeline_walk_in_order(&timeline);
}

static int write_models(struct rows *rows, const struct gp_export_source *source,
			const struct gp_export_options *options)
{
	int result = 0;
	size_t written = 0;

	rows->base_unix_ns = gp_export_base_unix_ns(source);
	for (size_t i = 0; i < source->count && result == 0; i++) {
		rows->model = source->get(source->context, i);
		if (!rows->model)
			continue;
		rows->awaited = gp_awaited_ops_of(rows->model);
		rows->offset_ns = rows->model->base_unix_ns - rows->base_unix_ns;
		if (gp_export_is_first(source, i)) {
			gp_gpu_numbers_next(&rows->gpus);
			gp_kernels_tell_apart(rows->names, &rows->model, 1);
			write_about(rows);
		}
		rows->sites = rows->format->has_places ? gp_call_sites_new() : NULL;
		result = write_events(rows, options);
		gp_call_sites_free(rows->sites);
		gp_symbols_forget(rows->symbols, rows->model);
		written++;
	}
	return result != 0 || written > 0 ? result : -ENODATA;
}

int gp_event_rows_write(const struct gp_event_format *format, const struct gp_export_source *source,
			const struct gp_export_options *options, FILE *out)
{
	struct rows rows = {.format = format, .names = gp_names_new(), .symbols = gp_symbols_new()};
	int result = gp_json_open(&rows.out, out), fields, closed;

	if (result == 0)
		result = gp_json_open(&rows.fields, NULL);
	rows.out.progress = options->progress;
	rows.out.progress_context = options->progress_context;
	if (result == 0 && format->put_titles)
		format->put_titles(&rows.out);
	if (result == 0)
		result = write_models(&rows, source, options);
	if (result == 0 && format->put_end)
		format->put_end(&rows.out, format->context);
	fields = gp_json_close(&rows.fields);
	closed = gp_json_close(&rows.out);
	gp_names_free(rows.names);
	gp_symbols_free(rows.symbols);
	gp_gpu_numbers_free(&rows.gpus);
	if (result == 0)
		result = fields;
	return result < 0 ? result : closed;
}

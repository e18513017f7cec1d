#include "report/export/event_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/analysis/idle/activity.h"
#include "report/trace/cuda_names.h"
#include "report/model/gpu_numbers.h"
#include "report/model/losses.h"
#include "report/symbols/names.h"
#include "report/codec/json_write.h"
#include "report/symbols/unique_names.h"
#include "report/model/payload.h"
#include "report/export/payload_json.h"
#include "report/symbols/symbols.h"

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
};

struct rows {
	const struct gp_model *model;
	struct gp_slice_filter filter;
	struct gp_names *names;
	struct gp_symbols *symbols;
	struct gp_gpu_numbers gpus;
	uint64_t base_unix_ns; /* where times count from */
	uint64_t offset_ns;    /* from the model's times to the rows' */
	void (*sink)(void *context, const struct gp_value *values);
	void *context;
	struct gp_value values[GP_EVENT_COLUMNS]; /* the row that is being made */
	struct gp_json fields;                    /* of its payload, in memory */
};

/* ---- one row ---- */

static void set(struct rows *rows, enum gp_event_column column, uint64_t whole)
{
	rows->values[column] = gp_value_whole(whole);
}

/* Of numbers that are 0 where there is none. */
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

static void set_device(struct rows *rows, uint16_t device_id)
{
	set(rows, GP_EVENT_DEVICE, gp_gpu_numbers_find(&rows->gpus, rows->model, device_id, NULL));
}

static void begin(struct rows *rows, const char *kind, const char *name)
{
	memset(rows->values, 0, sizeof(rows->values));
	rows->values[GP_EVENT_KIND] = gp_value_text(kind);
	rows->values[GP_EVENT_NAME] = gp_value_text(name);
	set(rows, GP_EVENT_PID, rows->model->pid);
}

static void begin_at(struct rows *rows, const char *kind, const char *name, uint64_t start_ns)
{
	begin(rows, kind, name);
	set(rows, GP_EVENT_START, rows->offset_ns + start_ns);
}

static void begin_slice(struct rows *rows, const char *kind, const char *name, uint64_t start_ns,
			uint64_t end_ns)
{
	begin_at(rows, kind, name, start_ns);
	set(rows, GP_EVENT_DURATION, end_ns > start_ns ? end_ns - start_ns : 0);
}

static void end(struct rows *rows)
{
	rows->sink(rows->context, rows->values);
}

static bool has(const struct rows *rows, uint64_t start_ns, uint64_t end_ns)
{
	return gp_slice_filter_has(&rows->filter, start_ns, end_ns);
}

static bool has_moment(const struct rows *rows, uint64_t ns)
{
	return gp_slice_filter_has_moment(&rows->filter, ns);
}

/* ---- what a process is ---- */

static void write_process(struct rows *rows)
{
	const struct gp_model *model = rows->model;
	const char *program = model->info[GP_INFO_PROGRAM];

	begin_slice(rows, "process", program ? program : "", model->first_ns, model->last_ns);
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

/*
 * Of a trace that has but the sum of shared memory, that stands as dynamic, and what is static is
 * not known.
 */
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

static void set_copy(struct rows *rows, const struct gp_op *op)
{
	set(rows, GP_EVENT_BYTES, op->bytes);
	if (op->kind == GP_OP_COPY)
		set_text(rows, GP_EVENT_SOURCE, gp_memory_name(op->source_kind));
	set_text(rows, GP_EVENT_DESTINATION, gp_memory_name(op->destination_kind));
}

static void write_op(struct rows *rows, const struct gp_op *op)
{
	static const char *const kinds[] = {
		[GP_OP_KERNEL] = "kernel",
		[GP_OP_COPY] = "copy",
		[GP_OP_SET] = "memset",
		[GP_OP_GRAPH] = "graph",
	};
	const struct gp_model *model = rows->model;
	char label[GP_ACTIVITY_LABEL_BYTES] = "";

	if (op->kind != GP_OP_KERNEL)
		gp_activity_label(label, op);
	begin_at(rows, kinds[op->kind],
		 op->kind == GP_OP_KERNEL
			 ? gp_names_full(rows->names, gp_model_kernel_name(model, op))
			 : label,
		 op->start_ns);
	if (!op->untimed)
		set(rows, GP_EVENT_DURATION, op->end_ns - op->start_ns);
	set_device(rows, op->device_id);
	set(rows, GP_EVENT_CONTEXT, op->context_id);
	set(rows, GP_EVENT_STREAM, op->stream_id);
	set(rows, GP_EVENT_CORRELATION, op->correlation_id);
	set_if_any(rows, GP_EVENT_GRAPH, op->graph_id);
	set_if_any(rows, GP_EVENT_GRAPH_NODE, gp_model_detail(model, op)->graph_node_id);
	if (op->kind == GP_OP_KERNEL && op->shape < model->shape_count)
		set_shape(rows, &model->shapes[op->shape]);
	if (op->kind == GP_OP_COPY || op->kind == GP_OP_SET)
		set_copy(rows, op);
	end(rows);
}

static void write_ops(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->model->op_count; i++)
		if (has(rows, rows->model->ops[i].start_ns, rows->model->ops[i].end_ns))
			write_op(rows, &rows->model->ops[i]);
}

/* ---- calls ---- */

static void write_calls(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->call_count; i++) {
		const struct gp_call *call = &model->calls[i];
		uint64_t end_ns = call->start_ns + call->duration_ns, asked_bytes;

		if (!has(rows, call->start_ns, end_ns))
			continue;
		begin_slice(rows, "call", gp_model_api(model, call->api).name, call->start_ns,
			    end_ns);
		set(rows, GP_EVENT_TID, call->thread_id);
		set_if_any(rows, GP_EVENT_CONTEXT, call->context_id);
		set(rows, GP_EVENT_CORRELATION, call->correlation_id);
		if ((model->unknown & GP_UNKNOWN_STATUS) == 0)
			set(rows, GP_EVENT_STATUS, call->status);
		set_text(rows, GP_EVENT_ERROR, gp_status_name(call->status));
		if (call->status != 0 && gp_model_asked_bytes(model, call, &asked_bytes))
			set(rows, GP_EVENT_BYTES, asked_bytes);
		end(rows);
	}
}

/* The name is of the innermost function. */
static void write_samples(struct rows *rows)
{
	const struct gp_model *model = rows->model;
	size_t count;

	for (uint32_t i = 0; i < model->sample_count; i++) {
		const struct gp_sample *sample = &model->samples[i];

		if (!has(rows, sample->start_ns, sample->end_ns) || sample->stack == GP_NONE)
			continue;
		begin_slice(rows, "host sample",
			    gp_symbols_find(rows->symbols, model, sample->stack, &count)->function,
			    sample->start_ns, sample->end_ns);
		set(rows, GP_EVENT_TID, sample->thread_id);
		set(rows, GP_EVENT_COUNT, sample->count);
		end(rows);
	}
}

static void write_syncs(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->sync_count; i++) {
		const struct gp_record_sync *sync = &model->syncs[i];

		if (!has(rows, sync->start_ns, sync->end_ns))
			continue;
		begin_slice(rows, "sync", gp_sync_name(sync->sync_kind), sync->start_ns,
			    sync->end_ns);
		set_device(rows, gp_model_context_device(model, sync->context_id));
		set(rows, GP_EVENT_CONTEXT, sync->context_id);
		if (sync->stream_id != GP_NO_STREAM)
			set(rows, GP_EVENT_STREAM, sync->stream_id);
		set(rows, GP_EVENT_CORRELATION, sync->correlation_id);
		end(rows);
	}
}

static void write_overheads(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->overhead_count; i++) {
		const struct gp_overhead *overhead = &model->overheads[i];

		if (!has(rows, overhead->start_ns, overhead->end_ns))
			continue;
		begin_slice(rows, "overhead", gp_overhead_name(overhead->overhead_kind),
			    overhead->start_ns, overhead->end_ns);
		set_if_any(rows, GP_EVENT_TID, overhead->thread_id);
		set_if_any(rows, GP_EVENT_CORRELATION, overhead->correlation_id);
		end(rows);
	}
}

static void write_jits(struct rows *rows)
{
	const struct gp_model *model = rows->model;
	char name[96];

	for (uint32_t i = 0; i < model->jit_count; i++) {
		const struct gp_record_jit *jit = &model->jits[i];

		if (!has(rows, jit->start_ns, jit->end_ns))
			continue;
		snprintf(name, sizeof(name), "%s %s", gp_jit_op_name(jit->op_kind),
			 gp_jit_entry_name(jit->entry_kind));
		begin_slice(rows, "code", name, jit->start_ns, jit->end_ns);
		set_if_any(rows, GP_EVENT_TID, jit->thread_id);
		set_device(rows, jit->device_id);
		set_if_any(rows, GP_EVENT_CORRELATION, jit->correlation_id);
		set_if_any(rows, GP_EVENT_BYTES, jit->cache_bytes);
		end(rows);
	}
}

/* ---- ranges ---- */

static void set_payload(struct rows *rows, const struct gp_range *range, char *text, size_t bytes)
{
	if (range->payload_kind == GP_PAYLOAD_NONE)
		return;
	if (range->payload_kind == GP_PAYLOAD_SIGNED)
		snprintf(text, bytes, "%" PRId64, (int64_t)range->payload);
	else if (range->payload_kind == GP_PAYLOAD_FLOATING)
		snprintf(text, bytes, "%.17g", gp_payload_floating(range->payload));
	else
		snprintf(text, bytes, "%" PRIu64, range->payload);
	rows->values[GP_EVENT_PAYLOAD] = gp_value_text(text);
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

static void write_range(struct rows *rows, const struct gp_range *range)
{
	static const char *const kinds[] = {
		[GP_STYLE_PUSH_POP] = "range",
		[GP_STYLE_START_END] = "start/end range",
		[GP_STYLE_MARK] = "mark",
	};
	const struct gp_model *model = rows->model;
	char payload[40], category[16];
	const char *name = gp_model_category(model, range->domain, range->category);

	begin_at(rows, kinds[range->style], gp_model_range_text(model, range), range->start_ns);
	if (range->style != GP_STYLE_MARK)
		set(rows, GP_EVENT_DURATION, range->end_ns - range->start_ns);
	set(rows, GP_EVENT_TID, range->thread_id);
	set_text(rows, GP_EVENT_DOMAIN, model->domains[range->domain]);
	if (range->category != 0) {
		snprintf(category, sizeof(category), "%" PRIu32, range->category);
		set_text(rows, GP_EVENT_CATEGORY, *name ? name : category);
	}
	if (range->style == GP_STYLE_PUSH_POP)
		set(rows, GP_EVENT_LEVEL, range->level);
	set_payload(rows, range, payload, sizeof(payload));
	set_fields(rows, range);
	if (range->open)
		set_text(rows, GP_EVENT_ERROR, "never closed");
	end(rows);
}

static void write_ranges(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->model->range_count; i++) {
		const struct gp_range *range = &rows->model->ranges[i];

		if (range->style == GP_STYLE_MARK ? has_moment(rows, range->start_ns)
						  : has(rows, range->start_ns, range->end_ns))
			write_range(rows, range);
	}
}

/* ---- memory ---- */

static void write_allocations(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->memory_count; i++) {
		const struct gp_memory_event *event = &model->memory[i];
		bool is_allocation = event->op == GP_MEMORY_ALLOC;
		const struct gp_call *call =
			event->call == GP_NONE ? NULL : &model->calls[event->call];

		if (!has_moment(rows, event->time_ns))
			continue;
		begin_at(rows, is_allocation ? "allocation" : "free",
			 call ? gp_model_api(model, call->api).name : "(the context's end)",
			 event->time_ns);
		if (call) {
			set(rows, GP_EVENT_TID, call->thread_id);
			set(rows, GP_EVENT_CORRELATION, call->correlation_id);
		}
		set_device(rows, event->device_id);
		set(rows, GP_EVENT_BYTES, event->bytes);
		set(rows, GP_EVENT_ADDRESS, event->address);
		set_text(rows, GP_EVENT_MEMORY, gp_allocation_name(event->memory_kind));
		set_if_any(rows, GP_EVENT_POOL, event->pool);
		end(rows);
	}
}

/* What the driver said of a device's memory, all processes together. */
static void write_usages(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->model->usage_count; i++) {
		const struct gp_usage *usage = &rows->model->usages[i];

		if (!has_moment(rows, usage->time_ns))
			continue;
		begin_at(rows, "memory in use", "", usage->time_ns);
		set_device(rows, usage->device_id);
		set(rows, GP_EVENT_BYTES,
		    usage->free_bytes < usage->total_bytes ? usage->total_bytes - usage->free_bytes
							   : 0);
		end(rows);
	}
}

static void write_unifieds(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->unified_count; i++) {
		const struct gp_record_unified *event = &model->unifieds[i];
		uint32_t device = gp_unified_device(event);

		if (!has(rows, event->start_ns, event->end_ns))
			continue;
		begin_slice(rows, "unified memory", gp_unified_name(event->counter_kind),
			    event->start_ns, event->end_ns);
		if (device < GP_DEVICE_LIMIT)
			set_device(rows, (uint16_t)device);
		set(rows,
		    gp_unified_counts_bytes(event->counter_kind) ? GP_EVENT_BYTES : GP_EVENT_COUNT,
		    event->value);
		set(rows, GP_EVENT_ADDRESS, event->address);
		end(rows);
	}
}

/* As CUDA called them, on a thread of its own. */
static void write_host_functions(struct rows *rows)
{
	const struct gp_model *model = rows->model;

	for (uint32_t i = 0; i < model->host_function_count; i++) {
		const struct gp_record_host_function *function = &model->host_functions[i];

		if (!has(rows, function->start_ns, function->end_ns))
			continue;
		begin_slice(rows, "host function", "", function->start_ns, function->end_ns);
		set_if_any(rows, GP_EVENT_TID, function->thread_id);
		set_device(rows, function->device_id);
		set(rows, GP_EVENT_CONTEXT, function->context_id);
		set(rows, GP_EVENT_STREAM, function->stream_id);
		set_if_any(rows, GP_EVENT_CORRELATION, function->correlation_id);
		set_if_any(rows, GP_EVENT_GRAPH, function->graph_id);
		set_if_any(rows, GP_EVENT_GRAPH_NODE, function->graph_node_id);
		end(rows);
	}
}

/* ---- what is missing ---- */

static void write_missing(void *context, const struct gp_loss *loss, uint64_t count)
{
	struct rows *rows = context;

	begin(rows, "missing", loss->sentence);
	set(rows, GP_EVENT_COUNT, count);
	end(rows);
}

/* ---- the whole ---- */

static void write_about(struct rows *rows)
{
	write_process(rows);
	write_devices(rows);
	write_threads(rows);
	gp_loss_each(rows->model, write_missing, rows);
	gp_loss_each_of_part(rows->model, write_missing, rows);
}

static void write_events(struct rows *rows)
{
	write_ranges(rows);
	write_calls(rows);
	write_ops(rows);
	write_samples(rows);
	write_syncs(rows);
	write_allocations(rows);
	write_usages(rows);
	write_unifieds(rows);
	write_host_functions(rows);
	write_jits(rows);
	write_overheads(rows);
}

static int write_models(struct rows *rows, const struct gp_export_source *source,
			const struct gp_export_options *options, const int *error)
{
	size_t written = 0;

	rows->base_unix_ns = gp_export_base_unix_ns(source);
	for (size_t i = 0; i < source->count && *error == 0; i++) {
		rows->model = source->get(source->context, i);
		if (!rows->model)
			continue;
		rows->filter = gp_slice_filter_of(&options->choice, rows->model);
		rows->offset_ns = rows->model->base_unix_ns - rows->base_unix_ns;
		if (gp_export_is_first(source, i)) {
			gp_gpu_numbers_next(&rows->gpus);
			if (gp_kernels_tell_apart(rows->names, &rows->model, 1) < 0)
				return -ENOMEM;
			write_about(rows);
		}
		write_events(rows);
		gp_symbols_forget(rows->symbols, rows->model);
		written++;
	}
	return *error != 0 ? *error : written > 0 ? 0 : -ENODATA;
}

int gp_event_rows_write(const struct gp_export_source *source,
			const struct gp_export_options *options,
			void (*sink)(void *context, const struct gp_value *values), void *context,
			const int *error)
{
	struct rows rows = {.sink = sink,
			    .context = context,
			    .names = gp_names_new(),
			    .symbols = gp_symbols_new()};
	int result = gp_json_open(&rows.fields, NULL), closed;

	if (result == 0)
		result = rows.names && rows.symbols ? write_models(&rows, source, options, error)
						    : -ENOMEM;
	closed = gp_json_close(&rows.fields);
	gp_names_free(rows.names);
	gp_symbols_free(rows.symbols);
	gp_gpu_numbers_free(&rows.gpus);
	return result < 0 ? result : closed;
}

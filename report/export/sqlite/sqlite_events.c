#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"
#include "report/export/sqlite/sqlite_names.h"
#include "report/export/sqlite/sqlite_writer.h"
#include "report/model/nsys_numbers.h"

/* ---- names ---- */

/* The id of a string, cached in *known. */
static struct gp_value remember(struct gp_sqlite_export *e, uint32_t *known, const char *text)
{
	if (*known == 0)
		*known = (uint32_t)gp_sqlite_string(e->db, text).whole + 1;
	return gp_value_whole(*known - 1);
}

static uint32_t name_of(const struct gp_model *model, const struct gp_op *op)
{
	return op->name < model->name_count ? op->name : model->name_count;
}

static struct gp_value full_name(struct gp_sqlite_export *e, const struct gp_op *op)
{
	uint32_t *known = &e->ids.full[name_of(e->model, op)];

	return *known ? gp_value_whole(*known - 1)
		      : remember(e, known,
				 gp_names_full(e->names, gp_model_kernel_name(e->model, op)));
}

/* The function name without namespace, class and template arguments, as in nsys. */
static const char *base_name(const char *name, char *text, size_t bytes)
{
	const char *end = name + strcspn(name, "<("), *start = end;

	while (start > name && start[-1] != ':')
		start--;
	snprintf(text, bytes, "%.*s", (int)(end - start), start);
	return *text ? text : name;
}

static struct gp_value brief_name(struct gp_sqlite_export *e, const struct gp_op *op)
{
	uint32_t *known = &e->ids.brief[name_of(e->model, op)];
	char text[1024];

	return *known ? gp_value_whole(*known - 1)
		      : remember(e, known,
				 base_name(gp_names_short(e->names,
							  gp_model_kernel_name(e->model, op)),
					   text, sizeof(text)));
}

static struct gp_value mangled_name(struct gp_sqlite_export *e, const struct gp_op *op)
{
	return remember(e, &e->ids.mangled[name_of(e->model, op)],
			gp_model_kernel_name(e->model, op));
}

/* ---- operations ---- */

static struct gp_value number(uint64_t whole)
{
	return gp_value_whole(whole);
}

/* The first columns of all operations. */
#define OPERATION(e, op)                                                                           \
	gp_sqlite_time(e, (op)->start_ns), gp_sqlite_time(e, (op)->end_ns),                        \
		number((op)->device_id), number((op)->context_id), gp_value_none(),                \
		number((op)->stream_id), number((op)->correlation_id), gp_sqlite_process(e)

/* NULL if the recorder of the trace does not provide the value. */
static struct gp_value if_known(const struct gp_sqlite_export *e, uint32_t unknown, uint64_t whole)
{
	return (e->model->unknown & unknown) != 0 ? gp_value_none() : number(whole);
}

/* A regular launch is 0 in CUPTI and 1 in nsys; nsys knows no others. */
static struct gp_value launch_type(const struct gp_sqlite_export *e, const struct gp_op *op)
{
	uint8_t type = gp_model_launch_type(e->model, op);

	return number(type < 3 ? type + 1u : 0);
}

static void put_kernel(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	static const struct gp_record_shape unknown;
	const struct gp_op *op = event->of.op;
	const struct gp_record_shape *shape =
		op->shape < e->model->shape_count ? &e->model->shapes[op->shape] : &unknown;
	const struct gp_value values[] = {
		OPERATION(e, op),
		full_name(e, op),
		brief_name(e, op),
		mangled_name(e, op),
		shape == &unknown ? number(0) : launch_type(e, op),
		gp_value_none(),
		number(shape->registers),
		number(shape->grid[0]),
		number(shape->grid[1]),
		number(shape->grid[2]),
		number(shape->block[0]),
		number(shape->block[1]),
		number(shape->block[2]),
		if_known(e, GP_UNKNOWN_SHARED_PARTS, shape->static_shared_bytes),
		number(shape->dynamic_shared_bytes),
		if_known(e, GP_UNKNOWN_LOCAL, shape->local_per_thread_bytes),
		if_known(e, GP_UNKNOWN_LOCAL, shape->local_total_bytes),
		number(0),
		number(shape->executed_shared_bytes),
		gp_sqlite_if_any(gp_model_detail(e->model, op)->graph_node_id),
		gp_value_none(),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_KERNEL, values);
}

/* 0 is unknown in CUPTI and pageable in nsys. */
static struct gp_value memory_kind(uint8_t kind)
{
	return number(kind > 0 && kind <= GP_NSYS_UNKNOWN_MEMORY ? kind - 1u
								 : GP_NSYS_UNKNOWN_MEMORY);
}

static void put_copy(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_op *op = event->of.op;
	const struct gp_op_detail *detail = gp_model_detail(e->model, op);
	const struct gp_value values[] = {
		OPERATION(e, op),
		number(op->bytes),
		number(op->copy_kind),
		gp_value_none(),
		memory_kind(op->source_kind),
		memory_kind(op->destination_kind),
		number(detail->source_device_id),
		number(detail->source_context_id),
		number(detail->destination_device_id),
		number(detail->destination_context_id),
		gp_value_none(),
		gp_sqlite_if_any(detail->graph_node_id),
		gp_value_none(),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_MEMCPY, values);
}

/* The model does not have the value of a memset. */
static void put_set(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_op *op = event->of.op;
	const struct gp_value values[] = {
		OPERATION(e, op),
		number(gp_model_detail(e->model, op)->set_value),
		number(op->bytes),
		gp_sqlite_if_any(gp_model_detail(e->model, op)->graph_node_id),
		memory_kind(op->destination_kind),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_MEMSET, values);
}

static void put_graph(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_op *op = event->of.op;
	const struct gp_value values[] = {
		OPERATION(e, op),
		number(op->graph_id),
		number(op->graph_id),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_GRAPH, values);
}

/* ---- calls ---- */

static void put_call(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_call *call = event->of.call;
	uint64_t end_ns = call->start_ns + call->duration_ns;
	const struct gp_value values[] = {
		gp_sqlite_time(e, call->start_ns),
		gp_sqlite_time(e, end_ns),
		number(GP_API_IS_DRIVER(call->api) ? GP_SQLITE_CLASS_DRIVER
						   : GP_SQLITE_CLASS_RUNTIME),
		gp_sqlite_thread(e, call->thread_id),
		number(call->correlation_id),
		remember(e, &e->ids.apis[call->api], gp_model_api(e->model, call->api).name),
		number(call->status),
		gp_sqlite_stack(e, call->is_estimated ? GP_NONE : call->stack),
		gp_sqlite_if_any(call->context_id),
		gp_sqlite_if_any(call->captured),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_RUNTIME, values);
}

/* ---- synchronizations and events ---- */

static void put_sync(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_record_sync *sync = event->of.sync;
	const struct gp_value values[] = {
		gp_sqlite_time(e, sync->start_ns),
		gp_sqlite_time(e, sync->end_ns),
		number(gp_model_context_device(e->model, sync->context_id)),
		number(sync->context_id),
		gp_value_none(),
		number(sync->stream_id),
		number(sync->correlation_id),
		gp_sqlite_process(e),
		number(sync->sync_kind),
		number(sync->event_id),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_SYNC, values);
}

static void put_event(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_record_event *recorded = event->of.event;
	const struct gp_value values[] = {
		number(gp_model_context_device(e->model, recorded->context_id)),
		number(recorded->context_id),
		gp_value_none(),
		number(recorded->stream_id),
		number(recorded->correlation_id),
		gp_sqlite_process(e),
		number(recorded->event_id),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_EVENT, values);
}

static void put_overhead(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_overhead *overhead = event->of.overhead;
	const struct gp_value values[] = {
		gp_sqlite_time(e, overhead->start_ns),
		gp_sqlite_time(e, overhead->end_ns),
		gp_sqlite_thread(e, overhead->thread_id),
		gp_sqlite_if_any(overhead->correlation_id),
		gp_sqlite_string(e->db, gp_overhead_name(overhead->overhead_kind)),
		number(overhead->overhead_kind),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_OVERHEAD, values);
}

/* ---- memory ---- */

static struct gp_value allocation_kind(uint8_t kind)
{
	static const uint8_t kinds[GP_MEMORY_KINDS] = {
		[0] = GP_NSYS_UNKNOWN_MEMORY,
		[GP_MEMORY_DEVICE] = GP_NSYS_DEVICE,
		[GP_MEMORY_ASYNC] = GP_NSYS_DEVICE,
		[GP_MEMORY_MANAGED] = GP_NSYS_MANAGED,
		[GP_MEMORY_PINNED] = GP_NSYS_PINNED,
		[GP_MEMORY_REGISTERED] = GP_NSYS_PINNED,
		[GP_MEMORY_ARRAY] = GP_NSYS_ARRAY,
		[GP_MEMORY_PHYSICAL] = GP_NSYS_DEVICE,
		[GP_MEMORY_IPC] = GP_NSYS_UNKNOWN_MEMORY,
	};

	return number(kind < GP_MEMORY_KINDS ? kinds[kind] : GP_NSYS_UNKNOWN_MEMORY);
}

static void put_memory(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_memory_event *memory = event->of.memory;
	const struct gp_call *call =
		memory->call == GP_NONE ? NULL : &e->model->calls[memory->call];
	const struct gp_value values[] = {
		gp_sqlite_time(e, memory->time_ns),
		gp_sqlite_process(e),
		number(memory->device_id),
		number(call ? call->context_id : 0),
		number(memory->address),
		number(0),
		number(memory->bytes),
		allocation_kind(memory->memory_kind),
		number(memory->op == GP_MEMORY_ALLOC ? 0 : 1),
		gp_value_none(),
		call ? number(call->correlation_id) : gp_value_none(),
		gp_value_none(),
		gp_sqlite_if_any(memory->pool),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_MEMORY, values);
}

static void put_migration(struct gp_sqlite_export *e, const struct gp_record_unified *event,
			  uint32_t copy_kind)
{
	uint32_t device = gp_unified_device(event);
	const struct gp_value values[] = {
		gp_sqlite_time(e, event->start_ns),
		gp_sqlite_time(e, event->end_ns),
		number(device != GP_NONE ? device : 0),
		number(0),
		gp_value_none(),
		number(event->stream_id),
		gp_value_none(),
		gp_sqlite_process(e),
		number(event->value),
		number(copy_kind),
		gp_value_none(),
		number(GP_NSYS_MANAGED),
		number(GP_NSYS_MANAGED),
		gp_value_none(),
		gp_value_none(),
		gp_value_none(),
		gp_value_none(),
		number(event->flags),
		gp_value_none(),
		number(event->address),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_MEMCPY, values);
}

static void put_fault(struct gp_sqlite_export *e, const struct gp_record_unified *event)
{
	uint32_t device = gp_unified_device(event);
	const struct gp_value values[] = {
		gp_sqlite_time(e, event->start_ns),
		gp_sqlite_time(e, event->end_ns),
		gp_sqlite_process(e),
		number(device != GP_NONE ? device : 0),
		number(event->address),
		number(event->value),
		number(event->flags),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_GPU_FAULT, values);
}

/* In nsys, migrations are in the table of copies. */
static void put_unified(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_record_unified *unified = event->of.unified;

	if (unified->counter_kind == GP_UNIFIED_HTOD)
		put_migration(e, unified, GP_NSYS_UNIFIED_HTOD);
	else if (unified->counter_kind == GP_UNIFIED_DTOH)
		put_migration(e, unified, GP_NSYS_UNIFIED_DTOH);
	else if (unified->counter_kind == GP_UNIFIED_DTOD)
		put_migration(e, unified, GP_NSYS_UNIFIED_DTOD);
	else if (unified->counter_kind == GP_UNIFIED_GPU_FAULT)
		put_fault(e, unified);
}

static void put_gate(struct gp_sqlite_export *e, const struct gp_timeline_event *event)
{
	const struct gp_value values[] = {
		gp_sqlite_time(e, event->start_ns),
		number(event->of.gate->on),
		gp_value_text(gp_gate_reason_name(event->of.gate->reason)),
		gp_sqlite_process(e),
	};

	GP_SQLITE_PUT(e, GP_SQLITE_RECORDING, values);
}

/* ---- the sink ---- */

/* nsys has no tables for other kinds. */
static void (*const put[GP_TIMELINE_KINDS])(struct gp_sqlite_export *,
					    const struct gp_timeline_event *) = {
	[GP_TIMELINE_RANGE] = gp_sqlite_put_range,
	[GP_TIMELINE_RUNTIME_CALL] = put_call,
	[GP_TIMELINE_DRIVER_CALL] = put_call,
	[GP_TIMELINE_KERNEL] = put_kernel,
	[GP_TIMELINE_COPY] = put_copy,
	[GP_TIMELINE_MEMSET] = put_set,
	[GP_TIMELINE_GRAPH] = put_graph,
	[GP_TIMELINE_OVERHEAD] = put_overhead,
	[GP_TIMELINE_SYNC] = put_sync,
	[GP_TIMELINE_EVENT] = put_event,
	[GP_TIMELINE_ALLOCATION] = put_memory,
	[GP_TIMELINE_UNIFIED] = put_unified,
	[GP_TIMELINE_GATE] = put_gate,
};

static int take_event(void *context, const struct gp_timeline_event *event)
{
	struct gp_sqlite_export *e = context;

	put[event->kind](e, event);
	return *gp_sqlite_error(e->db);
}

/* Operations without times are left out; DIAGNOSTIC_EVENT has their number. */
int gp_sqlite_write_events(struct gp_sqlite_export *e, const struct gp_slice_choice *choice)
{
	static const struct gp_timeline_sink sink = {.event = take_event};
	struct gp_timeline timeline = {
		.model = e->model,
		.filter = gp_slice_filter_of(choice, e->model),
		.is_table = true,
		.sink = &sink,
		.context = e,
	};

	for (uint32_t kind = 0; kind < GP_TIMELINE_KINDS; kind++)
		timeline.kinds |= (uint32_t)(put[kind] != NULL) << kind;
	return gp_timeline_walk_in_order(&timeline);
}

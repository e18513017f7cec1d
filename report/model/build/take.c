#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/trace/memory_rules.h"

static int add_call(struct gp_load *load, const struct gp_record_call *r, uint32_t thread_id,
		    uint32_t memory)
{
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->calls, m->call_count, calls) != 0)
		return -ENOMEM;
	m->calls[m->call_count++] = (struct gp_call){
		.start_ns = r->start_ticks,
		.duration_ns = r->duration_low_ticks + ((uint64_t)r->duration_high_ticks << 32),
		.correlation_id = r->correlation_id,
		.thread_id = thread_id,
		.context_id = r->context_id,
		.stack = r->stack_id,
		.api = r->api,
		.status = GP_CALL_CODE(r->status),
		.captured = (r->status & GP_CALL_CAPTURED) != 0,
		.cooperative = (r->status & GP_CALL_COOPERATIVE) != 0,
		.overlapping = (r->status & GP_CALL_OVERLAPPING) != 0,
		.first_op = GP_NONE,
		.memory = memory,
	};
	load->apis[r->api / 8] |= (uint8_t)(1u << r->api % 8);
	return 0;
}

static int take_call(struct gp_load *load, const struct gp_record_view *seen)
{
	return add_call(load, &seen->record->call, seen->thread_id, GP_NONE);
}

/*
 * Until gp_resolve(), first_op of such a call leads to its point: the call succeeded, or it is a
 * refusal.
 */
static int add_mapping(struct gp_load *load, const struct gp_record_memory *r, uint32_t thread_id)
{
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->mappings, m->mapping_count, mappings) != 0 ||
	    add_call(load, &r->call, thread_id, GP_NONE) != 0)
		return -ENOMEM;
	m->calls[m->call_count - 1].first_op = m->mapping_count;
	m->mappings[m->mapping_count++] = (struct gp_mapping){
		.address = r->address, .bytes = r->bytes, .handle = r->pool, .op = r->op};
	return 0;
}

/* As add_mapping(). */
static int add_failed(struct gp_load *load, const struct gp_record_memory *r, uint32_t thread_id)
{
	struct gp_model *m = load->model;

	if (r->op != GP_MEMORY_ALLOC || GP_CALL_CODE(r->call.status) == 0)
		return add_call(load, &r->call, thread_id, GP_NONE);
	if (GP_LOAD_GROW(load, m->refusals, m->refusal_count, refusals) != 0 ||
	    add_call(load, &r->call, thread_id, GP_NONE) != 0)
		return -ENOMEM;
	m->calls[m->call_count - 1].first_op = m->refusal_count;
	m->refusals[m->refusal_count++] = (struct gp_refusal){.bytes = r->bytes};
	return 0;
}

/* No machine has so many: such a number is damage, and device after device would cost time. */
static bool is_device(struct gp_load *load, uint16_t device_id)
{
	bool is_one = device_id < GP_DEVICE_LIMIT;

	load->model->losses.unknown_records += !is_one;
	return is_one;
}

static int take_memory(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_memory *r = &seen->record->memory;
	struct gp_model *m = load->model;

	if (!gp_memory_took_effect(r))
		return add_failed(load, r, seen->thread_id);
	if (gp_memory_is_about_handle(r))
		return add_mapping(load, r, seen->thread_id);
	if (!gp_memory_is_event(r)) {
		m->losses.unknown_records++;
		return add_call(load, &r->call, seen->thread_id, GP_NONE);
	}
	if (!is_device(load, r->device_id))
		return add_call(load, &r->call, seen->thread_id, GP_NONE);
	if (GP_LOAD_GROW(load, m->memory, m->memory_count, memory) != 0 ||
	    add_call(load, &r->call, seen->thread_id, m->memory_count) != 0)
		return -ENOMEM;
	m->memory[m->memory_count++] = (struct gp_memory_event){
		.address = r->address,
		.bytes = r->op == GP_MEMORY_ALLOC ? r->bytes : 0,
		.pool = r->pool,
		.call = m->call_count - 1,
		.other = GP_NONE,
		.device_id = r->device_id,
		.op = r->op,
		.memory_kind = r->memory_kind,
	};
	return 0;
}

/* As much of CUPTI's kinds as an operation has room for. */
static uint8_t short_kind(uint32_t kind)
{
	return kind < GP_OP_KIND_UNKNOWN ? (uint8_t)kind : GP_OP_KIND_UNKNOWN;
}

static int add_op(struct gp_load *load, const struct gp_op *op, const struct gp_op_detail *detail)
{
	struct gp_model *m = load->model;
	uint32_t index;

	if (!is_device(load, op->device_id))
		return 0;
	if (gp_load_detail(load, detail, &index) != 0 ||
	    GP_LOAD_GROW(load, m->ops, m->op_count, ops) != 0)
		return -ENOMEM;
	m->ops[m->op_count] = *op;
	m->ops[m->op_count].detail = index;
	m->ops[m->op_count].call = GP_NONE;
	m->ops[m->op_count].next_op = load->anchor_count;
	m->op_count++;
	return 0;
}

static int take_kernel(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_kernel *r = &seen->record->kernel;

	return add_op(load,
		      &(struct gp_op){
			      .kind = GP_OP_KERNEL,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .graph_id = r->graph_id,
			      .correlation_id = r->correlation_id,
			      .context_id = r->context_id,
			      .stream_id = r->stream_id,
			      .name = r->name_id,
			      .shape = r->shape_id,
			      .device_id = r->device_id,
		      },
		      &(struct gp_op_detail){
			      .graph_node_id = r->graph_node_id,
			      .channel_id = r->channel_id,
			      .channel_type = r->channel_type,
		      });
}

static int take_copy(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_copy *r = &seen->record->copy;

	return add_op(load,
		      &(struct gp_op){
			      .kind = GP_OP_COPY,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .bytes = r->bytes,
			      .graph_id = r->graph_id,
			      .correlation_id = r->correlation_id,
			      .context_id = r->context_id,
			      .stream_id = r->stream_id,
			      .name = GP_NONE,
			      .shape = GP_NONE,
			      .device_id = r->device_id,
			      .copy_kind = short_kind(r->copy_kind),
			      .source_kind = short_kind(r->source_kind),
			      .destination_kind = short_kind(r->destination_kind),
			      .flags = (r->flags & GP_COPY_ASYNC) != 0,
		      },
		      &(struct gp_op_detail){
			      .graph_node_id = r->graph_node_id,
			      .channel_id = r->channel_id,
			      .channel_type = r->channel_type,
			      .source_device_id = r->source_device_id,
			      .destination_device_id = r->destination_device_id,
			      .source_context_id = r->source_context_id,
			      .destination_context_id = r->destination_context_id,
		      });
}

static int take_memset(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_memset *r = &seen->record->memset;

	return add_op(load,
		      &(struct gp_op){
			      .kind = GP_OP_SET,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .bytes = r->bytes,
			      .graph_id = r->graph_id,
			      .correlation_id = r->correlation_id,
			      .context_id = r->context_id,
			      .stream_id = r->stream_id,
			      .name = GP_NONE,
			      .shape = GP_NONE,
			      .device_id = r->device_id,
			      .destination_kind = short_kind(r->memory_kind),
			      .flags = (r->flags & GP_COPY_ASYNC) != 0,
		      },
		      &(struct gp_op_detail){
			      .graph_node_id = r->graph_node_id,
			      .channel_id = r->channel_id,
			      .set_value = r->value,
		      });
}

static int take_graph(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_graph *r = &seen->record->graph;

	return add_op(load,
		      &(struct gp_op){
			      .kind = GP_OP_GRAPH,
			      .start_ns = r->start_ns,
			      .end_ns = r->end_ns,
			      .graph_id = r->graph_id,
			      .correlation_id = r->correlation_id,
			      .context_id = r->context_id,
			      .stream_id = r->stream_id,
			      .name = GP_NONE,
			      .shape = GP_NONE,
			      .device_id = r->device_id,
		      },
		      &(struct gp_op_detail){
			      .source_device_id = r->device_id,
			      .destination_device_id = r->end_device_id,
			      .source_context_id = r->context_id,
			      .destination_context_id = r->end_context_id,
		      });
}

static int take_overhead(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_overhead *r = &seen->record->overhead;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->overheads, m->overhead_count, overheads) != 0)
		return -ENOMEM;
	m->overheads[m->overhead_count++] =
		(struct gp_overhead){.start_ns = r->start_ns,
				     .end_ns = r->end_ns,
				     .overhead_kind = r->overhead_kind,
				     .thread_id = r->thread_id,
				     .correlation_id = r->correlation_id,
				     .zero = load->anchor_count};
	return 0;
}

/* ---- records that stay as they are ---- */

/*
 * A taker that appends the record as it is to an array of the model, unless its device cannot be;
 * `complete` sees it there.
 */
#define APPEND_AND(name, array, count, is_there, complete)                                         \
	static int take_##name(struct gp_load *load, const struct gp_record_view *seen)            \
	{                                                                                          \
		const struct gp_record_##name *r = &seen->record->name;                            \
		struct gp_model *m = load->model;                                                  \
                                                                                                   \
		if (!(is_there))                                                                   \
			return 0;                                                                  \
		if (GP_LOAD_GROW(load, m->array, m->count, array) != 0)                            \
			return -ENOMEM;                                                            \
		m->array[m->count] = *r;                                                           \
		complete;                                                                          \
		m->count++;                                                                        \
		return 0;                                                                          \
	}
#define APPEND(name, array, count) APPEND_AND(name, array, count, true, )
#define APPEND_OF_DEVICE(name, array, count)                                                       \
	APPEND_AND(name, array, count, is_device(load, r->device_id), )
APPEND(shape, shapes, shape_count)
APPEND(stream, streams, stream_count)
APPEND(node, nodes, node_count)
APPEND(module, modules, module_count)
APPEND_OF_DEVICE(device, devices, device_count)
APPEND_OF_DEVICE(context, contexts, context_count)
APPEND_OF_DEVICE(link, links, link_count)

/* The same of a record with CUPTI's times: `zero` holds the anchors before it for now. */
#define APPEND_TIMED(name, array, count, zero)                                                     \
	APPEND_AND(name, array, count, true, m->array[m->count].zero = load->anchor_count)
APPEND_TIMED(sync, syncs, sync_count, zero)
APPEND_TIMED(event, events, event_count, zero)
APPEND_TIMED(jit, jits, jit_count, zero2[0])
APPEND_TIMED(unified, unifieds, unified_count, zero)
APPEND_TIMED(host_function, host_functions, host_function_count, zero[0])
APPEND_AND(pool, pools, pool_count, is_device(load, r->device_id),
	   m->pools[m->pool_count].zero2 = load->anchor_count)

/* ---- clocks, counters, the end ---- */

static int take_anchor(struct gp_load *load, const struct gp_record_view *seen)
{
	if (GP_LOAD_GROW(load, load->anchors, load->anchor_count, anchors) != 0)
		return -ENOMEM;
	load->anchors[load->anchor_count++] = seen->record->anchor;
	if (!load->model->losses.closed)
		load->end_ticks = seen->record->anchor.ticks;
	return 0;
}

static int take_counter(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_counter *r = &seen->record->counter;

	if (r->counter < GP_COUNTERS)
		load->model->counters[r->counter] = r->value;
	else
		load->model->losses.unknown_records++;
	return 0;
}

static int take_gate(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_gate *r = &seen->record->gate;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->gates, m->gate_count, gates) != 0)
		return -ENOMEM;
	m->gates[m->gate_count++] = (struct gp_gate){r->ticks, r->on != 0, r->reason, GP_NONE};
	return 0;
}

/* Until gp_resolve(), its time is in ticks. */
static int take_waiting(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_waiting *r = &seen->record->waiting;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->waiting, m->waiting_count, waiting) != 0)
		return -ENOMEM;
	m->waiting[m->waiting_count++] = (struct gp_waiting){r->start_ticks, r->thread_id, r->api};
	return 0;
}

/* The same. */
static int take_in_flight(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_in_flight *r = &seen->record->in_flight;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->in_flight, m->in_flight_count, in_flight) != 0)
		return -ENOMEM;
	m->in_flight[m->in_flight_count++] = (struct gp_in_flight){
		.time_ns = r->ticks,
		.stream = r->stream,
		.era = r->era,
		.correlation_id = r->correlation_id,
		.call = GP_NONE,
		.name = r->name_id,
		.asked = r->unasked == 0,
	};
	return 0;
}

static int take_stream_wait(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_stream_wait *r = &seen->record->stream_wait;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->stream_waits, m->stream_wait_count, stream_waits) != 0)
		return -ENOMEM;
	m->stream_waits[m->stream_wait_count++] = (struct gp_stream_wait){
		.stream = r->stream,
		.era = r->era,
		.correlation_id = r->correlation_id,
	};
	return 0;
}

/* Until gp_resolve(), its times are in ticks. */
static int take_sample(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_sample *r = &seen->record->sample;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->samples, m->sample_count, samples) != 0)
		return -ENOMEM;
	m->samples[m->sample_count++] = (struct gp_sample){
		.start_ns = r->start_ticks,
		.end_ns = r->start_ticks + r->duration_ticks,
		.thread_id = r->thread_id,
		.stack = r->stack_id,
		.count = r->count,
	};
	return 0;
}

static int take_usage(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_usage *r = &seen->record->usage;
	struct gp_model *m = load->model;

	if (!is_device(load, r->device_id))
		return 0;
	if (GP_LOAD_GROW(load, m->usages, m->usage_count, usages) != 0)
		return -ENOMEM;
	m->usages[m->usage_count++] =
		(struct gp_usage){r->ticks, r->free_bytes, r->total_bytes, r->device_id};
	return 0;
}

static int take_end(struct gp_load *load, const struct gp_record_view *seen)
{
	if (seen->record->end.way != GP_END_UNKNOWN) {
		load->model->losses.end_way = seen->record->end.way;
		load->model->losses.end_status = seen->record->end.status;
	}
	if (seen->record->end.reason == GP_END_EXIT) {
		load->model->losses.closed = true;
		load->end_ticks = seen->record->end.ticks;
	}
	return 0;
}

static int take_context_end(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_context_end *r = &seen->record->context_end;

	if (GP_LOAD_GROW(load, load->context_ends, load->context_end_count, context_ends) != 0)
		return -ENOMEM;
	load->context_ends[load->context_end_count++] = (struct gp_context_end){r->id, r->ticks};
	return 0;
}

static int take_range(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_range *r = &seen->record->range;

	if (GP_LOAD_GROW(load, load->range_points, load->range_point_count, range_points) != 0)
		return -ENOMEM;
	load->range_points[load->range_point_count++] = (struct gp_range_point){
		.time_ns = r->ticks,
		.range_id = r->range_id,
		.payload = r->payload,
		.thread_id = seen->thread_id,
		.text_id = r->text_id,
		.domain_id = r->domain_id,
		.category = r->category,
		.color_argb = r->flags & GP_RANGE_HAS_COLOR ? r->color_argb : 0,
		.payload_id = r->payload_id,
		.op = r->op,
		.payload_kind = (uint8_t)r->payload_kind,
	};
	return 0;
}

static int take_frame(struct gp_load *load, const struct gp_record_view *seen)
{
	const struct gp_record_frame *r = &seen->record->frame;
	struct gp_model *m = load->model;

	if (GP_LOAD_GROW(load, m->frames, m->frame_count, frames) != 0)
		return -ENOMEM;
	m->frames[m->frame_count++] = (struct gp_frame){
		.address = r->address,
		.id = r->id,
		.parent = r->parent_id,
		.origin = r->origin_id,
		.kind = r->frame_kind,
	};
	return 0;
}

static int take_string(struct gp_load *load, const struct gp_record_view *seen)
{
	return gp_take_string(load, &seen->record->string, seen->text);
}

GP_RECORD_IGNORE(take, thread) /* the decoder gives the record after it that thread */
GP_RECORD_VISITOR(gp_take_record, take, struct gp_load)

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/model/build/build.h"
#include "report/trace/memory_rules.h"

static int add_call(struct gp_model_builder *b, const struct gp_record_call *r, uint32_t thread_id,
		    uint32_t memory)
{
	struct gp_model *m = b->model;

	if (GP_MODEL_GROW(b, m->calls, m->call_count, calls) != 0)
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
	b->apis[r->api / 8] |= (uint8_t)(1u << r->api % 8);
	return 0;
}

static int take_call(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	return add_call(b, &seen->record->call, seen->thread_id, GP_NONE);
}

/*
 * Until gp_resolve(), first_op of such a call leads to its point: the call succeeded, or it is a
 * refusal.
 */
static int add_mapping(struct gp_model_builder *b, const struct gp_record_memory *r,
		       uint32_t thread_id)
{
	struct gp_model *m = b->model;

	if (GP_MODEL_GROW(b, m->mappings, m->mapping_count, mappings) != 0 ||
	    add_call(b, &r->call, thread_id, GP_NONE) != 0)
		return -ENOMEM;
	m->calls[m->call_count - 1].first_op = m->mapping_count;
	m->mappings[m->mapping_count++] = (struct gp_mapping){
		.address = r->address, .bytes = r->bytes, .handle = r->pool, .op = r->op};
	return 0;
}

/* As add_mapping(). */
static int add_failed(struct gp_model_builder *b, const struct gp_record_memory *r,
		      uint32_t thread_id)
{
	struct gp_model *m = b->model;

	if (r->op != GP_MEMORY_ALLOC || GP_CALL_CODE(r->call.status) == 0)
		return add_call(b, &r->call, thread_id, GP_NONE);
	if (GP_MODEL_GROW(b, m->refusals, m->refusal_count, refusals) != 0 ||
	    add_call(b, &r->call, thread_id, GP_NONE) != 0)
		return -ENOMEM;
	m->calls[m->call_count - 1].first_op = m->refusal_count;
	m->refusals[m->refusal_count++] = (struct gp_refusal){.bytes = r->bytes};
	return 0;
}

/* No machine has so many: such a number is damage, and device after device would cost time. */
static bool is_device(struct gp_model_builder *b, uint16_t device_id)
{
	bool is_one = device_id < GP_DEVICE_LIMIT;

	b->model->losses.unknown_records += !is_one;
	return is_one;
}

static int take_memory(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_memory *r = &seen->record->memory;
	struct gp_model *m = b->model;

	if (!gp_memory_took_effect(r))
		return add_failed(b, r, seen->thread_id);
	if (gp_memory_is_about_handle(r))
		return add_mapping(b, r, seen->thread_id);
	if (!gp_memory_is_event(r)) {
		m->losses.unknown_records++;
		return add_call(b, &r->call, seen->thread_id, GP_NONE);
	}
	if (!is_device(b, r->device_id))
		return add_call(b, &r->call, seen->thread_id, GP_NONE);
	if (GP_MODEL_GROW(b, m->memory, m->memory_count, memory) != 0 ||
	    add_call(b, &r->call, seen->thread_id, m->memory_count) != 0)
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

/* CUPTI's kind, as far as it fits into an operation. */
static uint8_t short_kind(uint32_t kind)
{
	return kind < GP_OP_KIND_UNKNOWN ? (uint8_t)kind : GP_OP_KIND_UNKNOWN;
}

static int add_op(struct gp_model_builder *b, const struct gp_op *op,
		  const struct gp_op_detail *detail)
{
	struct gp_model *m = b->model;
	uint32_t index;

	if (!is_device(b, op->device_id))
		return 0;
	if (gp_model_builder_detail(b, detail, &index) != 0 ||
	    GP_MODEL_GROW(b, m->ops, m->op_count, ops) != 0)
		return -ENOMEM;
	m->ops[m->op_count] = *op;
	m->ops[m->op_count].detail = index;
	m->ops[m->op_count].call = GP_NONE;
	m->ops[m->op_count].next_op = b->anchor_count;
	m->op_count++;
	return 0;
}

/* An operation with all that its record `r` has in common with those of other kinds. */
#define OP(op_kind, op_name, op_shape, ...)                                                        \
	&(struct gp_op)                                                                            \
	{                                                                                          \
		.kind = op_kind, .start_ns = r->start_ns, .end_ns = r->end_ns,                     \
		.graph_id = r->graph_id, .correlation_id = r->correlation_id,                      \
		.context_id = r->context_id, .stream_id = r->stream_id, .device_id = r->device_id, \
		.name = op_name, .shape = op_shape, __VA_ARGS__                                    \
	}

static int take_kernel(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_kernel *r = &seen->record->kernel;

	return add_op(b, OP(GP_OP_KERNEL, r->name_id, r->shape_id),
		      &(struct gp_op_detail){
			      .graph_node_id = r->graph_node_id,
			      .channel_id = r->channel_id,
			      .channel_type = r->channel_type,
		      });
}

static int take_copy(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_copy *r = &seen->record->copy;

	return add_op(b,
		      OP(GP_OP_COPY, GP_NONE, GP_NONE, .bytes = r->bytes,
			 .copy_kind = short_kind(r->copy_kind),
			 .source_kind = short_kind(r->source_kind),
			 .destination_kind = short_kind(r->destination_kind),
			 .flags = (r->flags & GP_COPY_ASYNC) != 0),
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

static int take_memset(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_memset *r = &seen->record->memset;

	return add_op(b,
		      OP(GP_OP_SET, GP_NONE, GP_NONE, .bytes = r->bytes,
			 .destination_kind = short_kind(r->memory_kind),
			 .flags = (r->flags & GP_COPY_ASYNC) != 0),
		      &(struct gp_op_detail){
			      .graph_node_id = r->graph_node_id,
			      .channel_id = r->channel_id,
			      .set_value = r->value,
		      });
}

static int take_graph(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_graph *r = &seen->record->graph;

	return add_op(b, OP(GP_OP_GRAPH, GP_NONE, GP_NONE),
		      &(struct gp_op_detail){
			      .source_device_id = r->device_id,
			      .destination_device_id = r->end_device_id,
			      .source_context_id = r->context_id,
			      .destination_context_id = r->end_context_id,
		      });
}

/* ---- records that become elements of an array ---- */

/*
 * Defines a visitor that appends an element, the last argument, to an array of `owner`; `r` is the
 * record.  It ignores records for which `is_valid` is false.
 */
#define APPEND_VALID(name, is_valid, owner, array, count, ...)                                     \
	static int take_##name(struct gp_model_builder *b, const struct gp_record_view *seen)      \
	{                                                                                          \
		const struct gp_record_##name *r = &seen->record->name;                            \
                                                                                                   \
		if (!(is_valid))                                                                   \
			return 0;                                                                  \
		if (GP_MODEL_GROW(b, (owner)->array, (owner)->count, array) != 0)                  \
			return -ENOMEM;                                                            \
		(owner)->array[(owner)->count++] = __VA_ARGS__;                                    \
		return 0;                                                                          \
	}
#define APPEND(name, array, count, ...)                                                            \
	APPEND_VALID(name, true, b->model, array, count, __VA_ARGS__)
#define APPEND_OF_DEVICE(name, array, count, ...)                                                  \
	APPEND_VALID(name, is_device(b, r->device_id), b->model, array, count, __VA_ARGS__)

#define IS_VALID_ANY     true
#define IS_VALID_UNTIMED true
#define IS_VALID_DEVICE  is_device(b, r->device_id)

#define GP_MODEL_DEFINITIONS(name, kind, ...)                                                      \
	APPEND_VALID(name, IS_VALID_##kind, b->model, name##s, name##_count, *r)
#define GP_MODEL_RECORDS(name, kind, key, start, end, anchors)                                     \
	static struct gp_record_##name timed_##name(const struct gp_model_builder *b,              \
						    const struct gp_record_##name *r)              \
	{                                                                                          \
		struct gp_record_##name timed = *r;                                                \
                                                                                                   \
		timed.anchors = b->anchor_count;                                                   \
		return timed;                                                                      \
	}                                                                                          \
	APPEND_VALID(name, IS_VALID_##kind, b->model, name##s, name##_count, timed_##name(b, r))
#include "report/model/array.def"

APPEND(overhead, overheads, overhead_count,
       (struct gp_overhead){
	       .start_ns = r->start_ns,
	       .end_ns = r->end_ns,
	       .overhead_kind = r->overhead_kind,
	       .thread_id = r->thread_id,
	       .correlation_id = r->correlation_id,
	       .zero = b->anchor_count,
       })

/* Until gp_resolve(), the times of these are ticks. */
APPEND(gate, gates, gate_count, (struct gp_gate){r->ticks, r->on != 0, r->reason, GP_NONE})
APPEND(waiting, waiting, waiting_count, (struct gp_waiting){r->start_ticks, r->thread_id, r->api})
APPEND(in_flight, in_flight, in_flight_count,
       (struct gp_in_flight){
	       .time_ns = r->ticks,
	       .stream = r->stream,
	       .era = r->era,
	       .correlation_id = r->correlation_id,
	       .call = GP_NONE,
	       .name = r->name_id,
	       .asked = r->unflushed == 0,
       })
APPEND_OF_DEVICE(energy, energies, energy_count, gp_energy_of(r))
APPEND_OF_DEVICE(hw_window, hw_windows, hw_window_count,
		 (struct gp_hw_window){
			 .start_ns = r->open_ticks,
			 .first_ns = r->start_ticks,
			 .last_ns = r->stop_ticks,
			 .end_ns = r->close_ticks,
			 .id = r->id,
			 .thread_id = r->thread_id,
			 .launches = r->launches,
			 .measured = r->measured,
			 .device_id = r->device_id,
			 .has_records = (r->flags & GP_HW_WINDOW_HAS_RECORDS) != 0,
		 })
APPEND(sample, samples, sample_count,
       (struct gp_sample){
	       .start_ns = r->start_ticks,
	       .end_ns = r->start_ticks + r->duration_ticks,
	       .thread_id = r->thread_id,
	       .stack = r->stack_id,
	       .count = r->count,
       })
APPEND_OF_DEVICE(usage, usages, usage_count,
		 (struct gp_usage){r->ticks, r->free_bytes, r->total_bytes, r->device_id})
APPEND_VALID(context_end, true, b, context_ends, context_end_count,
	     (struct gp_context_end){r->id, r->ticks})
APPEND_VALID(range, true, b, range_points, range_point_count,
	     (struct gp_range_point){
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
	     })

APPEND(stream_wait, stream_waits, stream_wait_count,
       (struct gp_stream_wait){
	       .stream = r->stream, .era = r->era, .correlation_id = r->correlation_id})
APPEND_VALID(hw_value, true, b, hw_values, hw_value_count,
	     (struct gp_hw_value){r->value, r->correlation_id, r->metric_id, r->window_id, GP_NONE})
APPEND(frame, frames, frame_count,
       (struct gp_frame){
	       .address = r->address,
	       .id = r->id,
	       .parent = r->parent_id,
	       .origin = r->origin_id,
	       .kind = r->frame_kind,
       })

/* ---- clocks, counters, the end ---- */

static int take_anchor(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	if (GP_MODEL_GROW(b, b->anchors, b->anchor_count, anchors) != 0)
		return -ENOMEM;
	b->anchors[b->anchor_count++] = seen->record->anchor;
	if (!b->model->losses.closed)
		b->end_ticks = seen->record->anchor.ticks;
	return 0;
}

static int take_counter(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	const struct gp_record_counter *r = &seen->record->counter;

	if (r->counter < GP_COUNTERS)
		b->model->counters[r->counter] = r->value;
	else
		b->model->losses.unknown_records++;
	return 0;
}

static int take_end(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	if (seen->record->end.way != GP_END_UNKNOWN) {
		b->model->losses.end_way = seen->record->end.way;
		b->model->losses.end_status = seen->record->end.status;
	}
	if (seen->record->end.reason == GP_END_EXIT) {
		b->model->losses.closed = true;
		b->end_ticks = seen->record->end.ticks;
	}
	return 0;
}

static int take_string(struct gp_model_builder *b, const struct gp_record_view *seen)
{
	return gp_take_string(b, &seen->record->string, seen->text);
}

GP_RECORD_IGNORE(take, thread) /* the decoder gives the record after it that thread */
GP_RECORD_VISITOR(gp_take_record, take, struct gp_model_builder)

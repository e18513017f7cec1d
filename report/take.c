#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/api_name.h"
#include "report/array.h"
#include "report/load.h"

/* Room for one more element of an array of the model. */
#define GROW(load, array, count, which)                                                            \
	gp_array_grow(&(array), &(load)->capacity.which, (count), sizeof(*(array)))

/* cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED */
#define CODE_DEINITIALIZED 4

static uint32_t thread_of(const struct gp_load *load)
{
	return load->ring_thread != 0 ? load->ring_thread : load->record_thread;
}

static int add_call(struct gp_load *load, const struct gp_record_call *r, uint32_t memory)
{
	struct gp_model *m = load->model;

	if (GROW(load, m->calls, m->call_count, calls) != 0)
		return -ENOMEM;
	m->calls[m->call_count++] = (struct gp_call){
		.start_ns = r->start_ticks,
		.duration_ns = r->duration_low_ticks + ((uint64_t)r->duration_high_ticks << 32),
		.correlation_id = r->correlation_id,
		.thread_id = thread_of(load),
		.context_id = r->context_id,
		.stack_id = r->stack_id,
		.api = r->api,
		.status = GP_CALL_CODE(r->status),
		.captured = (r->status & GP_CALL_CAPTURED) != 0,
		.first_op = GP_NONE,
		.memory = memory,
	};
	return 0;
}

static int take_call(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)text;
	return add_call(load, &record->call, GP_NONE);
}

/* A captured call has not allocated anything yet; a free is one even after the end of CUDA. */
static bool took_effect(const struct gp_record_memory *r)
{
	uint16_t code = GP_CALL_CODE(r->call.status);

	if (r->call.status & GP_CALL_CAPTURED)
		return false;
	return code == 0 || (r->op == GP_MEMORY_FREE && code == CODE_DEINITIALIZED);
}

static int take_memory(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_memory *r = &record->memory;
	struct gp_model *m = load->model;

	(void)text;
	if (!took_effect(r))
		return add_call(load, &r->call, GP_NONE);
	if (GROW(load, m->memory, m->memory_count, memory) != 0 ||
	    add_call(load, &r->call, m->memory_count) != 0)
		return -ENOMEM;
	m->memory[m->memory_count++] = (struct gp_memory_event){
		.address = r->address,
		.bytes = r->op == GP_MEMORY_ALLOC ? r->bytes : 0,
		.call = m->call_count - 1,
		.other = GP_NONE,
		.device_id = r->device_id,
		.op = r->op,
		.memory_kind = r->memory_kind,
	};
	return 0;
}

static int add_op(struct gp_load *load, const struct gp_op *op)
{
	struct gp_model *m = load->model;

	if (GROW(load, m->ops, m->op_count, ops) != 0)
		return -ENOMEM;
	m->ops[m->op_count] = *op;
	m->ops[m->op_count].call = GP_NONE;
	m->ops[m->op_count].next_op = load->anchor_count;
	m->op_count++;
	return 0;
}

static int take_kernel(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_kernel *r = &record->kernel;

	(void)text;
	return add_op(load, &(struct gp_op){
				    .kind = GP_OP_KERNEL,
				    .start_ns = r->start_ns,
				    .end_ns = r->end_ns,
				    .graph_node_id = r->graph_node_id,
				    .graph_id = r->graph_id,
				    .correlation_id = r->correlation_id,
				    .context_id = r->context_id,
				    .stream_id = r->stream_id,
				    .name = r->name_id,
				    .shape = r->shape_id,
				    .device_id = r->device_id,
				    .flags = (uint8_t)r->flags,
				    .channel_id = r->channel_id,
				    .channel_type = r->channel_type,
			    });
}

static int take_copy(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_copy *r = &record->copy;

	(void)text;
	return add_op(load, &(struct gp_op){
				    .kind = GP_OP_COPY,
				    .start_ns = r->start_ns,
				    .end_ns = r->end_ns,
				    .bytes = r->bytes,
				    .graph_node_id = r->graph_node_id,
				    .graph_id = r->graph_id,
				    .correlation_id = r->correlation_id,
				    .context_id = r->context_id,
				    .stream_id = r->stream_id,
				    .name = GP_NONE,
				    .shape = GP_NONE,
				    .device_id = r->device_id,
				    .copy_kind = r->copy_kind,
				    .source_kind = r->source_kind,
				    .destination_kind = r->destination_kind,
				    .flags = r->flags,
				    .channel_id = r->channel_id,
				    .channel_type = r->channel_type,
				    .source_device_id = r->source_device_id,
				    .destination_device_id = r->destination_device_id,
				    .source_context_id = r->source_context_id,
				    .destination_context_id = r->destination_context_id,
			    });
}

static int take_set(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_set *r = &record->set;

	(void)text;
	return add_op(load, &(struct gp_op){
				    .kind = GP_OP_SET,
				    .start_ns = r->start_ns,
				    .end_ns = r->end_ns,
				    .bytes = r->bytes,
				    .graph_node_id = r->graph_node_id,
				    .graph_id = r->graph_id,
				    .correlation_id = r->correlation_id,
				    .context_id = r->context_id,
				    .stream_id = r->stream_id,
				    .name = GP_NONE,
				    .shape = GP_NONE,
				    .device_id = r->device_id,
				    .destination_kind = (uint8_t)r->memory_kind,
				    .flags = (uint8_t)r->flags,
				    .channel_id = r->channel_id,
			    });
}

static int take_overhead(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_overhead *r = &record->overhead;
	struct gp_model *m = load->model;
	uint32_t capacity = load->capacity.overheads;

	(void)text;
	if (gp_array_grow(&load->overhead_anchors, &capacity, m->overhead_count,
			  sizeof(*load->overhead_anchors)) != 0 ||
	    GROW(load, m->overheads, m->overhead_count, overheads) != 0)
		return -ENOMEM;
	load->overhead_anchors[m->overhead_count] = load->anchor_count;
	m->overheads[m->overhead_count++] =
		(struct gp_overhead){r->start_ns, r->end_ns, r->overhead_kind, r->thread_id};
	return 0;
}

/* ---- definitions ---- */

static char *copy_text(const char *text, uint32_t length)
{
	return strndup(text, length);
}

static int add_named(struct gp_named **array, uint32_t *capacity, uint32_t *count, uint32_t id,
		     char *text)
{
	if (!text || gp_array_grow(array, capacity, *count, sizeof(**array)) != 0) {
		free(text);
		return -ENOMEM;
	}
	(*array)[(*count)++] = (struct gp_named){id, text};
	return 0;
}

static int name_api(struct gp_load *load, const struct gp_record_string *r, const char *text)
{
	size_t length = gp_api_name_length(text, strnlen(text, r->length_bytes));

	if (r->id > UINT16_MAX || length == 0) {
		load->model->losses.unknown_records++;
		return 0;
	}
	return gp_api_table_set(load->model->private, (uint16_t)r->id, strndup(text, length),
				r->value < GP_API_CLASSES ? (uint8_t)r->value : GP_API_OTHER);
}

static int name_thread(struct gp_load *load, uint32_t id, char *text)
{
	struct gp_model *m = load->model;

	if (!text || GROW(load, m->threads, m->thread_count, threads) != 0) {
		free(text);
		return -ENOMEM;
	}
	m->threads[m->thread_count++] = (struct gp_thread){id, text};
	return 0;
}

int gp_load_note(struct gp_load *load, char *text)
{
	struct gp_model *m = load->model;

	if (!text || GROW(load, m->notes, m->note_count, notes) != 0) {
		free(text);
		return -ENOMEM;
	}
	m->notes[m->note_count++] = text;
	return 0;
}

/* The command line as one text: its NULs become spaces, the last ones go. */
static char *copy_command(const char *text, uint32_t length)
{
	char *copy;

	while (length > 0 && text[length - 1] == '\0')
		length--;
	copy = malloc((size_t)length + 1);
	if (!copy)
		return NULL;
	for (uint32_t i = 0; i < length; i++)
		copy[i] = text[i] == '\0' ? ' ' : text[i];
	copy[length] = '\0';
	return copy;
}

static int set_info(struct gp_load *load, const struct gp_record_string *r, const char *text)
{
	char **info = load->model->info;

	if (r->id == GP_INFO_NOTE)
		return gp_load_note(load, copy_text(text, r->length_bytes));
	if (r->id == 0 || r->id >= GP_INFO_LIMIT)
		return 0; /* a fact that only later versions know */
	free(info[r->id]);
	info[r->id] = r->id == GP_INFO_COMMAND ? copy_command(text, r->length_bytes)
					       : copy_text(text, r->length_bytes);
	return info[r->id] ? 0 : -ENOMEM;
}

static int take_string(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_string *r = &record->string;

	switch (r->space) {
	case GP_STRING_KERNEL:
		return add_named(&load->names, &load->capacity.names, &load->model->name_count,
				 r->id, copy_text(text, r->length_bytes));
	case GP_STRING_API:
		return name_api(load, r, text);
	case GP_STRING_THREAD:
		return name_thread(load, r->id, copy_text(text, r->length_bytes));
	case GP_STRING_DEVICE:
		return add_named(&load->device_names, &load->capacity.device_names,
				 &load->device_name_count, r->id, copy_text(text, r->length_bytes));
	case GP_STRING_INFO:
		return set_info(load, r, text);
	default:
		load->model->losses.unknown_records++;
		return 0;
	}
}

/* A taker that appends the record as it is to an array of the model. */
#define APPEND(name, array, count)                                                                 \
	static int take_##name(struct gp_load *load, const union gp_any_record *record,            \
			       const char *text)                                                   \
	{                                                                                          \
		struct gp_model *m = load->model;                                                  \
                                                                                                   \
		(void)text;                                                                        \
		if (GROW(load, m->array, m->count, array) != 0)                                    \
			return -ENOMEM;                                                            \
		m->array[m->count++] = record->name;                                               \
		return 0;                                                                          \
	}
APPEND(shape, shapes, shape_count)
APPEND(device, devices, device_count)
APPEND(context, contexts, context_count)
APPEND(stream, streams, stream_count)
APPEND(sync, syncs, sync_count)
APPEND(event, events, event_count)
APPEND(node, nodes, node_count)
APPEND(jit, jits, jit_count)
APPEND(pool, pools, pool_count)
APPEND(unified, unifieds, unified_count)

/* ---- clocks, counters, the end ---- */

static int take_anchor(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)text;
	if (GROW(load, load->anchors, load->anchor_count, anchors) != 0)
		return -ENOMEM;
	load->anchors[load->anchor_count++] = record->anchor;
	if (!load->model->losses.closed)
		load->end_ticks = record->anchor.ticks;
	return 0;
}

static int take_counter(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_counter *r = &record->counter;

	(void)text;
	if (r->counter < GP_COUNTERS)
		load->model->counters[r->counter] = r->value;
	else
		load->model->losses.unknown_records++;
	return 0;
}

static int take_gate(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_gate *r = &record->gate;
	struct gp_model *m = load->model;

	(void)text;
	if (GROW(load, m->gates, m->gate_count, gates) != 0)
		return -ENOMEM;
	m->gates[m->gate_count++] = (struct gp_gate){r->ticks, r->on != 0, r->reason};
	return 0;
}

static int take_usage(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	const struct gp_record_usage *r = &record->usage;
	struct gp_model *m = load->model;

	(void)text;
	if (GROW(load, m->usages, m->usage_count, usages) != 0)
		return -ENOMEM;
	m->usages[m->usage_count++] =
		(struct gp_usage){r->ticks, r->free_bytes, r->total_bytes, r->device_id};
	return 0;
}

static int take_end(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)text;
	if (record->end.reason == GP_END_EXIT) {
		load->model->losses.closed = true;
		load->end_ticks = record->end.ticks;
	}
	return 0;
}

static int take_context_end(struct gp_load *load, const union gp_any_record *record,
			    const char *text)
{
	const struct gp_record_context_end *r = &record->context_end;

	(void)text;
	if (GROW(load, load->context_ends, load->context_end_count, context_ends) != 0)
		return -ENOMEM;
	load->context_ends[load->context_end_count++] = (struct gp_context_end){r->id, r->ticks};
	return 0;
}

/* Whole graphs, ranges and stacks have no place in the model yet. */
static int take_graph(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)load, (void)record, (void)text;
	return 0;
}

static int take_range(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)load, (void)record, (void)text;
	return 0;
}

static int take_frame(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)load, (void)record, (void)text;
	return 0;
}

static int take_module(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)load, (void)record, (void)text;
	return 0;
}

static int take_thread(struct gp_load *load, const union gp_any_record *record, const char *text)
{
	(void)text;
	load->record_thread = record->thread.id;
	return 0;
}

static int (*const takers[])(struct gp_load *, const union gp_any_record *, const char *) = {
#define X(number, NAME, name) [number] = take_##name,
	GP_RECORD_KINDS(X)
#undef X
};

int gp_take_record(void *context, const union gp_any_record *record, const char *text)
{
	struct gp_load *load = context;
	int result = takers[record->head.kind](load, record, text);

	if (record->head.kind != GP_RECORD_THREAD)
		load->record_thread = 0;
	return result;
}

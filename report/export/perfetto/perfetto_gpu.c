#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/trace/cuda_names.h"
#include "report/export/perfetto/perfetto_schema.h"
#include "report/export/perfetto/perfetto_writer.h"
#include "report/model/occupancy.h"
#include "report/model/process_name.h"
#include "report/base/text/utf8.h"

/* The bytes of a launch that are the same for all launches of a shape on a device. */
struct shape_part {
	uint8_t *bytes;
	size_t length;
};

/* The last name of operations other than kernels: few names are shared by many. */
struct recent_name {
	uint32_t parts[5];
	uint64_t iid;
};

struct gp_perfetto_ops {
	uint64_t stages[GP_OP_GRAPH + 1]; /* iids by kind, in the same list as queues */
	/* by shape, for the current device */
	struct shape_part *shapes;
	uint16_t device_id;
	bool has_device, has_stream; /* has_stream: the queue of the current stream is known */
	struct recent_name recent[32];
	uint64_t queue, context; /* iids of the current stream */
};

/* ---- arguments ---- */

static void put_argument(struct gp_perfetto *p, enum gp_perfetto_argument name, uint64_t value)
{
	gp_protobuf_number(&p->argument, ARGUMENT_NAME, name);
	gp_protobuf_value(&p->argument, ARGUMENT_UNSIGNED, value);
	gp_protobuf_message(&p->inner, LAUNCH_ARGUMENT, &p->argument);
}

static void put_real(struct gp_perfetto *p, enum gp_perfetto_argument name, double value)
{
	gp_protobuf_number(&p->argument, ARGUMENT_NAME, name);
	gp_protobuf_double(&p->argument, ARGUMENT_DOUBLE, value);
	gp_protobuf_message(&p->inner, LAUNCH_ARGUMENT, &p->argument);
}

static void put_sides(struct gp_perfetto *p, uint32_t field, const uint32_t sides[3])
{
	for (uint32_t i = 0; i < 3; i++)
		gp_protobuf_value(&p->argument, i + 1, sides[i]);
	gp_protobuf_message(&p->inner, field, &p->argument);
}

static void put_limit(struct gp_perfetto *p, enum gp_perfetto_argument name, uint32_t blocks)
{
	if (blocks != GP_OCCUPANCY_NO_LIMIT)
		put_argument(p, name, blocks);
}

static void put_occupancy(struct gp_perfetto *p, const struct gp_record_device *device,
			  const struct gp_record_shape *shape)
{
	struct gp_occupancy occupancy;

	if (!device || !gp_occupancy_of(device, shape, &occupancy))
		return;
	put_real(p, GP_PERFETTO_ARG_WAVES, occupancy.waves);
	put_real(p, GP_PERFETTO_ARG_OCCUPANCY, 100 * occupancy.share);
	put_limit(p, GP_PERFETTO_ARG_BLOCKS_BY_REGISTERS, occupancy.by_registers);
	put_limit(p, GP_PERFETTO_ARG_BLOCKS_BY_SHARED, occupancy.by_shared);
	put_limit(p, GP_PERFETTO_ARG_BLOCKS_BY_WARPS, occupancy.by_threads);
	put_limit(p, GP_PERFETTO_ARG_BLOCKS_BY_BLOCKS, occupancy.by_blocks);
}

/* Modulo 2^64: no device can have more. */
static uint64_t count_threads(const struct gp_record_shape *shape)
{
	uint64_t threads = 1;

	for (int i = 0; i < 3; i++)
		threads *= (uint64_t)shape->grid[i] * shape->block[i];
	return threads;
}

static void put_shape(struct gp_perfetto *p, const struct gp_record_device *device,
		      const struct gp_record_shape *shape)
{
	put_sides(p, LAUNCH_GRID, shape->grid);
	put_sides(p, LAUNCH_BLOCK, shape->block);
	put_argument(p, GP_PERFETTO_ARG_REGISTERS, shape->registers);
	if ((p->model->unknown & GP_UNKNOWN_SHARED_PARTS) == 0)
		put_argument(p, GP_PERFETTO_ARG_STATIC_SHARED, shape->static_shared_bytes);
	put_argument(p, GP_PERFETTO_ARG_DYNAMIC_SHARED, shape->dynamic_shared_bytes);
	if (shape->executed_shared_bytes > 0)
		put_argument(p, GP_PERFETTO_ARG_EXECUTED_SHARED, shape->executed_shared_bytes);
	put_argument(p, GP_PERFETTO_ARG_THREADS, count_threads(shape));
	put_occupancy(p, device, shape);
}

/*
 * Begin a launch with the bytes of its shape; arguments are appended: concatenated messages are one
 * message.
 */
static void begin_launch(struct gp_perfetto *p, struct gp_perfetto_ops *ops, uint32_t index)
{
	struct shape_part *part = &ops->shapes[index];

	if (!part->bytes) {
		put_shape(p, gp_model_device(p->model, ops->device_id), &p->model->shapes[index]);
		part->bytes = malloc(p->inner.used + 1);
		part->length = p->inner.used;
		memcpy(part->bytes, p->inner.bytes, part->length);
		return;
	}
	gp_protobuf_raw(&p->inner, part->bytes, part->length);
}

static void forget_shapes(struct gp_perfetto_ops *ops, const struct gp_model *model)
{
	for (uint32_t i = 0; ops->shapes && i < model->shape_count; i++) {
		free(ops->shapes[i].bytes);
		ops->shapes[i].bytes = NULL;
	}
}

/* ---- names ---- */

static uint64_t kernel_name(struct gp_perfetto *p, const struct gp_op *op)
{
	uint32_t index = op->name < p->model->name_count ? op->name : p->model->name_count;
	uint64_t *known = &p->kernel_names[index];

	return *known ? *known
		      : gp_perfetto_name(
				p, known,
				gp_names_full(p->names, gp_model_kernel_name(p->model, op)));
}

static uint64_t intern_kernel(struct gp_perfetto *p, const struct gp_op *op)
{
	uint32_t index = op->name < p->model->name_count ? op->name : p->model->name_count;
	const struct gp_record_device *device = gp_model_device(p->model, op->device_id);
	const char *mangled = gp_model_kernel_name(p->model, op);
	char arch[16];

	if (p->kernels[index] != 0)
		return p->kernels[index];
	p->kernels[index] = ++p->last_iid;
	gp_protobuf_number(&p->argument, ENTRY_IID, p->last_iid);
	gp_protobuf_text(&p->argument, ENTRY_NAME, mangled);
	gp_protobuf_text(&p->argument, KERNEL_DEMANGLED, gp_names_full(p->names, mangled));
	if (device && device->compute_major > 0) {
		snprintf(arch, sizeof(arch), "sm_%u%u", device->compute_major,
			 device->compute_minor);
		gp_protobuf_text(&p->argument, KERNEL_ARCH, arch);
	}
	gp_protobuf_message(&p->interned, INTERNED_KERNELS, &p->argument);
	return p->kernels[index];
}

static uint64_t other_name(struct gp_perfetto *p, struct gp_perfetto_ops *ops,
			   const struct gp_op *op)
{
	const uint32_t parts[] = {op->kind, op->copy_kind, op->source_kind, op->destination_kind,
				  op->graph_id};
	struct recent_name *recent =
		&ops->recent[(parts[0] + 3 * parts[1] + 5 * parts[2] + 11 * parts[3] + parts[4]) %
			     COUNT(ops->recent)];
	char name[96];

	if (recent->iid != 0 && memcmp(parts, recent->parts, sizeof(parts)) == 0)
		return recent->iid;
	memcpy(recent->parts, parts, sizeof(parts));
	if (op->kind == GP_OP_COPY)
		snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
			 gp_copy_kind_name(op->copy_kind), gp_memory_name(op->source_kind),
			 gp_memory_name(op->destination_kind));
	else if (op->kind == GP_OP_SET)
		snprintf(name, sizeof(name), "Memset (%s)", gp_memory_name(op->destination_kind));
	else
		snprintf(name, sizeof(name), "graph %u", op->graph_id);
	return recent->iid = gp_perfetto_text_name(p, name);
}

/* ---- streams ---- */

static uint64_t intern_spec(struct gp_perfetto *p, const char *key, const char *name,
			    const char *description, uint64_t category)
{
	uint64_t *known = gp_perfetto_lasting(p, "spec", key), iid;

	if (*known != 0)
		return *known;
	iid = *known = ++p->last_iid;
	gp_protobuf_number(&p->argument, ENTRY_IID, iid);
	gp_protobuf_text(&p->argument, ENTRY_NAME, name);
	gp_protobuf_text(&p->argument, SPEC_DESCRIPTION, description);
	gp_protobuf_number(&p->argument, SPEC_CATEGORY, category);
	gp_protobuf_message(&p->interned, INTERNED_GPU_SPECS, &p->argument);
	return iid;
}

static void intern_stages(struct gp_perfetto *p, uint64_t *stages)
{
	stages[GP_OP_KERNEL] = intern_spec(p, "Kernel", "Kernel", "a kernel", SPEC_IS_COMPUTE);
	stages[GP_OP_COPY] =
		intern_spec(p, "MemoryTransfer", "MemoryTransfer", "a memory copy", SPEC_IS_OTHER);
	stages[GP_OP_SET] = intern_spec(p, "MemorySet", "MemorySet", "a memset", SPEC_IS_OTHER);
	stages[GP_OP_GRAPH] = intern_spec(p, "Graph", "Graph", "a whole graph", SPEC_IS_COMPUTE);
}

/* "stream 7 (default)", "stream 13 (loader), context 2", "rank 3: stream 7". */
static void name_stream(const struct gp_perfetto *p, const struct gp_op *op, char *text,
			size_t bytes)
{
	const char *name = gp_model_stream_name(p->model, op->context_id, op->stream_id);
	size_t used = 0;

	if (p->is_merged)
		used = (size_t)snprintf(text, bytes, "%s: ", gp_process_name(p->model).text);
	used += (size_t)snprintf(text + used, bytes - used, "stream %u", op->stream_id);
	if (gp_model_is_null_stream(p->model, op->context_id, op->stream_id))
		used += (size_t)snprintf(text + used, bytes - used, " (default)");
	if (*name)
		used += (size_t)snprintf(text + used, bytes - used, " (%.*s)",
					 (int)gp_utf8_cut(name, 48), name);
	if (p->model->context_count > 1)
		snprintf(text + used, bytes - used, ", context %u", op->context_id);
}

static uint64_t intern_context(struct gp_perfetto *p, const struct gp_op *op)
{
	char name[32];
	uint64_t *known;

	snprintf(name, sizeof(name), "%u %u", op->device_id, op->context_id);
	known = gp_perfetto_lasting(p, "context", name);
	if (*known != 0)
		return *known;
	*known = ++p->last_iid;
	gp_protobuf_number(&p->argument, ENTRY_IID, *known);
	gp_protobuf_number(&p->argument, CONTEXT_PID, p->pid);
	gp_protobuf_number(&p->argument, CONTEXT_API, CONTEXT_API_CUDA);
	gp_protobuf_message(&p->interned, INTERNED_CONTEXTS, &p->argument);
	return *known;
}

static void begin_stream(struct gp_perfetto *p, struct gp_perfetto_ops *ops, const struct gp_op *op)
{
	char name[160], key[48];

	name_stream(p, op, name, sizeof(name));
	snprintf(key, sizeof(key), "%u %u %u", op->device_id, op->context_id, op->stream_id);
	ops->queue = intern_spec(p, key, name, "", SPEC_IS_COMPUTE);
	ops->context = intern_context(p, op);
	if (!ops->has_device || ops->device_id != op->device_id)
		forget_shapes(ops, p->model);
	ops->device_id = op->device_id;
	ops->has_device = ops->has_stream = true;
}

/* ---- operations ---- */

static void put_kind(struct gp_perfetto *p, struct gp_perfetto_ops *ops, const struct gp_op *op)
{
	bool is_kernel = op->kind == GP_OP_KERNEL;

	gp_protobuf_number(&p->event, STAGE_STAGE, ops->stages[op->kind]);
	if (is_kernel)
		gp_protobuf_number(&p->event, STAGE_KERNEL, intern_kernel(p, op));
	gp_protobuf_number(&p->event, STAGE_NAME,
			   is_kernel ? kernel_name(p, op) : other_name(p, ops, op));
}

static void put_launch(struct gp_perfetto *p, struct gp_perfetto_ops *ops, const struct gp_op *op)
{
	uint64_t duration_ns = op->end_ns - op->start_ns;
	uint64_t graph_node_id = gp_model_detail(p->model, op)->graph_node_id;

	if (op->kind == GP_OP_KERNEL && op->shape < p->model->shape_count)
		begin_launch(p, ops, op->shape);
	put_argument(p, GP_PERFETTO_ARG_DEVICE, op->device_id);
	put_argument(p, GP_PERFETTO_ARG_CONTEXT, op->context_id);
	put_argument(p, GP_PERFETTO_ARG_STREAM, op->stream_id);
	put_argument(p, GP_PERFETTO_ARG_CORRELATION, op->correlation_id);
	put_argument(p, GP_PERFETTO_ARG_PROCESS, p->pid);
	if (op->kind == GP_OP_COPY || op->kind == GP_OP_SET) {
		put_argument(p, GP_PERFETTO_ARG_BYTES, op->bytes);
		if (duration_ns > 0)
			put_real(p, GP_PERFETTO_ARG_BANDWIDTH,
				 (double)op->bytes / (double)duration_ns);
	}
	if (op->graph_id != 0)
		put_argument(p, GP_PERFETTO_ARG_GRAPH, op->graph_id);
	if (graph_node_id != 0)
		put_argument(p, GP_PERFETTO_ARG_GRAPH_NODE, graph_node_id);
	if (op->untimed) {
		gp_protobuf_number(&p->argument, ARGUMENT_NAME, GP_PERFETTO_ARG_NOTE);
		gp_protobuf_text(&p->argument, ARGUMENT_TEXT, GP_TIMELINE_CONTRADICTED);
		gp_protobuf_message(&p->inner, LAUNCH_ARGUMENT, &p->argument);
	}
	gp_protobuf_message(&p->event, STAGE_LAUNCH, &p->inner);
}

/* A hash: close numbers get distant values. */
static uint64_t mix(uint64_t number)
{
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
	number = (number ^ number >> 27) * 0x94d049bb133111ebu;
	return number ^ number >> 31;
}

/* Operations of one call differ in their start or in their graph node. */
uint64_t gp_perfetto_event_id(const struct gp_perfetto *p, uint32_t index)
{
	const struct gp_op *op = &p->model->ops[index];
	uint64_t node_id = gp_model_detail(p->model, op)->graph_node_id;
	uint64_t call_and_start = (uint64_t)op->correlation_id << 32 | (uint32_t)op->start_ns;

	if (!p->are_parts)
		return p->last_event + index + 1;
	return node_id == 0 ? call_and_start : mix(mix(call_and_start) ^ node_id);
}

void gp_perfetto_begin_stream(struct gp_perfetto *p)
{
	p->ops->has_stream = false;
}

void gp_perfetto_write_op(struct gp_perfetto *p, const struct gp_timeline_event *event)
{
	const struct gp_op *op = event->of.op;
	struct gp_perfetto_ops *ops = p->ops;

	if (!ops->has_stream)
		begin_stream(p, ops, op);
	gp_perfetto_open(p, op->start_ns);
	gp_protobuf_value(&p->event, STAGE_EVENT_ID, gp_perfetto_event_id(p, event->index));
	gp_protobuf_value(&p->event, STAGE_DURATION, op->end_ns - op->start_ns);
	gp_protobuf_value(&p->event, STAGE_GPU,
			  gp_gpu_numbers_find(&p->gpus, p->model, op->device_id, NULL));
	gp_protobuf_number(&p->event, STAGE_QUEUE, ops->queue);
	gp_protobuf_number(&p->event, STAGE_CONTEXT, ops->context);
	put_kind(p, ops, op);
	put_launch(p, ops, op);
	gp_protobuf_message(&p->packet, PACKET_GPU_STAGE, &p->event);
	gp_perfetto_close(p);
}

/* ---- GPUs ---- */

/* The list is by number: unknown GPUs have no name in it. */
static void write_gpus(struct gp_perfetto *p)
{
	const struct gp_model *model = p->model;
	uint32_t next = 0;
	char arch[16];

	gp_perfetto_open(p, 0);
	for (uint32_t i = 0; i < model->device_count; i++) {
		const struct gp_record_device *device = &model->devices[i];

		for (; next < device->device_id; next++)
			gp_protobuf_message(&p->event, GPU_INFO_GPU, &p->inner);
		if (next++ > device->device_id)
			continue;
		snprintf(arch, sizeof(arch), "sm_%u%u", device->compute_major,
			 device->compute_minor);
		gp_protobuf_text(&p->inner, GPU_NAME,
				 model->device_names[i] ? model->device_names[i] : "");
		if (device->compute_major > 0) {
			gp_protobuf_text(&p->inner, GPU_VENDOR, "NVIDIA");
			gp_protobuf_text(&p->inner, GPU_ARCHITECTURE, arch);
		}
		gp_protobuf_bytes(&p->inner, GPU_UUID, device->uuid, sizeof(device->uuid));
		gp_protobuf_message(&p->event, GPU_INFO_GPU, &p->inner);
	}
	gp_protobuf_message(&p->packet, PACKET_GPU_INFO, &p->event);
	gp_perfetto_close(p);
}

/* ---- all operations ---- */

void gp_perfetto_ops_open(struct gp_perfetto *p)
{
	struct gp_perfetto_ops *ops = calloc(1, sizeof(*ops));

	p->ops = ops;
	ops->shapes = calloc((size_t)p->model->shape_count + 1, sizeof(*ops->shapes));
	if (!p->is_merged && !p->is_later && p->model->device_count > 0)
		write_gpus(p);
	intern_stages(p, ops->stages);
}

void gp_perfetto_ops_close(struct gp_perfetto *p)
{
	if (!p->ops)
		return;
	forget_shapes(p->ops, p->model);
	free(p->ops->shapes);
	free(p->ops);
	p->ops = NULL;
}

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/base/array.h"
#include "report/trace/cuda_names.h"
#include "report/export/chrome/chrome_writer.h"
#include "report/model/occupancy.h"
#include "report/base/spill_memory.h"
#include "report/base/text/utf8.h"

/* CUPTI's flag of a stream that does not synchronize with the default stream. */
#define NON_BLOCKING 2

/* The operations of one stream; they are adjacent in the model. */
struct track {
	uint32_t first_op, op_count;
	uint32_t tid;
	bool wants_tid; /* the id of the stream cannot be its tid */
};

/* The streams of the process, and texts shared by many operations. */
struct gp_chrome_ops {
	struct track *tracks; /* in the order of the model */
	uint32_t track_count, at;
	uint32_t next_device; /* the first track of the next device */
	struct gp_json scratch;
	struct gp_chrome_text *names; /* by name, then one for kernels without a name */
	/* by shape, for the current device */
	struct gp_chrome_text *shapes;
	uint32_t name_count, shape_count;
};

static void clear(struct gp_chrome_text *texts, uint32_t count)
{
	for (uint32_t i = 0; texts && i < count; i++) {
		free(texts[i].bytes);
		texts[i].bytes = NULL;
	}
}

/* ---- attributes of a kernel ---- */

static uint64_t product(const uint32_t sides[3])
{
	unsigned __int128 all = (unsigned __int128)sides[0] * sides[1] * sides[2];

	return all > INT64_MAX ? INT64_MAX : (uint64_t)all;
}

/* A field that is 0, as for most launches, is left out. */
static void put_if_any(struct gp_json *json, const char *key, uint64_t value)
{
	if (value > 0)
		gp_chrome_put_field(json, key, value);
}

static void put_sides(struct gp_json *json, const char *key, const uint32_t sides[3])
{
	gp_json_key(json, key);
	for (int i = 0; i < 3; i++) {
		gp_json_text(json, i == 0 ? "[" : ",");
		gp_json_unsigned(json, sides[i]);
	}
	gp_json_text(json, "]");
}

/* Kineto's fields for the load of the device. */
static void put_load(struct gp_json *json, const struct gp_record_shape *shape,
		     const struct gp_record_device *device)
{
	uint64_t blocks = product(shape->grid), threads = product(shape->block);
	uint64_t warps;

	if (!device || device->multiprocessors == 0 || device->warp_threads == 0)
		return;
	gp_json_key(json, "blocks per SM");
	gp_json_ratio(json, blocks, device->multiprocessors);
	warps = (threads + device->warp_threads - 1) / device->warp_threads;
	gp_json_key(json, "warps per SM");
	gp_json_ratio(json, warps > 0 && blocks > INT64_MAX / warps ? INT64_MAX : blocks * warps,
		      device->multiprocessors);
}

/*
 * Kineto's estimate: the threads of the grid for each SM, at most as many as fit, in percent of the
 * threads that an SM can hold; rounded.
 */
static void put_occupancy(struct gp_json *json, const struct gp_record_shape *shape,
			  const struct gp_record_device *device)
{
	struct gp_occupancy found;
	double blocks;

	if (!device || !gp_occupancy_of(device, shape, &found))
		return;
	blocks = (double)found.grid_blocks / device->multiprocessors;
	if (blocks > found.blocks)
		blocks = found.blocks;
	gp_chrome_put_field(json, "est. achieved occupancy %",
			    (uint64_t)(0.5 + 100 * blocks * (double)product(shape->block) /
						     device->max_threads_per_multiprocessor));
}

static void put_cluster(struct gp_json *json, const struct gp_record_shape *shape)
{
	const uint32_t sides[3] = {shape->cluster[0], shape->cluster[1], shape->cluster[2]};

	if (sides[0] == 0)
		return;
	put_sides(json, "cluster", sides);
	gp_chrome_put_field(json, "cluster scheduling policy", shape->cluster_policy);
	put_if_any(json, "max potential cluster size", shape->max_cluster_blocks);
	put_if_any(json, "max active clusters", shape->max_active_clusters);
}

static void put_word(struct gp_json *json, const char *key, const char *const *words, size_t count,
		     uint8_t which)
{
	if (which == 0 || which >= count)
		return;
	gp_json_key(json, key);
	gp_json_string(json, words[which], strlen(words[which]));
}

/* Settings of a launch or its function; most have none. */
static void put_wishes(struct gp_json *json, const struct gp_record_shape *shape)
{
	static const char *const caches[] = {"", "prefer shared", "prefer L1", "prefer equal"};
	static const char *const models[] = {"", "SIMT", "tile", "hybrid"};

	put_word(json, "cache config requested", caches, 4, shape->cache_requested);
	put_word(json, "cache config executed", caches, 4, shape->cache_executed);
	if (shape->has_carveout && shape->carveout_percent <= 100)
		gp_chrome_put_field(json, "shared memory carveout requested %",
				    shape->carveout_percent);
	put_if_any(json, "shared memory opt-in", shape->shared_limit);
	if (shape->priority != 0) {
		gp_json_key(json, "priority");
		gp_json_signed(json, shape->priority);
	}
	if (shape->execution_model > 1)
		put_word(json, "execution model", models, 4, shape->execution_model);
}

static struct gp_chrome_text make_shape(struct gp_json *json, const struct gp_record_shape *shape,
					const struct gp_record_device *device)
{
	gp_chrome_put_field(json, "registers per thread", shape->registers);
	gp_chrome_put_field(json, "shared memory",
			    (uint64_t)shape->static_shared_bytes + shape->dynamic_shared_bytes);
	put_load(json, shape, device);
	put_sides(json, "grid", shape->grid);
	put_sides(json, "block", shape->block);
	put_occupancy(json, shape, device);
	put_if_any(json, "static shared memory", shape->static_shared_bytes);
	put_if_any(json, "dynamic shared memory", shape->dynamic_shared_bytes);
	put_if_any(json, "executed shared memory", shape->executed_shared_bytes);
	put_if_any(json, "local memory per thread", shape->local_per_thread_bytes);
	put_if_any(json, "local memory", shape->local_total_bytes);
	put_cluster(json, shape);
	put_wishes(json, shape);
	return gp_chrome_take(json);
}

static const struct gp_chrome_text *shape_text(struct gp_chrome *chrome, struct gp_chrome_ops *ops,
					       const struct gp_op *op)
{
	static const struct gp_chrome_text none = {0};
	struct gp_chrome_text *text;

	if (op->shape >= ops->shape_count)
		return &none;
	text = &ops->shapes[op->shape];
	if (!text->bytes)
		*text = make_shape(&ops->scratch, &chrome->model->shapes[op->shape],
				   gp_model_device(chrome->model, op->device_id));
	return text;
}

static const struct gp_chrome_text *name_text(struct gp_chrome *chrome, struct gp_chrome_ops *ops,
					      const struct gp_op *op)
{
	uint32_t index = op->name < chrome->model->name_count ? op->name : ops->name_count - 1;
	struct gp_chrome_text *text = &ops->names[index];

	if (!text->bytes) {
		const char *name =
			gp_names_full(chrome->names, gp_model_kernel_name(chrome->model, op));

		gp_json_string(&ops->scratch, name, strlen(name));
		*text = gp_chrome_take(&ops->scratch);
	}
	return text;
}

/* ---- events ---- */

static void put_name(struct gp_chrome *chrome, struct gp_chrome_ops *ops, const struct gp_op *op)
{
	struct gp_json *json = &chrome->json;
	const struct gp_chrome_text *name;

	if (op->kind == GP_OP_KERNEL) {
		name = name_text(chrome, ops, op);
		gp_json_bytes(json, name->bytes, name->length);
	} else if (op->kind == GP_OP_COPY) {
		gp_json_text(json, "\"Memcpy ");
		gp_json_text(json, gp_copy_kind_name(op->copy_kind));
		gp_json_text(json, " (");
		gp_json_text(json, gp_memory_name(op->source_kind));
		gp_json_text(json, " -> ");
		gp_json_text(json, gp_memory_name(op->destination_kind));
		gp_json_text(json, ")\"");
	} else if (op->kind == GP_OP_GRAPH) {
		gp_json_text(json, "\"graph ");
		gp_json_unsigned(json, op->graph_id);
		gp_json_text(json, "\"");
	} else {
		gp_json_text(json, "\"Memset (");
		gp_json_text(json, gp_memory_name(op->destination_kind));
		gp_json_text(json, ")\"");
	}
}

static void put_peers(struct gp_json *json, const struct gp_op *op,
		      const struct gp_op_detail *detail)
{
	if (detail->source_device_id == op->device_id &&
	    detail->destination_device_id == op->device_id)
		return;
	gp_chrome_put_field(json, "fromDevice", detail->source_device_id);
	gp_chrome_put_field(json, "inDevice", op->device_id);
	gp_chrome_put_field(json, "toDevice", detail->destination_device_id);
	gp_chrome_put_field(json, "fromContext", detail->source_context_id);
	gp_chrome_put_field(json, "inContext", op->context_id);
	gp_chrome_put_field(json, "toContext", detail->destination_context_id);
}

static void put_bytes(const struct gp_model *model, struct gp_json *json, const struct gp_op *op,
		      const struct gp_op_detail *detail)
{
	gp_chrome_put_field(json, "bytes", op->bytes);
	if (op->kind == GP_OP_SET && (model->unknown & GP_UNKNOWN_SET_VALUES) == 0)
		gp_chrome_put_field(json, "value", detail->set_value);
	if (op->end_ns > op->start_ns) {
		gp_json_key(json, "memory bandwidth (GB/s)");
		gp_json_ratio(json, op->bytes, op->end_ns - op->start_ns);
	}
	put_if_any(json, "asynchronous", op->flags & GP_COPY_ASYNC);
	if (op->kind == GP_OP_COPY)
		put_peers(json, op, detail);
}

/*
 * Launch type and caller.  For a kernel in a graph, the captured call, with its whole stack, as its
 * slice is elsewhere.
 */
static void put_launch(struct gp_chrome *chrome, const struct gp_op *op)
{
	const struct gp_call *call = gp_model_op_cause(chrome->model, op);
	uint32_t stack = gp_model_op_stack(chrome->model, op);
	uint8_t type = op->kind == GP_OP_KERNEL ? gp_model_launch_type(chrome->model, op) : 0;

	if (type > 0)
		gp_chrome_put_text(&chrome->json, "launch type", gp_launch_type_name(type));
	if (!call)
		return;
	put_if_any(&chrome->json, "cooperative", call->cooperative);
	put_if_any(&chrome->json, "programmatic dependent launch", call->overlapping);
	if (gp_model_detail(chrome->model, op)->capture_call == GP_NONE) {
		gp_chrome_put_stack_place(
			chrome, call->is_estimated ? "launched by (estimated)" : "launched by",
			stack);
		return;
	}
	gp_chrome_put_text(&chrome->json, "captured call",
			   gp_model_api(chrome->model, call->api).name);
	gp_chrome_put_field(&chrome->json, "captured correlation", call->correlation_id);
	gp_chrome_put_stack(chrome, "captured stack", call->stack);
}

static void put_args(struct gp_chrome *chrome, struct gp_chrome_ops *ops, const struct gp_op *op,
		     bool is_contradicted)
{
	struct gp_json *json = &chrome->json;
	const struct gp_op_detail *detail = gp_model_detail(chrome->model, op);
	const struct gp_chrome_text *shape;

	gp_json_text(json, ",\"args\":{\"device\":");
	gp_json_unsigned(json, op->device_id);
	gp_chrome_put_field(json, "context", op->context_id);
	gp_chrome_put_field(json, "stream", op->stream_id);
	gp_chrome_put_field(json, "correlation", op->correlation_id);
	if (op->kind == GP_OP_KERNEL) {
		shape = shape_text(chrome, ops, op);
		gp_json_bytes(json, shape->bytes, shape->length);
	} else if (op->kind != GP_OP_GRAPH) {
		put_bytes(chrome->model, json, op, detail);
	}
	put_launch(chrome, op);
	put_if_any(json, "graph id", op->graph_id);
	put_if_any(json, "graph node id", detail->graph_node_id);
	if (is_contradicted)
		gp_chrome_put_text(json, "note", GP_TIMELINE_CONTRADICTED);
	if (detail->channel_type > 0) {
		gp_chrome_put_field(json, "channel", detail->channel_id);
		gp_chrome_put_field(json, "channel_type", detail->channel_type);
	}
	gp_json_text(json, "}}");
}

static void write_arrow_end(struct gp_chrome *chrome, uint32_t index, uint32_t tid)
{
	const struct gp_op *op = &chrome->model->ops[index];
	struct gp_json *json = &chrome->json;
	uint64_t end_ns;

	if (!gp_chrome_arrow_end(chrome, op, &end_ns))
		return;
	gp_json_text(json,
		     ",\n{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":");
	gp_json_unsigned(json, chrome->first_arrow + index + 1);
	gp_json_text(json, ",\"pid\":");
	gp_json_unsigned(json, chrome->pid);
	gp_json_text(json, ",\"tid\":");
	gp_json_unsigned(json, tid);
	gp_json_text(json, ",\"ts\":");
	gp_json_us(json, end_ns + chrome->offset_ns);
	gp_json_text(json, "}");
}

/* op: operation number index of the model. */
static void write_op(struct gp_chrome *chrome, struct gp_chrome_ops *ops, uint32_t index,
		     const struct gp_op *op)
{
	static const char *const openings[] = {
		[GP_OP_KERNEL] = ",\n{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":",
		[GP_OP_COPY] = ",\n{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":",
		[GP_OP_SET] = ",\n{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":",
		[GP_OP_GRAPH] = ",\n{\"ph\":\"X\",\"cat\":\"gpu_graph\",\"name\":",
	};
	uint32_t tid = gp_chrome_place(chrome, op->start_ns, op->end_ns);
	struct gp_json *json = &chrome->json;

	gp_json_text(json, openings[op->kind]);
	put_name(chrome, ops, op);
	gp_json_text(json, ",\"pid\":");
	gp_json_unsigned(json, chrome->pid);
	gp_json_text(json, ",\"tid\":");
	gp_json_unsigned(json, tid);
	gp_chrome_put_times(chrome, op->start_ns, op->end_ns);
	put_args(chrome, ops, op, op != &chrome->model->ops[index]);
	write_arrow_end(chrome, index, tid);
}

/* ---- tracks ---- */

static void find_tracks(const struct gp_model *model, struct track **tracks, uint32_t *count)
{
	uint32_t capacity = 0;

	for (uint32_t first = 0, end; first < model->op_count; first = end) {
		end = gp_model_stream_end(model, first);
		gp_array_grow(tracks, &capacity, *count, sizeof(**tracks));
		(*tracks)[(*count)++] = (struct track){.first_op = first, .op_count = end - first};
	}
}

static int compare_streams(const void *a, const void *b, const void *context)
{
	const struct gp_model *model = context;
	uint32_t left = model->ops[((const struct track *)a)->first_op].stream_id;
	uint32_t right = model->ops[((const struct track *)b)->first_op].stream_id;

	return (left > right) - (left < right);
}

static uint32_t stream_of(const struct gp_chrome *chrome, const struct track *track)
{
	return chrome->model->ops[track->first_op].stream_id;
}

/* Assign stream ids as tids where possible; ids becomes the sorted ids of all streams. */
static void assign_ids(struct gp_chrome *chrome, struct track *tracks, uint32_t count,
		       const struct gp_chrome_gpu *gpu, const uint32_t *order, uint32_t *ids)
{
	for (uint32_t i = 0; i < count; i++) {
		struct track *track = &tracks[order[i]];
		uint32_t id = stream_of(chrome, track);

		track->tid = id;
		track->wants_tid = (i > 0 && id == ids[i - 1]) || (id == 0 && gpu->pid != 0) ||
				   gp_chrome_is_taken(&gpu->tids, id);
		ids[i] = id;
	}
}

/*
 * The tid of a stream is its id, with two exceptions that get unused tids: 0 outside pid 0, as
 * viewers take it for the process; and an id that an earlier context or process uses on the device.
 */
static void assign_tids(struct gp_chrome *chrome, struct track *tracks, uint32_t count,
			struct gp_chrome_gpu *gpu)
{
	uint32_t *order =
		gp_array_order(tracks, count, sizeof(*tracks), compare_streams, chrome->model);
	uint32_t *ids = malloc(((size_t)count + 1) * sizeof(*ids));

	assign_ids(chrome, tracks, count, gpu, order, ids);
	gp_chrome_take_tids(&gpu->tids, ids, count);
	for (uint32_t i = 0; i < count; i++)
		if (tracks[order[i]].wants_tid)
			tracks[order[i]].tid = gp_chrome_fresh_tid(&gpu->tids);
	gp_spill_free(order);
	free(ids);
}

/* Truncates the text: names in a trace can have any length. */
__attribute__((format(printf, 2, 3))) static void append_to_name(struct gp_chrome *chrome,
								 const char *format, ...)
{
	size_t used = strlen(chrome->track_name);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(chrome->track_name + used, sizeof(chrome->track_name) - used, format, arguments);
	va_end(arguments);
}

/*
 * "stream 7 (default)", "stream 13 (loader) (priority -5, non-blocking)", "stream 7 (context 2)".
 */
static void name_stream(struct gp_chrome *chrome, const struct gp_op *op, uint32_t tid)
{
	const char *name = gp_model_stream_name(chrome->model, op->context_id, op->stream_id);
	const struct gp_record_stream *stream =
		gp_model_stream(chrome->model, op->context_id, op->stream_id);
	int32_t priority = stream ? stream->priority : 0;
	bool blocks = !stream || stream->flags != NON_BLOCKING;

	snprintf(chrome->track_name, sizeof(chrome->track_name), "%s%sstream %u", chrome->owner,
		 *chrome->owner ? ": " : "", op->stream_id);
	if (gp_model_is_null_stream(chrome->model, op->context_id, op->stream_id))
		append_to_name(chrome, " (default)");
	if (*name)
		append_to_name(chrome, " (%.*s)", (int)gp_utf8_cut(name, 32), name);
	if (priority != 0)
		append_to_name(chrome, " (priority %d%s)", priority,
			       blocks ? "" : ", non-blocking");
	else if (!blocks)
		append_to_name(chrome, " (non-blocking)");
	if (tid != op->stream_id && op->stream_id != 0 &&
	    (!chrome->is_merged || chrome->model->context_count > 1))
		append_to_name(chrome, " (context %u)", op->context_id);
}

/* Assign tids to all streams of the next device. */
static void begin_device(struct gp_chrome *chrome, struct gp_chrome_ops *ops)
{
	uint16_t device_id = chrome->model->ops[ops->tracks[ops->at].first_op].device_id;

	clear(ops->shapes, ops->shape_count);
	for (ops->next_device = ops->at; ops->next_device < ops->track_count; ops->next_device++)
		if (chrome->model->ops[ops->tracks[ops->next_device].first_op].device_id !=
		    device_id)
			break;
	assign_tids(chrome, ops->tracks + ops->at, ops->next_device - ops->at,
		    gp_chrome_gpu(chrome, device_id));
}

/* Called in the order of the model. */
void gp_chrome_begin_stream(struct gp_chrome *chrome, const struct gp_timeline_track *stream)
{
	const struct gp_op *op = &chrome->model->ops[stream->first_op];
	struct gp_chrome_gpu *gpu = gp_chrome_gpu(chrome, op->device_id);
	struct gp_chrome_ops *ops = chrome->ops;
	uint32_t tid;

	while (ops->tracks[ops->at].first_op != stream->first_op)
		ops->at++;
	if (ops->at == ops->next_device)
		begin_device(chrome, ops);
	tid = ops->tracks[ops->at].tid;
	name_stream(chrome, op, tid);
	if (stream->kind == GP_TRACK_STREAM_RANGES) {
		append_to_name(chrome, ", ranges");
		gp_chrome_begin_track(chrome, &gpu->tids, gpu->pid, gp_chrome_fresh_tid(&gpu->tids),
				      true);
		return;
	}
	gp_chrome_begin_track(chrome, &gpu->tids, gpu->pid, tid, false);
	gp_chrome_note_stream(
		chrome, (struct gp_chrome_stream){op->device_id, op->context_id, op->stream_id, 0});
}

void gp_chrome_write_op(struct gp_chrome *chrome, const struct gp_timeline_event *event)
{
	if (event->is_elsewhere)
		gp_chrome_place_again(chrome, event->start_ns, event->end_ns);
	else
		write_op(chrome, chrome->ops, event->index, event->of.op);
}

/* ---- all operations ---- */

int gp_chrome_ops_open(struct gp_chrome *chrome)
{
	const struct gp_model *model = chrome->model;
	struct gp_chrome_ops *ops = calloc(1, sizeof(*ops));

	chrome->ops = ops;
	ops->name_count = model->name_count + 1;
	ops->shape_count = model->shape_count;
	ops->names = calloc(ops->name_count, sizeof(*ops->names));
	ops->shapes = calloc((size_t)ops->shape_count + 1, sizeof(*ops->shapes));
	find_tracks(model, &ops->tracks, &ops->track_count);
	return gp_json_open(&ops->scratch, NULL);
}

void gp_chrome_ops_close(struct gp_chrome *chrome)
{
	struct gp_chrome_ops *ops = chrome->ops;

	if (!ops)
		return;
	clear(ops->names, ops->name_count);
	clear(ops->shapes, ops->shape_count);
	free(ops->names);
	free(ops->shapes);
	free(ops->tracks);
	gp_json_close(&ops->scratch);
	free(ops);
	chrome->ops = NULL;
}

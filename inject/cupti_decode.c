#include "inject/cupti_decode.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/hash_bytes.h"
#include "collector/text.h"
#include "inject/contexts.h"
#include "inject/control.h"
#include "inject/cupti_versions.h"
#include "inject/recording_gate.h"

/* A field that not every version has; 0 if missing. */
static uint64_t late(const struct gp_decoder *decoder, enum gp_cupti_field field,
		     const void *record)
{
	return gp_cupti_field(decoder->version, field, record, 0);
}

#define HEAD(KIND, type) .kind = GP_RECORD_##KIND, .slots = sizeof(type) / GP_SLOT_BYTES

/*
 * ---- names and shapes: interned, defined at first use, and again if the definition was dropped
 * ----
 */

/* On the decoder's thread; counted for each definition. */
static const char *cut(const char *name, uint32_t length_bytes)
{
	static char text[GP_STRING_MAX_BYTES];
	uint32_t same_bytes = sizeof(text) - GP_TEXT_CUT_END_BYTES;

	memcpy(text, name, same_bytes);
	gp_text_put_cut_end(text + same_bytes, gp_hash_bytes(0, name, length_bytes));
	return text;
}

uint32_t gp_decode_name(struct gp_decoder *decoder, const char *name, uint32_t length_bytes)
{
	bool is_long = length_bytes > GP_STRING_MAX_BYTES, is_new;
	uint32_t id;

	if (is_long) {
		name = cut(name, length_bytes);
		length_bytes = GP_STRING_MAX_BYTES;
	}
	id = gp_intern(&decoder->names, name, length_bytes, &is_new);
	gp_count(GP_COUNTER_CUT_STRINGS, is_long && is_new);
	if (!is_new || gp_emit_string(GP_STRING_KERNEL, id, 0, name, length_bytes))
		return id;
	gp_intern_remove_last(&decoder->names, name, length_bytes);
	return 0;
}

static uint32_t name_id(struct gp_decoder *decoder, const char *name)
{
	return name != NULL ? gp_decode_name(decoder, name, (uint32_t)strlen(name)) : 0;
}

/* CUPTI encodes "none" as the largest 32-bit number, also in 64-bit fields. */
static uint64_t or_zero(uint64_t value)
{
	return value == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : value;
}

static uint32_t shape_id(struct gp_decoder *decoder, const gp_kernel_view *kernel)
{
	bool has_carveout = kernel->isSharedMemoryCarveoutRequested != 0;
	struct gp_record_shape shape = {
		HEAD(SHAPE, shape),
		.registers = kernel->registersPerThread,
		.grid = {(uint32_t)kernel->gridX, (uint32_t)kernel->gridY, (uint32_t)kernel->gridZ},
		.block = {(uint32_t)kernel->blockX, (uint32_t)kernel->blockY,
			  (uint32_t)kernel->blockZ},
		.static_shared_bytes = (uint32_t)kernel->staticSharedMemory,
		.dynamic_shared_bytes = (uint32_t)kernel->dynamicSharedMemory,
		.executed_shared_bytes = kernel->sharedMemoryExecuted,
		.local_per_thread_bytes = kernel->localMemoryPerThread,
		.cluster = {(uint16_t)kernel->clusterX, (uint16_t)kernel->clusterY,
			    (uint16_t)kernel->clusterZ},
		.cluster_policy = (uint8_t)kernel->clusterSchedulingPolicy,
		.launch_type = kernel->launchType,
		.local_total_bytes = kernel->localMemoryTotal_v2,
		.priority = (int32_t)late(decoder, GP_KERNEL_PRIORITY, kernel),
		.max_cluster_blocks = (uint32_t)late(decoder, GP_KERNEL_MAX_CLUSTER, kernel),
		.max_active_clusters = (uint32_t)late(decoder, GP_KERNEL_ACTIVE_CLUSTERS, kernel),
		.cache_requested = kernel->cacheConfig.config.requested,
		.cache_executed = kernel->cacheConfig.config.executed,
		.has_carveout = has_carveout,
		.carveout_percent = has_carveout ? kernel->sharedMemoryCarveoutRequested : 0,
		.shared_limit = (uint8_t)kernel->shmemLimitConfig,
		.execution_model = (uint8_t)late(decoder, GP_KERNEL_EXECUTION_MODEL, kernel),
	};
	struct gp_record_shape defined = shape;
	bool is_new;

	defined.id = gp_intern(&decoder->shapes, &shape, sizeof(shape), &is_new);
	if (!is_new || gp_emit((const struct gp_record *)&defined))
		return defined.id;
	gp_intern_remove_last(&decoder->shapes, &shape, sizeof(shape));
	return 0;
}

/* ---- one function per kind ---- */

/* GPU activity of an excluded call is excluded. */
static bool is_excluded(uint32_t correlation_id)
{
	bool excluded = gp_recording_gate_has_excluded(correlation_id);

	if (excluded)
		gp_count(GP_COUNTER_LEFT_OUT_PAUSED, 1);
	return excluded;
}

static bool emit_caused(const void *record, uint32_t correlation_id)
{
	if (is_excluded(correlation_id))
		return false;
	gp_emit(record);
	return true;
}

static void emit_operation(struct gp_decoder *decoder, const void *record, uint32_t correlation_id)
{
	decoder->records += emit_caused(record, correlation_id);
}

/* CUPTI launches a kernel of its own before each kernel that its range profiler measures. */
static bool is_of_cupti(const gp_kernel_view *kernel)
{
	return (gp_load32(&gp_watch) & GP_WATCH_COUNTERS) && kernel->name != NULL &&
	       strcmp(kernel->name, "WaitNs") == 0;
}

/* --kernels does not apply to kernels that ran while the recording was paused. */
static bool is_wanted(const gp_kernel_view *kernel)
{
	if (is_of_cupti(kernel))
		return false;
	if (kernel->name == NULL || gp_control_wants_kernel(kernel->name))
		return true;
	if (!is_excluded(kernel->correlationId))
		gp_count(GP_COUNTER_LEFT_OUT_KERNELS, 1);
	return false;
}

static uint32_t kernel_flags(const struct gp_decoder *decoder, const void *record)
{
	return late(decoder, GP_KERNEL_IS_DEVICE_LAUNCHED, record) ? GP_KERNEL_DEVICE_LAUNCHED : 0;
}

/*
 * CUPTI 11.8 under a driver for CUDA 13 gives every operation the same correlation id.  No other
 * field links an operation to its call, so all we can do is report it.
 */
static void watch_numbers(struct gp_decoder *decoder, const gp_kernel_view *kernel)
{
	static const char note[] =
		"this libcupti is too old for the driver: GPU operations cannot be matched with their API calls; name one of CUDA 12 or later with --cupti or GPUPROF_CUPTI";

	uint64_t launch = (uint64_t)kernel->deviceId << 32 | kernel->correlationId;

	if (gp_cupti_can(decoder->version, GP_CUPTI_NUMBERS_LAUNCHES) || decoder->warned_no_ids ||
	    kernel->graphId != 0)
		return;
	decoder->warned_no_ids = kernel->correlationId != 0 && decoder->last_launch == launch &&
				 gp_emit_info(GP_INFO_NOTE, note);
	decoder->last_launch = launch;
}

/* The correlation ids of the latest kernel records: for each remainder, the latest id. */
static uint32_t arrived[GP_DECODE_ARRIVED_KEPT];

static bool is_later(uint32_t correlation_id, uint32_t other)
{
	return other == 0 || (int32_t)(correlation_id - other) > 0;
}

static void note_arrival(struct gp_decoder *decoder, uint32_t correlation_id)
{
	uint32_t *last = &arrived[correlation_id % GP_DECODE_ARRIVED_KEPT];

	if (is_later(correlation_id, *last))
		*last = correlation_id;
	if (is_later(correlation_id, decoder->newest_id))
		decoder->newest_id = correlation_id;
	decoder->kernels++;
}

bool gp_decode_has_arrived(uint32_t correlation_id)
{
	return arrived[correlation_id % GP_DECODE_ARRIVED_KEPT] == correlation_id;
}

bool gp_decode_is_awaited(uint32_t correlation_id)
{
	return is_later(correlation_id, arrived[correlation_id % GP_DECODE_ARRIVED_KEPT]);
}

static void decode_kernel(struct gp_decoder *decoder, const void *record)
{
	const gp_kernel_view *kernel = record;
	struct gp_record_kernel out;

	note_arrival(decoder, kernel->correlationId);
	if (!is_wanted(kernel))
		return;
	out = (struct gp_record_kernel){
		HEAD(KERNEL, out),
		.device_id = (uint16_t)kernel->deviceId,
		.correlation_id = kernel->correlationId,
		.start_ns = kernel->start,
		.end_ns = kernel->end,
		.name_id = name_id(decoder, kernel->name),
		.shape_id = shape_id(decoder, kernel),
		.context_id = kernel->contextId,
		.stream_id = kernel->streamId,
		.graph_node_id = kernel->graphNodeId,
		.graph_id = kernel->graphId,
		.flags = kernel_flags(decoder, record),
		.channel_id = kernel->channelID,
		.channel_type = (uint32_t)kernel->channelType,
	};

	watch_numbers(decoder, kernel);
	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_copy(struct gp_decoder *decoder, const void *record)
{
	const gp_copy_view *copy = record;
	struct gp_record_copy out = {
		HEAD(COPY, out),
		.device_id = (uint16_t)copy->deviceId,
		.correlation_id = copy->correlationId,
		.start_ns = copy->start,
		.end_ns = copy->end,
		.bytes = copy->bytes,
		.context_id = copy->contextId,
		.stream_id = copy->streamId,
		.graph_node_id = copy->graphNodeId,
		.graph_id = copy->graphId,
		.copy_kind = copy->copyKind,
		.source_kind = copy->srcKind,
		.destination_kind = copy->dstKind,
		.flags = copy->flags,
		.channel_id = copy->channelID,
		.channel_type = (uint32_t)copy->channelType,
		.source_device_id = copy->deviceId,
		.destination_device_id = copy->deviceId,
		.source_context_id = copy->contextId,
		.destination_context_id = copy->contextId,
		.copy_count = late(decoder, GP_COPY_COUNT, record),
	};

	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_peer_copy(struct gp_decoder *decoder, const void *record)
{
	const gp_peer_view *copy = record;
	struct gp_record_copy out = {
		HEAD(COPY, out),
		.device_id = (uint16_t)copy->deviceId,
		.correlation_id = copy->correlationId,
		.start_ns = copy->start,
		.end_ns = copy->end,
		.bytes = copy->bytes,
		.context_id = copy->contextId,
		.stream_id = copy->streamId,
		.graph_node_id = copy->graphNodeId,
		.graph_id = copy->graphId,
		.copy_kind = copy->copyKind,
		.source_kind = copy->srcKind,
		.destination_kind = copy->dstKind,
		.flags = copy->flags,
		.channel_id = copy->channelID,
		.channel_type = (uint32_t)copy->channelType,
		.source_device_id = copy->srcDeviceId,
		.destination_device_id = copy->dstDeviceId,
		.source_context_id = copy->srcContextId,
		.destination_context_id = copy->dstContextId,
	};

	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_set(struct gp_decoder *decoder, const void *record)
{
	const gp_set_view *set = record;
	struct gp_record_memset out = {
		HEAD(MEMSET, out),
		.device_id = (uint16_t)set->deviceId,
		.correlation_id = set->correlationId,
		.start_ns = set->start,
		.end_ns = set->end,
		.bytes = set->bytes,
		.context_id = set->contextId,
		.stream_id = set->streamId,
		.graph_node_id = set->graphNodeId,
		.graph_id = set->graphId,
		.value = set->value,
		.memory_kind = set->memoryKind,
		.flags = set->flags,
		.channel_id = set->channelID,
	};

	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_overhead(struct gp_decoder *decoder, const void *record)
{
	const gp_overhead_view *overhead = record;
	struct gp_record_overhead out = {
		HEAD(OVERHEAD, out),
		.overhead_kind = (uint32_t)overhead->overheadKind,
		.start_ns = overhead->start,
		.end_ns = overhead->end,
		.correlation_id = (uint32_t)late(decoder, GP_OVERHEAD_CORRELATION, record),
	};

	if (overhead->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
		out.thread_id = overhead->objectId.pt.threadId;
	gp_emit((const struct gp_record *)&out);
}

static void decode_device(struct gp_decoder *decoder, const void *record)
{
	const gp_device_view *device = record;
	struct gp_record_device out = {
		HEAD(DEVICE, out),
		.device_id = (uint16_t)device->id,
		.compute_major = (uint16_t)device->computeCapabilityMajor,
		.compute_minor = (uint16_t)device->computeCapabilityMinor,
		.memory_bytes = device->globalMemorySize,
		.memory_bandwidth_kbytes_per_s = device->globalMemoryBandwidth,
		.multiprocessors = device->numMultiprocessors,
		.warp_threads = device->numThreadsPerWarp,
		.max_threads_per_block = device->maxThreadsPerBlock,
		.max_threads_per_multiprocessor =
			device->maxWarpsPerMultiprocessor * device->numThreadsPerWarp,
		.max_blocks_per_multiprocessor = device->maxBlocksPerMultiprocessor,
		.max_warps_per_multiprocessor = device->maxWarpsPerMultiprocessor,
		.registers_per_block = device->maxRegistersPerBlock,
		.registers_per_multiprocessor = device->maxRegistersPerMultiprocessor,
		.shared_per_block_bytes = device->maxSharedMemoryPerBlock,
		.shared_per_multiprocessor_bytes = device->maxSharedMemoryPerMultiprocessor,
		.core_clock_khz = device->coreClockRate,
		.l2_bytes = device->l2CacheSize,
	};

	static_assert(sizeof(out.uuid) == sizeof(device->uuid), "uuid");
	memcpy(out.uuid, &device->uuid, sizeof(out.uuid));
	(void)decoder;
	gp_emit((const struct gp_record *)&out);
	if (device->name != NULL)
		gp_emit_string(GP_STRING_DEVICE, device->id, 0, device->name,
			       (uint32_t)strnlen(device->name, GP_STRING_MAX_BYTES));
}

static void decode_context(struct gp_decoder *decoder, const void *record)
{
	const gp_context_view *context = record;
	struct gp_record_context out = {
		HEAD(CONTEXT, out),
		.device_id = (uint16_t)context->deviceId,
		.id = context->contextId,
		.null_stream_id = context->nullStreamId,
	};

	if (late(decoder, GP_CONTEXT_IS_GREEN, record) != 0) {
		out.parent_id = (uint32_t)late(decoder, GP_CONTEXT_PARENT, record);
		out.multiprocessors = (uint32_t)late(decoder, GP_CONTEXT_MULTIPROCESSORS, record);
	}
	gp_emit((const struct gp_record *)&out);
}

static void decode_green_context(struct gp_decoder *decoder, const void *record)
{
	const struct gp_green_context_view *context = record;
	struct gp_record_context out = {
		HEAD(CONTEXT, out),
		.device_id = (uint16_t)context->deviceId,
		.id = context->contextId,
		.parent_id = context->parentContextId,
		.multiprocessors = context->numMultiprocessors,
	};

	(void)decoder;
	gp_emit((const struct gp_record *)&out);
}

static void decode_stream(struct gp_decoder *decoder, const void *record)
{
	const gp_stream_view *stream = record;
	struct gp_record_stream out = {
		HEAD(STREAM, out),
		.flags = (uint16_t)stream->flag,
		.id = stream->streamId,
		.context_id = stream->contextId,
		.priority = (int32_t)stream->priority,
		.correlation_id = stream->correlationId,
	};

	(void)decoder;
	gp_emit((const struct gp_record *)&out);
}

static void decode_graph(struct gp_decoder *decoder, const void *record)
{
	const gp_graph_view *graph = record;
	struct gp_record_graph out = {
		HEAD(GRAPH, out),
		.device_id = (uint16_t)graph->deviceId,
		.correlation_id = graph->correlationId,
		.start_ns = graph->start,
		.end_ns = graph->end,
		.context_id = graph->contextId,
		.stream_id = graph->streamId,
		.graph_id = graph->graphId,
		.end_device_id = (uint32_t)gp_cupti_field(decoder->version, GP_GRAPH_END_DEVICE,
							  record, graph->deviceId),
		.end_context_id = (uint32_t)gp_cupti_field(decoder->version, GP_GRAPH_END_CONTEXT,
							   record, graph->contextId),
	};

	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_sync(struct gp_decoder *decoder, const void *record)
{
	const gp_sync_view *sync = record;
	struct gp_record_sync out = {
		HEAD(SYNC, out),
		.sync_kind = (uint16_t)sync->type,
		.correlation_id = sync->correlationId,
		.start_ns = sync->start,
		.end_ns = sync->end,
		.context_id = sync->contextId,
		.stream_id = sync->streamId,
		.event_id = (uint32_t)or_zero(sync->cudaEventId),
		.event_sync_id = or_zero(late(decoder, GP_SYNC_EVENT_SYNC, record)),
	};

	static_assert(GP_NO_STREAM == CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream");
	emit_caused(&out, out.correlation_id);
}

static void decode_event(struct gp_decoder *decoder, const void *record)
{
	const gp_event_view *event = record;
	struct gp_record_event out = {
		HEAD(EVENT, out),
		.device_id = (uint16_t)gp_cupti_field(decoder->version, GP_EVENT_DEVICE, record,
						      gp_contexts_device(event->contextId)),
		.correlation_id = event->correlationId,
		.context_id = event->contextId,
		.stream_id = event->streamId,
		.event_id = event->eventId,
		.device_ns = late(decoder, GP_EVENT_TIME, record),
		.sync_id = or_zero(late(decoder, GP_EVENT_SYNC, record)),
	};

	emit_caused(&out, out.correlation_id);
}

static void decode_jit(struct gp_decoder *decoder, const void *record)
{
	const gp_jit_view *jit = record;
	struct gp_record_jit out = {
		HEAD(JIT, out),
		.device_id = (uint16_t)jit->deviceId,
		.correlation_id = jit->correlationId,
		.start_ns = jit->start,
		.end_ns = jit->end,
		.entry_kind = (uint8_t)jit->jitEntryType,
		.op_kind = (uint8_t)jit->jitOperationType,
		.cache_bytes = jit->cacheSize,
		.operation_id = jit->jitOperationCorrelationId,
		.thread_id = (uint32_t)late(decoder, GP_JIT_THREAD, record),
	};

	gp_emit((const struct gp_record *)&out);
}

static void decode_pool(struct gp_decoder *decoder, const void *record)
{
	const gp_pool_view *pool = record;
	struct gp_record_pool out = {
		HEAD(POOL, out),
		.device_id = (uint16_t)pool->deviceId,
		.correlation_id = pool->correlationId,
		.time_ns = pool->timestamp,
		.address = pool->address,
		.reserved_bytes = pool->size,
		.used_bytes = pool->utilizedSize,
		.release_threshold_bytes = pool->releaseThreshold,
		.least_kept_bytes = pool->minBytesToKeep,
		.op = (uint8_t)pool->memoryPoolOperationType,
		.pool_kind = (uint8_t)pool->memoryPoolType,
	};

	(void)decoder;
	gp_emit((const struct gp_record *)&out);
}

static void decode_unified(struct gp_decoder *decoder, const void *record)
{
	const gp_unified_view *unified = record;
	struct gp_record_unified out = {
		HEAD(UNIFIED, out),
		.counter_kind = (uint16_t)unified->counterKind,
		.flags = unified->flags,
		.start_ns = unified->start,
		.end_ns = unified->end,
		.value = unified->value,
		.address = unified->address,
		.source_device_id = unified->srcId,
		.destination_device_id = unified->dstId,
		.stream_id = unified->streamId,
	};

	(void)decoder;
	gp_emit((const struct gp_record *)&out);
}

static void decode_host_node(struct gp_decoder *decoder, const void *record)
{
	const struct gp_host_node_view *node = record;
	struct gp_record_host_function out = {
		HEAD(HOST_FUNCTION, out),
		.device_id = (uint16_t)node->deviceId,
		.correlation_id = node->correlationId,
		.start_ns = node->start,
		.end_ns = node->end,
		.context_id = node->contextId,
		.stream_id = node->streamId,
		.graph_node_id = node->graphNodeId,
		.graph_id = node->graphId,
		.thread_id = node->threadId,
	};

	(void)decoder;
	emit_caused(&out, node->correlationId);
}

static void decode_host_launch(struct gp_decoder *decoder, const void *record)
{
	const struct gp_host_launch_view *launch = record;
	struct gp_record_host_function out = {
		HEAD(HOST_FUNCTION, out),
		.device_id = (uint16_t)launch->deviceId,
		.correlation_id = launch->correlationId,
		.start_ns = launch->start,
		.end_ns = launch->end,
		.context_id = launch->contextId,
		.stream_id = launch->streamId,
		.thread_id = launch->threadId,
	};

	(void)decoder;
	emit_caused(&out, launch->correlationId);
}

#define KIND_LIMIT 64

static void (*const decoders[KIND_LIMIT])(struct gp_decoder *, const void *) = {
	[CUPTI_ACTIVITY_KIND_DEVICE] = decode_device,
	[CUPTI_ACTIVITY_KIND_CONTEXT] = decode_context,
	[GP_CUPTI_KIND_GREEN_CONTEXT] = decode_green_context,
	[CUPTI_ACTIVITY_KIND_STREAM] = decode_stream,
	[CUPTI_ACTIVITY_KIND_MEMCPY] = decode_copy,
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = decode_peer_copy,
	[CUPTI_ACTIVITY_KIND_MEMSET] = decode_set,
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = decode_kernel,
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = decode_overhead,
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = decode_graph,
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = decode_sync,
	[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = decode_event,
	[CUPTI_ACTIVITY_KIND_JIT] = decode_jit,
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = decode_pool,
	[GP_CUPTI_KIND_GRAPH_HOST_NODE] = decode_host_node,
	[GP_CUPTI_KIND_HOST_LAUNCH] = decode_host_launch,
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = decode_unified,
};

/* Kinds that are not excluded by correlation id. */
static const bool belongs_to_no_call[KIND_LIMIT] = {
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = true,
	[CUPTI_ACTIVITY_KIND_JIT] = true,
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = true,
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = true,
};

void gp_decode(struct gp_decoder *decoder, const CUpti_Activity *record)
{
	uint32_t kind = (uint32_t)record->kind;

	if (decoder->paused && kind < KIND_LIMIT && belongs_to_no_call[kind])
		return;
	if (kind < KIND_LIMIT && decoders[kind] != NULL)
		decoders[kind](decoder, record);
	else
		decoder->unknown++;
}

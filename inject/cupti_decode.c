#include "inject/cupti_decode.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "collector/collector.h"
#include "inject/contexts.h"
#include "inject/control.h"
#include "inject/cupti_library.h"

/*
 * Every family below only ever grew at its end, so the oldest struct that has the fields we read is
 * a valid view of every later record.  Fields that came later are read at their offset, and only if
 * the library that wrote the record has them.  The offsets are those of the records of 11.8; a
 * header in which one moved does not compile.
 */
typedef CUpti_ActivityKernel8 kernel_view;   /* 11.8 */
typedef CUpti_ActivityMemcpy5 copy_view;     /* 11.6 */
typedef CUpti_ActivityMemcpyPtoP4 peer_view; /* 11.6 */
typedef CUpti_ActivityMemset4 set_view;      /* 11.6 */
typedef CUpti_ActivityOverhead2
	overhead_view; /* 12.2: correlation id; before that the record ends at 40 */
typedef CUpti_ActivityDevice4 device_view; /* 11.6 */
typedef CUpti_ActivityContext context_view;
typedef CUpti_ActivityStream stream_view;
typedef CUpti_ActivityGraphTrace graph_view; /* 11.7 */
typedef CUpti_ActivitySynchronization sync_view;
typedef CUpti_ActivityCudaEvent event_view;
typedef CUpti_ActivityJit jit_view;
typedef CUpti_ActivityMemoryPool2 pool_view; /* 11.6 */
typedef CUpti_ActivityUnifiedMemoryCounter2 unified_view;

#define KERNEL_DEVICE_LAUNCHED_OFFSET 208 /* u8, 13.0 */
#define COPY_COUNT_OFFSET             88  /* u64, 12.8 */
#define GRAPH_END_DEVICE_OFFSET       48  /* u32, 12.3 */
#define GRAPH_END_CONTEXT_OFFSET      52  /* u32, 12.3 */
#define SYNC_EVENT_SYNC_OFFSET        40  /* u64, 12.8 */
#define EVENT_DEVICE_OFFSET           24  /* u32, 12.8 */
#define EVENT_TIME_OFFSET             40  /* u64, 12.8 */
#define EVENT_SYNC_OFFSET             48  /* u64, 12.8 */
#define JIT_THREAD_OFFSET             68  /* u32, 12.4 */

static_assert(offsetof(kernel_view, start) == 16 && offsetof(kernel_view, deviceId) == 40, "");
static_assert(offsetof(kernel_view, gridX) == 52 && offsetof(kernel_view, name) == 104, "");
static_assert(offsetof(kernel_view, graphNodeId) == 144 && offsetof(kernel_view, clusterX) == 176,
	      "");
static_assert(offsetof(kernel_view, localMemoryTotal_v2) == 192 && sizeof(kernel_view) == 200, "");
static_assert(offsetof(copy_view, bytes) == 8 && offsetof(copy_view, channelType) == 80, "");
static_assert(offsetof(peer_view, srcDeviceId) == 44 && offsetof(peer_view, graphId) == 80, "");
static_assert(offsetof(set_view, memoryKind) == 50 && offsetof(set_view, graphId) == 72, "");
static_assert(offsetof(overhead_view, start) == 24 && offsetof(overhead_view, correlationId) == 40,
	      "");
static_assert(offsetof(device_view, id) == 112 && offsetof(device_view, name) == 136, "");
static_assert(offsetof(context_view, nullStreamId) == 14, "");
static_assert(offsetof(stream_view, correlationId) == 20, "");
static_assert(offsetof(graph_view, graphId) == 28 && offsetof(graph_view, reserved) == 40, "");
static_assert(offsetof(sync_view, start) == 8 && offsetof(sync_view, cudaEventId) == 36, "");
static_assert(offsetof(event_view, correlationId) == 4 && offsetof(event_view, eventId) == 16, "");
static_assert(offsetof(jit_view, start) == 16 && offsetof(jit_view, cacheSize) == 48, "");
static_assert(offsetof(pool_view, address) == 32 && offsetof(pool_view, utilizedSize) == 64, "");
static_assert(offsetof(unified_view, value) == 8 && offsetof(unified_view, flags) == 56, "");
#if CUPTI_API_VERSION >= 130000
#define LATE(type, field, offset) static_assert(offsetof(type, field) == (offset), #type);
LATE(CUpti_ActivityKernel10, isDeviceLaunched, KERNEL_DEVICE_LAUNCHED_OFFSET)
LATE(CUpti_ActivityMemcpy6, copyCount, COPY_COUNT_OFFSET)
LATE(CUpti_ActivityGraphTrace2, endDeviceId, GRAPH_END_DEVICE_OFFSET)
LATE(CUpti_ActivityGraphTrace2, endContextId, GRAPH_END_CONTEXT_OFFSET)
LATE(CUpti_ActivitySynchronization2, cudaEventSyncId, SYNC_EVENT_SYNC_OFFSET)
LATE(CUpti_ActivityCudaEvent2, deviceId, EVENT_DEVICE_OFFSET)
LATE(CUpti_ActivityCudaEvent2, deviceTimestamp, EVENT_TIME_OFFSET)
LATE(CUpti_ActivityCudaEvent2, cudaEventSyncId, EVENT_SYNC_OFFSET)
LATE(CUpti_ActivityJit2, threadId, JIT_THREAD_OFFSET)
#endif

/* A field that came later, at its offset. */
static uint32_t late32(const void *record, size_t offset)
{
	uint32_t value;

	memcpy(&value, (const uint8_t *)record + offset, sizeof(value));
	return value;
}

static uint64_t late64(const void *record, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)record + offset, sizeof(value));
	return value;
}

#define HEAD(KIND, type) .kind = GP_RECORD_##KIND, .slots = sizeof(type) / GP_SLOT_BYTES

/* ---- names and shapes: interned, defined on first sight ---- */

static uint32_t name_id(struct gp_decoder *decoder, const char *name)
{
	bool is_new;

	if (name == NULL)
		return 0;
	uint32_t length = (uint32_t)strnlen(name, GP_STRING_MAX_BYTES + 1);
	uint32_t id = gp_intern(&decoder->names, name, length, &is_new);

	if (is_new)
		gp_emit_string(GP_STRING_KERNEL, id, 0, name, length);
	return id;
}

static uint32_t shape_id(struct gp_decoder *decoder, const kernel_view *kernel)
{
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
	};
	bool is_new;
	uint32_t id = gp_intern(&decoder->shapes, &shape, sizeof(shape), &is_new);

	if (is_new) {
		shape.id = id;
		gp_emit((const struct gp_record *)&shape);
	}
	return id;
}

/* ---- one function per kind ---- */

/* What a call has caused is left out where the call is. */
static bool emit_caused(const void *record, uint32_t correlation_id)
{
	bool left_out = gp_gate_has_left_out(correlation_id);

	if (left_out)
		gp_count(GP_COUNTER_LEFT_OUT_PAUSED, 1);
	else
		gp_emit(record);
	return !left_out;
}

static void emit_operation(struct gp_decoder *decoder, const void *record, uint32_t correlation_id)
{
	decoder->records += emit_caused(record, correlation_id);
}

static bool is_wanted(const kernel_view *kernel)
{
	bool wanted = kernel->name == NULL || gp_control_wants_kernel(kernel->name);

	gp_count(GP_COUNTER_LEFT_OUT_KERNELS, !wanted);
	return wanted;
}

static uint32_t kernel_flags(const struct gp_decoder *decoder, const void *record)
{
	if (decoder->version < GP_CUPTI_13_0)
		return 0;
	return ((const uint8_t *)record)[KERNEL_DEVICE_LAUNCHED_OFFSET] ? GP_KERNEL_DEVICE_LAUNCHED
									: 0;
}

/*
 * CUPTI 11.8 under a driver for CUDA 13 gives every operation the same number.  Nothing else leads from an operation to
 * its call, so all that can be done is to say so.
 */
static void watch_numbers(struct gp_decoder *decoder, const kernel_view *kernel)
{
	static const char note[] =
		"this libcupti is too old for the driver: it does not tell which call started "
		"which GPU "
		"operation; set GPUPROF_CUPTI=/path/to/libcupti.so of CUDA 12 or later";

	uint64_t launch = (uint64_t)kernel->deviceId << 32 | kernel->correlationId;

	if (decoder->version >= GP_CUPTI_12_2 || decoder->said_numberless || kernel->graphId != 0)
		return;
	decoder->said_numberless = kernel->correlationId != 0 && decoder->last_launch == launch &&
				   gp_emit_info(GP_INFO_NOTE, note);
	decoder->last_launch = launch;
}

static void decode_kernel(struct gp_decoder *decoder, const void *record)
{
	const kernel_view *kernel = record;
	struct gp_record_kernel out;

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
	const copy_view *copy = record;
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
	};

	if (decoder->version >= GP_CUPTI_12_8)
		out.copy_count = late64(record, COPY_COUNT_OFFSET);
	emit_operation(decoder, &out, out.correlation_id);
}

static void decode_peer_copy(struct gp_decoder *decoder, const void *record)
{
	const peer_view *copy = record;
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
	const set_view *set = record;
	struct gp_record_set out = {
		HEAD(SET, out),
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
	const overhead_view *overhead = record;
	struct gp_record_overhead out = {
		HEAD(OVERHEAD, out),
		.overhead_kind = (uint32_t)overhead->overheadKind,
		.start_ns = overhead->start,
		.end_ns = overhead->end,
	};

	if (overhead->objectKind == CUPTI_ACTIVITY_OBJECT_THREAD)
		out.thread_id = overhead->objectId.pt.threadId;
	if (decoder->version >= GP_CUPTI_12_2)
		out.correlation_id = overhead->correlationId;
	gp_emit((const struct gp_record *)&out);
}

static void decode_device(struct gp_decoder *decoder, const void *record)
{
	const device_view *device = record;
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
	const context_view *context = record;
	struct gp_record_context out = {
		HEAD(CONTEXT, out),
		.device_id = (uint16_t)context->deviceId,
		.id = context->contextId,
		.null_stream_id = context->nullStreamId,
	};

	(void)decoder;
	gp_emit((const struct gp_record *)&out);
}

static void decode_stream(struct gp_decoder *decoder, const void *record)
{
	const stream_view *stream = record;
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
	const graph_view *graph = record;
	struct gp_record_graph out = {
		HEAD(GRAPH, out),
		.device_id = (uint16_t)graph->deviceId,
		.correlation_id = graph->correlationId,
		.start_ns = graph->start,
		.end_ns = graph->end,
		.context_id = graph->contextId,
		.stream_id = graph->streamId,
		.graph_id = graph->graphId,
		.end_device_id = graph->deviceId,
		.end_context_id = graph->contextId,
	};

	if (decoder->version >= GP_CUPTI_12_3) {
		out.end_device_id = late32(record, GRAPH_END_DEVICE_OFFSET);
		out.end_context_id = late32(record, GRAPH_END_CONTEXT_OFFSET);
	}
	emit_operation(decoder, &out, out.correlation_id);
}

/* CUPTI says "none" by the largest number of 32 bits, also where the field has 64. */
static uint64_t or_zero(uint64_t value)
{
	return value == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? 0 : value;
}

static void decode_sync(struct gp_decoder *decoder, const void *record)
{
	const sync_view *sync = record;
	struct gp_record_sync out = {
		HEAD(SYNC, out),
		.sync_kind = (uint16_t)sync->type,
		.correlation_id = sync->correlationId,
		.start_ns = sync->start,
		.end_ns = sync->end,
		.context_id = sync->contextId,
		.stream_id = sync->streamId,
		.event_id = (uint32_t)or_zero(sync->cudaEventId),
	};

	static_assert(GP_NO_STREAM == CUPTI_SYNCHRONIZATION_INVALID_VALUE, "no stream");
	if (decoder->version >= GP_CUPTI_12_8)
		out.event_sync_id = or_zero(late64(record, SYNC_EVENT_SYNC_OFFSET));
	emit_caused(&out, out.correlation_id);
}

static void decode_event(struct gp_decoder *decoder, const void *record)
{
	const event_view *event = record;
	struct gp_record_event out = {
		HEAD(EVENT, out),
		.device_id = gp_contexts_device(event->contextId),
		.correlation_id = event->correlationId,
		.context_id = event->contextId,
		.stream_id = event->streamId,
		.event_id = event->eventId,
	};

	if (decoder->version >= GP_CUPTI_12_8) {
		out.device_id = (uint16_t)late32(record, EVENT_DEVICE_OFFSET);
		out.device_ns = late64(record, EVENT_TIME_OFFSET);
		out.sync_id = or_zero(late64(record, EVENT_SYNC_OFFSET));
	}
	emit_caused(&out, out.correlation_id);
}

static void decode_jit(struct gp_decoder *decoder, const void *record)
{
	const jit_view *jit = record;
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
	};

	if (decoder->version >= GP_CUPTI_12_4)
		out.thread_id = late32(record, JIT_THREAD_OFFSET);
	gp_emit((const struct gp_record *)&out);
}

static void decode_pool(struct gp_decoder *decoder, const void *record)
{
	const pool_view *pool = record;
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
	const unified_view *unified = record;
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

#define KIND_LIMIT 64

static void (*const decoders[KIND_LIMIT])(struct gp_decoder *, const void *) = {
	[CUPTI_ACTIVITY_KIND_DEVICE] = decode_device,
	[CUPTI_ACTIVITY_KIND_CONTEXT] = decode_context,
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
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = decode_unified,
};

void gp_decode(struct gp_decoder *decoder, const CUpti_Activity *record)
{
	uint32_t kind = (uint32_t)record->kind;

	if (kind < KIND_LIMIT && decoders[kind] != NULL)
		decoders[kind](decoder, record);
	else
		decoder->unknown++;
}

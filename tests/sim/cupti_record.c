/*
 * libcupti: the records.  They are written in the newest layout; a version's record is its first
 * bytes.
 */
#include "tests/sim/cupti_sim.h"
#include "tests/sim/module.h"

#include <assert.h>
#include <unistd.h>

/* Fields that versions after 13.0 append. */
struct kernel_13_4 {
	CUpti_ActivityKernel10 older;
	int32_t priority; /* 13.1 */
	uint32_t pad4;
	uint32_t execution_model; /* 13.3 */
	uint32_t pad5;
	uint32_t source_graph; /* 13.4, here and below: the node's creation site */
	uint32_t pad6;
	uint64_t source_graph_node;
};

struct copy_13_4 {
	CUpti_ActivityMemcpy6 older;
	uint32_t source_graph;
	uint32_t pad3;
	uint64_t source_graph_node;
};

struct set_13_4 {
	CUpti_ActivityMemset4 older;
	uint32_t source_graph;
	uint32_t pad3;
	uint64_t source_graph_node;
};

static_assert(sizeof(struct kernel_13_4) == 248, "the layout of 13.4");
static_assert(sizeof(struct copy_13_4) == 112, "the layout of 13.4");
static_assert(sizeof(struct set_13_4) == 104, "the layout of 13.4");

/* The layouts of 13.1. */
struct graph_host_node {
	CUpti_ActivityKind kind;
	uint32_t stream, context, device, correlation, graph;
	uint64_t graph_node;
	uint32_t process, thread;
	uint64_t start, end;
};

struct host_launch {
	CUpti_ActivityKind kind;
	uint32_t stream, context, device, correlation, process, thread, pad;
	uint64_t start, end;
};

static_assert(sizeof(struct graph_host_node) == 56, "the layout of 13.1");
static_assert(sizeof(struct host_launch) == 48, "the layout of 13.1");

#define SIM_KIND_GRAPH_HOST_NODE ((CUpti_ActivityKind)56)
#define SIM_KIND_HOST_LAUNCH     ((CUpti_ActivityKind)58)
#define SIM_KIND_GREEN_CONTEXT   ((CUpti_ActivityKind)59)
#define EXECUTION_MODEL_SIMT     1

/* Record sizes by the first version (cuptiGetVersion) that writes them.  Records only grow. */
static const struct {
	CUpti_ActivityKind kind;
	uint32_t since;
	size_t bytes;
} layouts[] = {
	{CUPTI_ACTIVITY_KIND_MEMCPY, 18, 88},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 26, 96},
	{CUPTI_ACTIVITY_KIND_MEMCPY, 130400, sizeof(struct copy_13_4)},
	{CUPTI_ACTIVITY_KIND_MEMSET, 18, 88},
	{CUPTI_ACTIVITY_KIND_MEMSET, 130400, sizeof(struct set_13_4)},
	{CUPTI_ACTIVITY_KIND_KERNEL, 18, 200},
	{CUPTI_ACTIVITY_KIND_KERNEL, 19, 208},
	{CUPTI_ACTIVITY_KIND_KERNEL, 130000, 216},
	{CUPTI_ACTIVITY_KIND_KERNEL, 130100, 224},
	{CUPTI_ACTIVITY_KIND_KERNEL, 130300, 232},
	{CUPTI_ACTIVITY_KIND_KERNEL, 130400, sizeof(struct kernel_13_4)},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 18, 200},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 19, 208},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130000, 216},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130100, 224},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130300, 232},
	{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130400, sizeof(struct kernel_13_4)},
	{CUPTI_ACTIVITY_KIND_DRIVER, 18, 40},
	{CUPTI_ACTIVITY_KIND_RUNTIME, 18, 40},
	{CUPTI_ACTIVITY_KIND_DEVICE, 18, 176},
	{CUPTI_ACTIVITY_KIND_DEVICE, 19, 184},
	{CUPTI_ACTIVITY_KIND_DEVICE, 130200, 192},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 18, 16},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 22, 24},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 23, 32},
	{CUPTI_ACTIVITY_KIND_CONTEXT, 130100, 40},
	{SIM_KIND_GRAPH_HOST_NODE, 130100, sizeof(struct graph_host_node)},
	{SIM_KIND_HOST_LAUNCH, 130100, sizeof(struct host_launch)},
	{SIM_KIND_GREEN_CONTEXT, 130200, 152},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, 18, 40},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, 20, 48},
	{CUPTI_ACTIVITY_KIND_OVERHEAD, 22, 56},
	{CUPTI_ACTIVITY_KIND_MEMCPY2, 18, 96},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, 18, 24},
	{CUPTI_ACTIVITY_KIND_CUDA_EVENT, 26, 56},
	{CUPTI_ACTIVITY_KIND_STREAM, 18, 24},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 18, 40},
	{CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, 56},
	{CUPTI_ACTIVITY_KIND_MEMORY2, 18, 120},
	{CUPTI_ACTIVITY_KIND_MEMORY2, 24, 128},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, 18, 72},
	{CUPTI_ACTIVITY_KIND_MEMORY_POOL, 130000, 80},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 18, 48},
	{CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 21, 56},
	{CUPTI_ACTIVITY_KIND_JIT, 18, 64},
	{CUPTI_ACTIVITY_KIND_JIT, 22, 72},
	{CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 18, 24},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 18, 64},
	{CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 26, 104},
};

/* Number of callback ids that each version knows. */
static const struct {
	uint32_t since, driver, runtime;
} callback_limits[] = {
	{18, 677, 436},     {19, 701, 445},     {20, 718, 451},     {21, 735, 465},
	{22, 757, 468},     {23, 761, 470},     {24, 761, 480},     {26, 782, 487},
	{130000, 807, 523}, {130100, 846, 550}, {130200, 846, 559}, {130300, 848, 562},
	{130400, 868, 566},
};

static size_t record_bytes[SIM_KINDS];

static void fill_record_bytes(void)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].since <= sim_config()->cupti_version)
			record_bytes[layouts[i].kind] = layouts[i].bytes;
}

/* GPUSIM_FAULT=moved-fields. */
static size_t moved_bytes(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
			       (sim_config()->faults & SIM_FAULT_MOVED_FIELDS)
		       ? SIM_MOVED_BYTES
		       : 0;
}

size_t sim_record_bytes(CUpti_ActivityKind kind)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_record_bytes);
	return kind < SIM_KINDS ? record_bytes[kind] + moved_bytes(kind) : 0;
}

uint32_t sim_callback_limit(CUpti_CallbackDomain domain)
{
	uint32_t limit = domain == CUPTI_CB_DOMAIN_RESOURCE ? CUPTI_CBID_RESOURCE_SIZE : 1;

	if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
		return limit;
	for (size_t i = 0; i < sizeof(callback_limits) / sizeof(callback_limits[0]); i++)
		if (callback_limits[i].since <= sim_config()->cupti_version)
			limit = domain == CUPTI_CB_DOMAIN_DRIVER_API ? callback_limits[i].driver
								     : callback_limits[i].runtime;
	return limit;
}

/* The end time in records of operations: its offset is the same for all but one kind. */
static uint64_t *end_of(void *record)
{
	switch (((CUpti_Activity *)record)->kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_MEMCPY:
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return &((CUpti_ActivityKernel10 *)record)->end;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return &((CUpti_ActivityGraphTrace2 *)record)->end;
	default:
		return NULL;
	}
}

uint64_t sim_record_end(const void *record)
{
	const uint64_t *end = end_of((void *)(uintptr_t)record);

	return end ? *end : 0;
}

void sim_record_clear_times(void *record)
{
	uint64_t *end = end_of(record);

	if (end) {
		end[-1] = 0; /* the start time precedes it */
		end[0] = 0;
	}
}

static uint32_t channel_of(CUstream s)
{
	return s->is_legacy || s->id < 12 ? 0 : s->id - 12;
}

static CUpti_ActivityKind kernel_kind(void)
{
	if (sim_wanted(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	return sim_wanted(CUPTI_ACTIVITY_KIND_KERNEL) ? CUPTI_ACTIVITY_KIND_KERNEL
						      : CUPTI_ACTIVITY_KIND_INVALID;
}

static void record_kernel(const struct sim_op *op)
{
	CUpti_ActivityKind kind = kernel_kind();
	struct kernel_13_4 k = {
		.older = {.kind = kind,
			  .registersPerThread = 16,
			  .partitionedGlobalCacheRequested = 1,
			  .partitionedGlobalCacheExecuted = 1,
			  .start = op->start,
			  .end = op->end,
			  .completed = op->end,
			  .deviceId = (uint32_t)op->stream->ctx->device->ordinal,
			  .contextId = op->stream->ctx->uid,
			  .streamId = op->stream->id,
			  .gridX = (int32_t)op->kernel.grid[0],
			  .gridY = (int32_t)op->kernel.grid[1],
			  .gridZ = (int32_t)op->kernel.grid[2],
			  .blockX = (int32_t)op->kernel.block[0],
			  .blockY = (int32_t)op->kernel.block[1],
			  .blockZ = (int32_t)op->kernel.block[2],
			  .dynamicSharedMemory = (int32_t)op->kernel.shared_bytes,
			  .localMemoryTotal = 155713536,
			  .correlationId = op->correlation,
			  .gridId = op->kernel.grid_id,
			  .name = op->kernel.function->name,
			  .launchType = op->kernel.cooperative || op->kernel.has_cooperative,
			  .sharedMemoryExecuted = op->kernel.shared_bytes ? 65536 : 32768,
			  .graphNodeId = op->graph_node,
			  .graphId = op->graph,
			  .channelID = channel_of(op->stream),
			  .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
			  .clusterX = op->kernel.cluster[0],
			  .clusterY = op->kernel.cluster[1],
			  .clusterZ = op->kernel.cluster[2],
			  .clusterSchedulingPolicy = 1,
			  .localMemoryTotal_v2 = 155713536,
			  .maxPotentialClusterSize = op->kernel.cluster[0] ? 8 : 0,
			  .maxActiveClusters = op->kernel.cluster[0] ? 528 : 0},
		.priority = op->stream->priority,
		.execution_model = EXECUTION_MODEL_SIMT};

	if (kind != CUPTI_ACTIVITY_KIND_INVALID)
		sim_buffers_append(&k, kind);
}

static void record_copy(const struct sim_op *op)
{
	bool host = op->copy.kind != CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	struct copy_13_4 m = {
		.older = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
			  .copyKind = op->copy.kind,
			  .srcKind = op->copy.from,
			  .dstKind = op->copy.to,
			  .flags = op->copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
			  .bytes = op->bytes,
			  .start = op->start,
			  .end = op->end,
			  .deviceId = (uint32_t)op->stream->ctx->device->ordinal,
			  .contextId = op->stream->ctx->uid,
			  .streamId = op->stream->id,
			  .correlationId = op->correlation,
			  .graphNodeId = op->graph_node,
			  .graphId = op->graph,
			  .channelID = channel_of(op->stream) + (host ? 8 : 0),
			  .channelType = host ? CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY
					      : CUPTI_CHANNEL_TYPE_COMPUTE,
			  .copyCount = 1}};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_MEMCPY))
		sim_buffers_append(&m, CUPTI_ACTIVITY_KIND_MEMCPY);
}

static void record_peer(const struct sim_op *op)
{
	CUpti_ActivityMemcpyPtoP4 m = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
		.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
		.srcKind = op->copy.from,
		.dstKind = op->copy.to,
		.flags = op->copy.async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
		.bytes = op->bytes,
		.start = op->start,
		.end = op->end,
		.deviceId = (uint32_t)op->stream->ctx->device->ordinal,
		.contextId = op->stream->ctx->uid,
		.streamId = op->stream->id,
		.srcDeviceId = (uint32_t)op->copy.from_ctx->device->ordinal,
		.srcContextId = op->copy.from_ctx->uid,
		.dstDeviceId = (uint32_t)op->copy.to_ctx->device->ordinal,
		.dstContextId = op->copy.to_ctx->uid,
		.correlationId = op->correlation,
		.graphNodeId = op->graph_node,
		.graphId = op->graph,
		.channelID = channel_of(op->stream),
		.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
	};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_MEMCPY2))
		sim_buffers_append(&m, CUPTI_ACTIVITY_KIND_MEMCPY2);
}

static void record_set(const struct sim_op *op)
{
	struct set_13_4 m = {
		.older = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
			  .value = op->set.value,
			  .bytes = op->bytes,
			  .start = op->start,
			  .end = op->end,
			  .deviceId = (uint32_t)op->stream->ctx->device->ordinal,
			  .contextId = op->stream->ctx->uid,
			  .streamId = op->stream->id,
			  .correlationId = op->correlation,
			  .flags = op->set.async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
			  .memoryKind = op->set.memory,
			  .graphNodeId = op->graph_node,
			  .graphId = op->graph,
			  .channelID = channel_of(op->stream),
			  .channelType = CUPTI_CHANNEL_TYPE_COMPUTE}};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_MEMSET))
		sim_buffers_append(&m, CUPTI_ACTIVITY_KIND_MEMSET);
}

static void record_host_node(const struct sim_host_function *function, uint64_t start, uint64_t end)
{
	struct graph_host_node node = {
		.kind = SIM_KIND_GRAPH_HOST_NODE,
		.stream = function->stream->id,
		.context = function->stream->ctx->uid,
		.device = (uint32_t)function->stream->ctx->device->ordinal,
		.correlation = function->correlation,
		.graph = function->graph,
		.graph_node = function->graph_node,
		.process = (uint32_t)getpid(),
		.thread = sim_thread_id(),
		.start = start,
		.end = end,
	};

	if (sim_wanted(SIM_KIND_GRAPH_HOST_NODE))
		sim_buffers_append(&node, SIM_KIND_GRAPH_HOST_NODE);
}

void sim_record_host_function(const struct sim_host_function *function, uint64_t start,
			      uint64_t end)
{
	struct host_launch launch = {
		.kind = SIM_KIND_HOST_LAUNCH,
		.stream = function->stream->id,
		.context = function->stream->ctx->uid,
		.device = (uint32_t)function->stream->ctx->device->ordinal,
		.correlation = function->correlation,
		.process = (uint32_t)getpid(),
		.thread = sim_thread_id(),
		.start = start,
		.end = end,
	};

	if (function->graph != 0)
		record_host_node(function, start, end);
	else if (sim_wanted(SIM_KIND_HOST_LAUNCH))
		sim_buffers_append(&launch, SIM_KIND_HOST_LAUNCH);
}

static void record_graph(const struct sim_op *op)
{
	CUpti_ActivityGraphTrace2 g = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
				       .correlationId = op->correlation,
				       .start = op->start,
				       .end = op->end,
				       .deviceId = (uint32_t)op->stream->ctx->device->ordinal,
				       .graphId = op->graph,
				       .contextId = op->stream->ctx->uid,
				       .streamId = op->stream->id,
				       .endDeviceId = (uint32_t)op->stream->ctx->device->ordinal,
				       .endContextId = op->stream->ctx->uid};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
		sim_buffers_append(&g, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

void sim_record_operation(const struct sim_op *op)
{
	static void (*const by_kind[])(const struct sim_op *) = {
		[SIM_OP_KERNEL] = record_kernel, [SIM_OP_COPY] = record_copy,
		[SIM_OP_PEER] = record_peer,     [SIM_OP_SET] = record_set,
		[SIM_OP_GRAPH] = record_graph,
	};

	by_kind[op->kind](op);
	sim_profiler_operation(op);
	sim_pc_operation(op);
}

void sim_record_api(const struct sim_call *call, uint64_t end_ns)
{
	CUpti_ActivityKind kind = call->domain == SIM_DRIVER ? CUPTI_ACTIVITY_KIND_DRIVER
							     : CUPTI_ACTIVITY_KIND_RUNTIME;
	CUpti_ActivityAPI a = {.kind = kind,
			       .cbid = call->cbid,
			       .start = call->start_ns,
			       .end = end_ns,
			       .processId = (uint32_t)getpid(),
			       .threadId = sim_thread_id(),
			       .correlationId = call->correlation,
			       .returnValue = (uint32_t)call->result};

	if (sim_call_is_left_out(call->domain == SIM_RUNTIME, call->cbid))
		return;
	if (sim_wanted(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
		sim_record_external(call->correlation);
	sim_buffers_append(&a, kind);
}

/* libcupti: records other than operations: devices, contexts, memory, waits, overhead. */
#include "tests/sim/cupti_sim.h"
#include "tests/sim/memory.h"

#include <string.h>
#include <unistd.h>

#define NONE             0xffffffffu /* no such stream or event */
#define POOL_CHUNK_BYTES (UINT64_C(32) << 20)
#define JIT_CACHE_BYTES  (UINT64_C(1) << 30)

static uint64_t reserved_bytes(CUmemoryPool pool)
{
	return (pool->high_bytes + POOL_CHUNK_BYTES - 1) & ~(POOL_CHUNK_BYTES - 1);
}

static void describe_pool(CUpti_ActivityMemory4 *m, CUmemoryPool pool)
{
	m->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
	m->memoryPoolConfig.address = (uint64_t)(uintptr_t)pool;
	m->memoryPoolConfig.releaseThreshold = pool->threshold_bytes;
	m->memoryPoolConfig.pool.size = reserved_bytes(pool);
	m->memoryPoolConfig.utilizedSize = pool->used_bytes;
}

void sim_record_memory(const struct sim_memory_event *e)
{
	CUpti_ActivityMemory4 m = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
		.memoryOperationType = e->release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
						  : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memoryKind = (CUpti_ActivityMemoryKind)e->kind,
		.correlationId = sim_correlation(),
		.address = e->address,
		.bytes = e->bytes,
		.timestamp = sim_now_ns(),
		.processId = (uint32_t)getpid(),
		.deviceId = e->ctx ? (uint32_t)e->ctx->device->ordinal : 0,
		.contextId = e->ctx ? e->ctx->uid : NONE,
		.streamId = e->stream ? e->stream->id : NONE,
		.name = e->name,
		.isAsync = e->async};

	if (!sim_wanted(CUPTI_ACTIVITY_KIND_MEMORY2))
		return;
	/* a variable of a module has no context and no stream, as in the real library */
	if (e->name)
		m.contextId = m.streamId = 0;
	if (e->pool)
		describe_pool(&m, e->pool);
	sim_buffers_append(&m, CUPTI_ACTIVITY_KIND_MEMORY2);
}

void sim_record_pool(uint32_t operation, CUmemoryPool pool)
{
	CUpti_ActivityMemoryPool3 p = {
		.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
		.memoryPoolOperationType = (CUpti_ActivityMemoryPoolOperationType)operation,
		.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
		.correlationId = sim_correlation(),
		.processId = (uint32_t)getpid(),
		.deviceId = (uint32_t)pool->device->ordinal,
		.address = (uint64_t)(uintptr_t)pool,
		.size = operation == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED
				? POOL_CHUNK_BYTES
				: 0,
		.releaseThreshold = pool->threshold_bytes,
		.timestamp = sim_now_ns(),
		.utilizedSize = pool->used_bytes,
	};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_MEMORY_POOL))
		sim_buffers_append(&p, CUPTI_ACTIVITY_KIND_MEMORY_POOL);
}

void sim_record_sync(const struct sim_sync_event *e)
{
	CUcontext ctx = sim_current();
	CUpti_ActivitySynchronization2 s = {
		.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		.type = (CUpti_ActivitySynchronizationType)e->type,
		.start = e->start,
		.end = e->end,
		.correlationId = sim_correlation(),
		.contextId = ctx ? ctx->uid : 0,
		.streamId = e->stream ? e->stream->id : NONE,
		.cudaEventId = e->event ? e->event->id : NONE,
		.cudaEventSyncId = e->event ? e->event->id : NONE,
		.returnValue = e->result,
	};

	/* Versions that do not know cuCtxSynchronize_v2 do not record its waits. */
	if (e->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE &&
	    sim_config()->cupti_version < 130000)
		return;
	if (sim_wanted(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) && sim_queries_are_wanted(e->result))
		sim_buffers_append(&s, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
}

void sim_record_event(CUevent event, CUstream stream)
{
	CUpti_ActivityCudaEvent2 e = {.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT,
				      .correlationId = sim_correlation(),
				      .contextId = stream->ctx->uid,
				      .streamId = stream->id,
				      .eventId = event->id,
				      .deviceId = (uint32_t)stream->ctx->device->ordinal,
				      .cudaEventSyncId = event->id};

	/*
	 * Later versions have a kind for events, but write no records if that kind is enabled
	 * alone.
	 */
	if (sim_wanted(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) &&
	    (sim_events_come_with_syncs() || sim_wanted(CUPTI_ACTIVITY_KIND_CUDA_EVENT)))
		sim_buffers_append(&e, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
}

/* Versions before 12.6 lack the overhead kinds from lazy loading on. */
static bool known_overhead(uint32_t kind)
{
	return kind <= CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE || sim_config()->cupti_version >= 24;
}

void sim_record_overhead(uint32_t kind, uint64_t start, uint64_t end)
{
	CUpti_ActivityOverhead3 o = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
				     .overheadKind = (CUpti_ActivityOverheadKind)kind,
				     .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
				     .start = start,
				     .end = end,
				     .correlationId = sim_correlation()};

	if (!sim_wanted(CUPTI_ACTIVITY_KIND_OVERHEAD) || !known_overhead(kind))
		return;
	o.objectId.pt.processId = (uint32_t)getpid();
	o.objectId.pt.threadId = sim_thread_id();
	sim_buffers_append(&o, CUPTI_ACTIVITY_KIND_OVERHEAD);
}

void sim_record_jit(const struct sim_jit_event *e)
{
	CUpti_ActivityJit2 j = {
		.kind = CUPTI_ACTIVITY_KIND_JIT,
		.jitEntryType = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
		.jitOperationType = (CUpti_ActivityJitOperationType)e->operation,
		.deviceId = e->ctx ? (uint32_t)e->ctx->device->ordinal : 0,
		.start = e->start,
		.end = e->end,
		.correlationId = sim_correlation(),
		.jitOperationCorrelationId = e->id,
		.processId = (uint32_t)getpid(),
		.threadId = sim_thread_id(),
	};

	if (e->operation != CUPTI_ACTIVITY_JIT_OPERATION_COMPILE) {
		j.cacheSize = JIT_CACHE_BYTES;
		j.cachePath = "/root/.nv/ComputeCache";
	}
	if (sim_wanted(CUPTI_ACTIVITY_KIND_JIT))
		sim_buffers_append(&j, CUPTI_ACTIVITY_KIND_JIT);
}

void sim_record_context(CUcontext ctx)
{
	struct {
		CUpti_ActivityContext3 older;
		uint64_t process; /* from 13.1 on */
	} c = {.older = {.kind = CUPTI_ACTIVITY_KIND_CONTEXT,
			 .contextId = ctx->uid,
			 .deviceId = (uint32_t)ctx->device->ordinal,
			 .computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA,
			 .nullStreamId = (uint16_t)ctx->legacy->id},
	       .process = (uint64_t)getpid()};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_CONTEXT))
		sim_buffers_append(&c, CUPTI_ACTIVITY_KIND_CONTEXT);
}

void sim_record_stream(CUstream stream)
{
	CUpti_ActivityStream s = {
		.kind = CUPTI_ACTIVITY_KIND_STREAM,
		.contextId = stream->ctx->uid,
		.streamId = stream->id,
		.priority = (uint32_t)stream->priority,
		.flag = stream->is_legacy ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL
			: stream->flags & CU_STREAM_NON_BLOCKING
				? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
				: CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
		.correlationId = sim_correlation(),
	};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_STREAM))
		sim_buffers_append(&s, CUPTI_ACTIVITY_KIND_STREAM);
}

/* The numbers of an H200.  The client frees the name. */
static void record_device(int ordinal)
{
	struct {
		CUpti_ActivityDevice5 older;
		uint32_t clusters, zero; /* from 13.2 on */
	} d = {.older = {.kind = CUPTI_ACTIVITY_KIND_DEVICE,
			 .flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS,
			 .globalMemoryBandwidth = 4814304000,
			 .globalMemorySize = sim_config()->memory_bytes,
			 .constantMemorySize = 65536,
			 .l2CacheSize = 62914560,
			 .numThreadsPerWarp = 32,
			 .coreClockRate = 1980000,
			 .numMemcpyEngines = 3,
			 .numMultiprocessors = 132,
			 .maxIPC = NONE,
			 .maxWarpsPerMultiprocessor = 64,
			 .maxBlocksPerMultiprocessor = 32,
			 .maxSharedMemoryPerMultiprocessor = 233472,
			 .maxRegistersPerMultiprocessor = 65536,
			 .maxRegistersPerBlock = 65536,
			 .maxSharedMemoryPerBlock = 49152,
			 .maxThreadsPerBlock = 1024,
			 .maxBlockDimX = 1024,
			 .maxBlockDimY = 1024,
			 .maxBlockDimZ = 64,
			 .maxGridDimX = 2147483647,
			 .maxGridDimY = 65535,
			 .maxGridDimZ = 65535,
			 .computeCapabilityMajor = 9,
			 .id = (uint32_t)ordinal,
			 .eccEnabled = 1,
			 .name = strdup("Simulated GPU"),
			 .isCudaVisible = 1,
			 .gpuInstanceId = NONE,
			 .computeInstanceId = NONE},
	       .clusters = 66};

	d.older.uuid = sim_device_uuid(ordinal);
	sim_buffers_append(&d, CUPTI_ACTIVITY_KIND_DEVICE);
}

void sim_record_devices(void)
{
	if (!sim_wanted(CUPTI_ACTIVITY_KIND_DEVICE))
		return;
	for (int i = 0; i < sim_config()->devices; i++)
		record_device(i);
}

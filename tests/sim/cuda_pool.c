/* libcuda: stream-ordered allocation, memory pools, virtual memory management. */
#include "tests/sim/driver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULARITY ((size_t)2 << 20)

/* CUpti_ActivityMemoryPoolOperationType */
#define POOL_CREATED   1u
#define POOL_DESTROYED 2u
#define POOL_TRIMMED   3u

static void tell_pool(uint32_t operation, CUmemoryPool pool)
{
	if (sim_tools.pool)
		sim_tools.pool(operation, pool);
}

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

static CUmemoryPool new_pool(struct sim_device *device)
{
	CUmemoryPool pool = calloc(1, sizeof(*pool));

	pool->device = device;
	pthread_mutex_lock(&pools_lock);
	pool->next = device->pools;
	device->pools = pool;
	pthread_mutex_unlock(&pools_lock);
	tell_pool(POOL_CREATED, pool);
	return pool;
}

static CUmemoryPool default_pool(struct sim_device *device)
{
	if (!device->default_pool)
		device->default_pool = new_pool(device);
	return device->default_pool;
}

void sim_drv_trim_pools(struct sim_device *device, bool always)
{
	if (!atomic_exchange(&device->pools_freed, false) && !always)
		return;
	pthread_mutex_lock(&pools_lock);
	for (CUmemoryPool pool = device->pools; pool; pool = pool->next)
		if (!pool->dead)
			tell_pool(POOL_TRIMMED, pool);
	pthread_mutex_unlock(&pools_lock);
}

static CUmemoryPool current_pool(struct sim_device *device)
{
	return device->current_pool ? device->current_pool : default_pool(device);
}

static void report(const struct sim_range *r, bool release, CUstream stream)
{
	struct sim_memory_event e = {.release = release,
				     .kind = (uint8_t)r->kind,
				     .address = r->start,
				     .bytes = r->bytes,
				     .ctx = r->ctx,
				     .stream = stream,
				     .async = true,
				     .pool = r->pool};

	sim_tell_memory(&e);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool,
				     CUstream hStream)
{
	struct sim_range range;
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (!bytesize || !pool)
		return CUDA_ERROR_INVALID_VALUE;
	r = sim_memory_alloc(s->ctx, SIM_MEMORY_DEVICE, bytesize, s->capture ? NULL : pool, &range);
	if (r)
		return r;
	/* memory of the graph: it has an address, and no allocation is reported */
	if (s->capture) {
		sim_capture_add(s, CU_GRAPH_NODE_TYPE_MEM_ALLOC);
		*dptr = range.start;
		return CUDA_SUCCESS;
	}
	pool->used_bytes += bytesize;
	if (pool->used_bytes > pool->high_bytes)
		pool->high_bytes = pool->used_bytes;
	report(&range, false, s);
	*dptr = range.start;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	return r ? r
		 : sim_cuMemAllocFromPoolAsync(dptr, bytesize, current_pool(s->ctx->device),
					       hStream);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream)
{
	struct sim_range range;
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (!dptr)
		return CUDA_SUCCESS;
	if (s->capture) {
		sim_capture_add(s, CU_GRAPH_NODE_TYPE_MEM_FREE);
		return CUDA_SUCCESS;
	}
	r = sim_memory_free(dptr, &range);
	if (r)
		return r;
	report(&range, true, s);
	if (range.pool) {
		range.pool->used_bytes -= range.bytes;
		range.device->pools_freed = true;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	struct sim_device *device = sim_device(poolProps->location.id);

	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*pool = new_pool(device);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
	if (!pool || pool == pool->device->default_pool)
		return CUDA_ERROR_INVALID_VALUE;
	if (pool->device->current_pool == pool)
		pool->device->current_pool = NULL;
	pool->dead = true; /* not freed: ranges of the pool may still be in use */
	tell_pool(POOL_DESTROYED, pool);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
	(void)minBytesToKeep;
	tell_pool(POOL_TRIMMED, pool);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		pool->threshold_bytes = *(cuuint64_t *)value;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	switch (attr) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = pool->threshold_bytes;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = pool->used_bytes;
		break;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = pool->high_bytes;
		break;
	default:
		*(int *)value = 1;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	(void)map;
	(void)count;
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool_out, CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = default_pool(device);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = current_pool(device);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	device->current_pool = pool;
	return CUDA_SUCCESS;
}

/* ---- virtual memory management: a handle is a memory file, a mapping a mapping of it -----------
 */

struct physical {
	int fd;
	size_t bytes;
	struct sim_device *device;
	_Atomic int uses; /* number of references: the handle itself and its mappings */
};

static void drop(struct physical *p)
{
	if (--p->uses)
		return;
	p->device->used_bytes -= p->bytes;
	close(p->fd);
	free(p);
}

/* Reports a mapping to the tools once it is usable. */
static void report_mapping(CUdeviceptr ptr, size_t size, bool release)
{
	struct sim_memory_event e = {
		.release = release, .kind = SIM_MEMORY_DEVICE, .address = ptr, .bytes = size};

	sim_tell_memory(&e);
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
					   CUmemAllocationGranularity_flags option)
{
	(void)prop;
	(void)option;
	*granularity = GRANULARITY;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
				 unsigned long long flags)
{
	void *p;

	(void)alignment;
	(void)addr;
	(void)flags;
	if (!size || size % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	p = sim_reserve(size);
	*ptr = (CUdeviceptr)(uintptr_t)p;
	return p ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	return munmap((void *)(uintptr_t)ptr, size) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* A memory file of this size; -1: out of memory. */
static int new_file(size_t size)
{
	int fd = memfd_create("gpusim", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, (off_t)size)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
			 const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct sim_device *device = sim_device(prop->location.id);
	struct physical *p;
	int fd;

	(void)flags;
	if (!device || !size || size % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_memory_charge(device, size))
		return CUDA_ERROR_OUT_OF_MEMORY;
	fd = new_file(size);
	if (fd < 0) {
		device->used_bytes -= size;
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	p = calloc(1, sizeof(*p));
	*p = (struct physical){.fd = fd, .bytes = size, .device = device, .uses = 1};
	*handle = (CUmemGenericAllocationHandle)(uintptr_t)p;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	drop((struct physical *)(uintptr_t)handle);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct physical *p = (struct physical *)(uintptr_t)handle;
	struct sim_range range = {.start = ptr,
				  .bytes = size,
				  .kind = SIM_MEMORY_DEVICE,
				  .mapped = true,
				  .device = p->device,
				  .ctx = sim_current(),
				  .physical = p};

	(void)flags;
	if (sim_memory_register(&range))
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap((void *)(uintptr_t)ptr, size, PROT_NONE, MAP_SHARED | MAP_FIXED, p->fd,
		 (off_t)offset) == MAP_FAILED)
		return CUDA_ERROR_MAP_FAILED;
	p->uses++;
	return CUDA_SUCCESS;
}

/* Removes all mappings from ptr on, which must cover exactly size bytes. */
CUresult sim_cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	for (CUdeviceptr at = ptr; at < ptr + size;) {
		struct sim_range range;

		if (!sim_memory_find(at, &range) || !range.physical || sim_memory_free(at, &range))
			return CUDA_ERROR_INVALID_VALUE;
		if (mmap((void *)(uintptr_t)at, range.bytes, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			 0) == MAP_FAILED)
			return CUDA_ERROR_INVALID_VALUE;
		drop(range.physical);
		report_mapping(at, range.bytes, true);
		at += range.bytes;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
	int protection = count && desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE
				 ? PROT_READ | PROT_WRITE
				 : PROT_READ;

	if (mprotect((void *)(uintptr_t)ptr, size, protection))
		return CUDA_ERROR_INVALID_VALUE;
	report_mapping(ptr, size, false);
	return CUDA_SUCCESS;
}

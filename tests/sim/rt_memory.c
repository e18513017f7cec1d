/* libcudart: allocations, pools, pointers. */
#include "tests/sim/memory.h"
#include "tests/sim/runtime.h"

#include <string.h>

cudaError_t sim_cudaMalloc(void **devPtr, size_t size)
{
	CUdeviceptr p = 0;
	CUresult r;

	if (!devPtr)
		return cudaErrorInvalidValue;
	*devPtr = NULL;
	if (!size)
		return cudaSuccess;
	r = cuMemAlloc(&p, size);
	*devPtr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaFree(void *devPtr)
{
	return sim_rt_result(cuMemFree(sim_rt_pointer(devPtr)));
}

cudaError_t sim_cudaMallocHost(void **ptr, size_t size)
{
	return sim_rt_result(cuMemHostAlloc(ptr, size, 0));
}

cudaError_t sim_cudaHostAlloc(void **pHost, size_t size, unsigned int flags)
{
	return sim_rt_result(cuMemHostAlloc(pHost, size, flags));
}

cudaError_t sim_cudaFreeHost(void *ptr)
{
	return sim_rt_result(cuMemFreeHost(ptr));
}

cudaError_t sim_cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	return sim_rt_result(cuMemHostRegister(ptr, size, flags));
}

cudaError_t sim_cudaHostUnregister(void *ptr)
{
	return sim_rt_result(cuMemHostUnregister(ptr));
}

cudaError_t sim_cudaHostGetDevicePointer(void **pDevice, void *pHost, unsigned int flags)
{
	CUdeviceptr p = 0;
	CUresult r = cuMemHostGetDevicePointer(&p, pHost, flags);

	*pDevice = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaHostGetFlags(unsigned int *pFlags, void *pHost)
{
	return sim_rt_result(cuMemHostGetFlags(pFlags, pHost));
}

cudaError_t sim_cudaMallocManaged(void **devPtr, size_t size, unsigned int flags)
{
	CUdeviceptr p = 0;
	CUresult r = cuMemAllocManaged(&p, size, flags);

	*devPtr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr p = 0;
	CUresult r = cuMemAllocPitch(&p, pitch, width, height, 4);

	*devPtr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaMalloc3D(struct cudaPitchedPtr *pitchedDevPtr, struct cudaExtent extent)
{
	pitchedDevPtr->xsize = extent.width;
	pitchedDevPtr->ysize = extent.height;
	return sim_cudaMallocPitch(&pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width,
				   extent.height * extent.depth);
}

cudaError_t sim_cudaMemGetInfo(size_t *free, size_t *total)
{
	return sim_rt_result(cuMemGetInfo(free, total));
}

cudaError_t sim_cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
	CUdeviceptr p = 0;
	CUresult r = cuMemAllocAsync(&p, size, hStream);

	*devPtr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
	return sim_rt_result(cuMemFreeAsync(sim_rt_pointer(devPtr), hStream));
}

cudaError_t sim_cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
					cudaStream_t stream)
{
	CUdeviceptr p = 0;
	CUresult r = cuMemAllocFromPoolAsync(&p, size, memPool, stream);

	*ptr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
	return sim_rt_result(cuMemPoolCreate(memPool, (const CUmemPoolProps *)poolProps));
}

cudaError_t sim_cudaMemPoolDestroy(cudaMemPool_t memPool)
{
	return sim_rt_result(cuMemPoolDestroy(memPool));
}

cudaError_t sim_cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
	return sim_rt_result(cuMemPoolTrimTo(memPool, minBytesToKeep));
}

cudaError_t sim_cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
					void *value)
{
	return sim_rt_result(cuMemPoolSetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t sim_cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
					void *value)
{
	return sim_rt_result(cuMemPoolGetAttribute(memPool, (CUmemPool_attribute)attr, value));
}

cudaError_t sim_cudaMemPoolSetAccess(cudaMemPool_t memPool,
				     const struct cudaMemAccessDesc *descList, size_t count)
{
	return sim_rt_result(cuMemPoolSetAccess(memPool, (const CUmemAccessDesc *)descList, count));
}

cudaError_t sim_cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
	return sim_rt_result(cuDeviceGetDefaultMemPool(memPool, device));
}

cudaError_t sim_cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
	return sim_rt_result(cuDeviceGetMemPool(memPool, device));
}

cudaError_t sim_cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
	return sim_rt_result(cuDeviceSetMemPool(device, memPool));
}

static enum cudaMemoryType runtime_type(const struct sim_range *range)
{
	if (range->kind == SIM_MEMORY_MANAGED)
		return cudaMemoryTypeManaged;
	return range->kind == SIM_MEMORY_PINNED ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
}

cudaError_t sim_cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *ptr)
{
	struct sim_range range;

	memset(a, 0, sizeof(*a));
	a->type = cudaMemoryTypeUnregistered;
	a->device = cudaInvalidDeviceId;
	a->hostPointer = (void *)(uintptr_t)ptr;
	if (!sim_memory_find((uintptr_t)ptr, &range))
		return cudaSuccess;
	a->type = runtime_type(&range);
	a->device = range.device->ordinal;
	a->devicePointer = (void *)(uintptr_t)ptr;
	if (range.kind == SIM_MEMORY_DEVICE)
		a->hostPointer = NULL;
	return cudaSuccess;
}

cudaError_t sim_cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
			      struct cudaMemLocation location)
{
	CUmemLocation l = {.type = (CUmemLocationType)location.type, .id = location.id};

	return sim_rt_result(
		cuMemAdvise_v2(sim_rt_pointer(devPtr), count, (CUmem_advise)advice, l));
}

cudaError_t sim_cudaMemPrefetchAsync(const void *devPtr, size_t count,
				     struct cudaMemLocation location, unsigned int flags,
				     cudaStream_t stream)
{
	CUmemLocation l = {.type = (CUmemLocationType)location.type, .id = location.id};

	return sim_rt_result(
		cuMemPrefetchAsync_v2(sim_rt_pointer(devPtr), count, l, flags, stream));
}

cudaError_t sim_cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr)
{
	return sim_rt_result(cuIpcGetMemHandle((CUipcMemHandle *)handle, sim_rt_pointer(devPtr)));
}

cudaError_t sim_cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags)
{
	CUipcMemHandle h;
	CUdeviceptr p = 0;
	CUresult r;

	memcpy(&h, &handle, sizeof(h));
	r = cuIpcOpenMemHandle(&p, h, flags);
	*devPtr = (void *)(uintptr_t)p;
	return sim_rt_result(r);
}

cudaError_t sim_cudaIpcCloseMemHandle(void *devPtr)
{
	return sim_rt_result(cuIpcCloseMemHandle(sim_rt_pointer(devPtr)));
}

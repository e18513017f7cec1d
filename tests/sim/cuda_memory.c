/* libcuda: device, pinned, managed and registered memory; pointer attributes. */
#include "tests/sim/driver.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PITCH_ALIGNMENT 512

void sim_drv_report_memory(const struct sim_range *r, bool release)
{
	struct sim_memory_event e = {.release = release,
				     .kind = (uint8_t)r->kind,
				     .address = r->start,
				     .bytes = r->bytes,
				     .ctx = r->ctx};

	sim_tell_memory(&e);
}

CUresult sim_drv_allocate(enum sim_memory_kind kind, size_t bytes, struct sim_range *range)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (!r)
		r = bytes ? sim_memory_alloc(ctx, kind, bytes, NULL, range)
			  : CUDA_ERROR_INVALID_VALUE;
	if (!r)
		sim_drv_report_memory(range, false);
	else if (r == CUDA_ERROR_OUT_OF_MEMORY)
		sim_drv_trim_pools(ctx->device, true);
	return r;
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct sim_range range;
	CUresult r = sim_drv_allocate(SIM_MEMORY_DEVICE, bytesize, &range);

	if (!r)
		*dptr = range.start;
	return r;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
				size_t Height, unsigned int ElementSizeBytes)
{
	size_t pitch = (WidthInBytes + PITCH_ALIGNMENT - 1) & ~(size_t)(PITCH_ALIGNMENT - 1);

	(void)ElementSizeBytes;
	*pPitch = pitch;
	return sim_cuMemAlloc_v2(dptr, pitch * Height);
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	struct sim_range range;
	static _Atomic bool used;
	CUresult r;

	(void)flags;
	if (!atomic_exchange(&used, true))
		sim_tell_overhead(CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT, sim_now_ns(),
				  sim_now_ns());
	r = sim_drv_allocate(SIM_MEMORY_MANAGED, bytesize, &range);
	if (r)
		return r;
	sim_drv_managed_add(&range);
	*dptr = range.start;
	return CUDA_SUCCESS;
}

static CUresult release(uintptr_t start, bool host)
{
	struct sim_range range;

	if (!start)
		return CUDA_SUCCESS;
	if (!sim_memory_find(start, &range) || range.registered || range.mapped ||
	    (range.kind == SIM_MEMORY_PINNED) != host || range.kind == SIM_MEMORY_ARRAY)
		return CUDA_ERROR_INVALID_VALUE;
	/* Like in the driver, a free waits for the work that may use the memory. */
	if (!range.ctx->dead)
		sim_context_wait(range.ctx);
	if (range.kind == SIM_MEMORY_MANAGED)
		sim_drv_managed_remove(start); /* before the memory is freed */
	if (sim_memory_free(start, &range))
		return CUDA_ERROR_INVALID_VALUE;
	if (range.pool)
		range.pool->used_bytes -= range.bytes;
	sim_drv_report_memory(&range, true);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemFree_v2(CUdeviceptr dptr)
{
	return release(dptr, false);
}

CUresult sim_cuMemFreeHost(void *p)
{
	return release((uintptr_t)p, true);
}

CUresult sim_cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags)
{
	struct sim_range range;
	CUresult r = sim_drv_allocate(SIM_MEMORY_PINNED, bytesize, &range);

	(void)Flags;
	if (!r)
		*pp = (void *)range.start;
	return r;
}

CUresult sim_cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	return sim_cuMemHostAlloc(pp, bytesize, 0);
}

CUresult sim_cuMemHostRegister_v2(void *p, size_t bytesize, unsigned int Flags)
{
	struct sim_range range = {.start = (uintptr_t)p,
				  .bytes = bytesize,
				  .kind = SIM_MEMORY_PINNED,
				  .registered = true,
				  .flags = Flags};
	CUresult r = sim_drv_context(&range.ctx);

	if (r)
		return r;
	if (!p || !bytesize)
		return CUDA_ERROR_INVALID_VALUE;
	range.device = range.ctx->device;
	r = sim_memory_register(&range);
	if (!r)
		sim_drv_report_memory(&range, false);
	return r;
}

CUresult sim_cuMemHostUnregister(void *p)
{
	struct sim_range range;

	if (!sim_memory_find((uintptr_t)p, &range) || !range.registered)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	if (sim_memory_free((uintptr_t)p, &range))
		return CUDA_ERROR_INVALID_VALUE;
	sim_drv_report_memory(&range, true);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	(void)Flags;
	*pdptr = (CUdeviceptr)(uintptr_t)p;
	return sim_memory_kind((uintptr_t)p) == SIM_MEMORY_PINNED ? CUDA_SUCCESS
								  : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuMemHostGetFlags(unsigned int *pFlags, void *p)
{
	struct sim_range range;

	if (!sim_memory_find((uintptr_t)p, &range) || range.kind != SIM_MEMORY_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = range.flags;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *free, size_t *total)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (r)
		return r;
	*total = sim_config()->memory_bytes;
	*free = *total > ctx->device->used_bytes ? *total - ctx->device->used_bytes : 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct sim_range range;

	if (!sim_memory_find(dptr, &range))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = range.start;
	if (psize)
		*psize = range.bytes;
	return CUDA_SUCCESS;
}

static CUmemorytype memory_type(const struct sim_range *range)
{
	return range->kind == SIM_MEMORY_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUresult sim_cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct sim_range range;

	if (!sim_memory_find(ptr, &range))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = range.ctx;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = memory_type(&range);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(void **)data = (void *)(uintptr_t)ptr;
		return range.kind == SIM_MEMORY_DEVICE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)data = range.kind == SIM_MEMORY_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = range.device->ordinal;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = range.start;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = range.bytes;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

/* libcuda: devices, primary and other contexts. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

CUresult sim_drv_context(CUcontext *ctx)
{
	*ctx = sim_current();
	return *ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuDeviceGetCount(int *count)
{
	*count = sim_config()->devices;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return sim_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetName(char *name, int len, CUdevice dev)
{
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)len, "Simulated GPU");
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	*bytes = sim_config()->memory_bytes;
	return sim_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	*uuid = sim_device_uuid(dev);
	return sim_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	return sim_cuDeviceGetUuid_v2(uuid, dev);
}

CUresult sim_cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev)
{
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", dev + 1);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId)
{
	unsigned int bus;

	if (sscanf(pciBusId, "%*x:%x:", &bus) != 1 || !sim_device((int)bus - 1))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = (CUdevice)bus - 1;
	return CUDA_SUCCESS;
}

#define ATTRIBUTE(name, value) [CU_DEVICE_ATTRIBUTE_##name] = value

/* Of an H200. */
static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
	ATTRIBUTE(MAX_THREADS_PER_BLOCK, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_X, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Y, 1024),
	ATTRIBUTE(MAX_BLOCK_DIM_Z, 64),
	ATTRIBUTE(MAX_GRID_DIM_X, 2147483647),
	ATTRIBUTE(MAX_GRID_DIM_Y, 65535),
	ATTRIBUTE(MAX_GRID_DIM_Z, 65535),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK, 49152),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448),
	ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472),
	ATTRIBUTE(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024),
	ATTRIBUTE(TOTAL_CONSTANT_MEMORY, 65536),
	ATTRIBUTE(WARP_SIZE, 32),
	ATTRIBUTE(MAX_PITCH, 2147483647),
	ATTRIBUTE(MAX_REGISTERS_PER_BLOCK, 65536),
	ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536),
	ATTRIBUTE(CLOCK_RATE, 1980000),
	ATTRIBUTE(MEMORY_CLOCK_RATE, 3201000),
	ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH, 6144),
	ATTRIBUTE(L2_CACHE_SIZE, 62914560),
	ATTRIBUTE(MULTIPROCESSOR_COUNT, 132),
	ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR, 2048),
	ATTRIBUTE(MAX_BLOCKS_PER_MULTIPROCESSOR, 32),
	ATTRIBUTE(TEXTURE_ALIGNMENT, 512),
	ATTRIBUTE(TEXTURE_PITCH_ALIGNMENT, 32),
	ATTRIBUTE(SURFACE_ALIGNMENT, 512),
	ATTRIBUTE(GPU_OVERLAP, 1),
	ATTRIBUTE(ASYNC_ENGINE_COUNT, 3),
	ATTRIBUTE(CAN_MAP_HOST_MEMORY, 1),
	ATTRIBUTE(CONCURRENT_KERNELS, 1),
	ATTRIBUTE(UNIFIED_ADDRESSING, 1),
	ATTRIBUTE(COMPUTE_CAPABILITY_MAJOR, 9),
	ATTRIBUTE(COMPUTE_CAPABILITY_MINOR, 0),
	ATTRIBUTE(STREAM_PRIORITIES_SUPPORTED, 1),
	ATTRIBUTE(GLOBAL_L1_CACHE_SUPPORTED, 1),
	ATTRIBUTE(LOCAL_L1_CACHE_SUPPORTED, 1),
	ATTRIBUTE(MANAGED_MEMORY, 1),
	ATTRIBUTE(CONCURRENT_MANAGED_ACCESS, 1),
	ATTRIBUTE(PAGEABLE_MEMORY_ACCESS, 0),
	ATTRIBUTE(COMPUTE_PREEMPTION_SUPPORTED, 1),
	ATTRIBUTE(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1),
	ATTRIBUTE(COOPERATIVE_LAUNCH, 1),
	ATTRIBUTE(HOST_REGISTER_SUPPORTED, 1),
	ATTRIBUTE(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1),
	ATTRIBUTE(MEMORY_POOLS_SUPPORTED, 1),
	ATTRIBUTE(CLUSTER_LAUNCH, 1),
	ATTRIBUTE(ECC_ENABLED, 1),
};

CUresult sim_cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (attrib < 1 || attrib >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	*pi = attributes[attrib];
	if (attrib == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*pi = dev + 1;
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev)
{
	if (!sim_device(dev) || !sim_device(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags)
{
	return peerContext && !Flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuCtxDisablePeerAccess(CUcontext peerContext)
{
	return peerContext ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	return device ? sim_primary_retain(device, pctx) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	return device ? sim_primary_release(device, false) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	return device ? sim_primary_release(device, true) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = device->primary ? device->primary->flags : 0;
	*active = device->primary != NULL;
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	struct sim_device *device = sim_device(dev);

	if (device && device->primary)
		device->primary->flags = flags;
	return device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	*pctx = sim_context_create(device, flags);
	sim_push_current(*pctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams, unsigned int flags,
			    CUdevice dev)
{
	return ctxCreateParams ? CUDA_ERROR_NOT_SUPPORTED : sim_cuCtxCreate_v2(pctx, flags, dev);
}

CUresult sim_cuCtxDestroy_v2(CUcontext ctx)
{
	if (!ctx || ctx->dead)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_destroy(ctx);
	if (!sim_current())
		sim_pop_current();
	return CUDA_SUCCESS;
}

/* The driver's memory of a destroyed context is free: it crashes sooner or later. */
CUresult sim_cuCtxPushCurrent_v2(CUcontext ctx)
{
	if (ctx && ctx->dead)
		abort();
	sim_push_current(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *pctx)
{
	CUcontext ctx = sim_pop_current();

	if (pctx)
		*pctx = ctx;
	return ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxSetCurrent(CUcontext ctx)
{
	sim_set_current(ctx);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetCurrent(CUcontext *pctx)
{
	*pctx = sim_current();
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (!r)
		*device = ctx->device->ordinal;
	return r;
}

CUresult sim_cuCtxGetId(CUcontext ctx, unsigned long long *ctxId)
{
	if (!ctx)
		ctx = sim_current();
	*ctxId = ctx ? ctx->uid : 0;
	return ctx ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult sim_cuCtxGetFlags(unsigned int *flags)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (!r)
		*flags = ctx->flags;
	return r;
}

CUresult sim_cuCtxGetApiVersion(CUcontext ctx, unsigned int *version)
{
	(void)ctx;
	*version = 3020;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	if (leastPriority)
		*leastPriority = 0;
	if (greatestPriority)
		*greatestPriority = -5;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSetLimit(CUlimit limit, size_t value)
{
	(void)limit;
	(void)value;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetLimit(size_t *pvalue, CUlimit limit)
{
	*pvalue = limit == CU_LIMIT_STACK_SIZE ? 1024 : 8 << 20;
	return CUDA_SUCCESS;
}

static CUresult synchronize(CUcontext ctx)
{
	uint64_t start = sim_now_ns();

	if (sim_context_fails(ctx))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	sim_context_wait(ctx);
	sim_drv_trim_pools(ctx->device, false);
	sim_drv_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, NULL, NULL, start);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	return r ? r : synchronize(ctx);
}

CUresult sim_cuCtxSynchronize_v2(CUcontext ctx)
{
	return ctx ? synchronize(ctx) : sim_cuCtxSynchronize();
}

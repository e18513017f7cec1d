/* libcudart: devices, versions, entry points. */
#include "tests/sim/runtime.h"

#include <cuda.h>
#include <cudaProfiler.h>
#include <stdio.h>
#include <string.h>

cudaError_t sim_cudaGetDeviceCount(int *count)
{
	return sim_rt_result(cuDeviceGetCount(count));
}

cudaError_t sim_cudaGetDevice(int *device)
{
	*device = sim_current() ? sim_current()->device->ordinal : sim_rt_device();
	return cudaSuccess;
}

cudaError_t sim_cudaSetDevice(int device)
{
	return sim_rt_set_device(device);
}

cudaError_t sim_cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags)
{
	(void)deviceFlags;
	(void)flags;
	return sim_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t sim_cudaSetDeviceFlags(unsigned int flags)
{
	(void)flags;
	return cudaSuccess;
}

cudaError_t sim_cudaGetDeviceFlags(unsigned int *flags)
{
	*flags = 0;
	return cudaSuccess;
}

cudaError_t sim_cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
	return sim_rt_result(cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device));
}

static int attribute(CUdevice_attribute attr, int device)
{
	int value = 0;

	cuDeviceGetAttribute(&value, attr, device);
	return value;
}

cudaError_t sim_cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	if (!sim_device(device))
		return cudaErrorInvalidDevice;
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "Simulated GPU");
	cuDeviceGetUuid((CUuuid *)&p->uuid, device);
	p->totalGlobalMem = sim_config()->memory_bytes;
	p->major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	p->minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	p->sharedMemPerBlock =
		(size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
	p->sharedMemPerMultiprocessor =
		(size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, device);
	p->regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device);
	p->warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
	p->maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
	p->maxThreadsPerMultiProcessor =
		attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
	p->multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	p->l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
	p->memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
	p->concurrentKernels = 1;
	p->asyncEngineCount = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, device);
	p->unifiedAddressing = 1;
	p->managedMemory = 1;
	p->concurrentManagedAccess = 1;
	p->canMapHostMemory = 1;
	p->cooperativeLaunch = 1;
	p->memoryPoolsSupported = 1;
	p->streamPrioritiesSupported = 1;
	p->pciBusID = device + 1;
	p->totalConstMem = 65536;
	p->memPitch = 2147483647;
	p->textureAlignment = 512;
	for (int i = 0; i < 3; i++) {
		p->maxThreadsDim[i] = i < 2 ? 1024 : 64;
		p->maxGridSize[i] = i ? 65535 : 2147483647;
	}
	return cudaSuccess;
}

cudaError_t sim_cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
	(void)prop;
	*device = 0;
	return cudaSuccess;
}

cudaError_t sim_cudaDriverGetVersion(int *driverVersion)
{
	return sim_rt_result(cuDriverGetVersion(driverVersion));
}

cudaError_t sim_cudaRuntimeGetVersion(int *runtimeVersion)
{
	*runtimeVersion = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t sim_cudaDeviceSynchronize(void)
{
	return sim_rt_result(cuCtxSynchronize_v2(NULL));
}

cudaError_t sim_cudaDeviceReset(void)
{
	CUresult r = cuDevicePrimaryCtxReset(sim_rt_device());

	sim_set_current(NULL);
	return sim_rt_result(r);
}

cudaError_t sim_cudaDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
	return sim_rt_result(cuDeviceGetPCIBusId(pciBusId, len, device));
}

cudaError_t sim_cudaDeviceGetByPCIBusId(int *device, const char *pciBusId)
{
	return sim_rt_result(cuDeviceGetByPCIBusId(device, pciBusId));
}

cudaError_t sim_cudaDeviceGetStreamPriorityRange(int *leastPriority, int *greatestPriority)
{
	return sim_rt_result(cuCtxGetStreamPriorityRange(leastPriority, greatestPriority));
}

cudaError_t sim_cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	return sim_rt_result(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t sim_cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit)
{
	return sim_rt_result(cuCtxGetLimit(pValue, (CUlimit)limit));
}

cudaError_t sim_cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig)
{
	(void)cacheConfig;
	return cudaSuccess;
}

cudaError_t sim_cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
	return sim_rt_result(cuDeviceCanAccessPeer(canAccessPeer, device, peerDevice));
}

cudaError_t sim_cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
	CUcontext peer;

	if (!sim_device(peerDevice))
		return cudaErrorInvalidDevice;
	sim_primary_retain(sim_device(peerDevice), &peer);
	return sim_rt_result(cuCtxEnablePeerAccess(peer, flags));
}

cudaError_t sim_cudaDeviceDisablePeerAccess(int peerDevice)
{
	struct sim_device *device = sim_device(peerDevice);

	if (!device)
		return cudaErrorInvalidDevice;
	return sim_rt_result(cuCtxDisablePeerAccess(device->primary));
}

cudaError_t sim_cudaProfilerStart(void)
{
	return sim_rt_result(cuProfilerStart());
}

cudaError_t sim_cudaProfilerStop(void)
{
	return sim_rt_result(cuProfilerStop());
}

cudaError_t sim_cudaGetDriverEntryPointByVersion(const char *symbol, void **funcPtr,
						 unsigned int cudaVersion, unsigned long long flags,
						 enum cudaDriverEntryPointQueryResult *driverStatus)
{
	CUdriverProcAddressQueryResult status;
	CUresult r = cuGetProcAddress(symbol, funcPtr, (int)cudaVersion, flags, &status);

	if (driverStatus)
		*driverStatus = (enum cudaDriverEntryPointQueryResult)status;
	return sim_rt_result(r);
}

cudaError_t sim_cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
					unsigned long long flags,
					enum cudaDriverEntryPointQueryResult *driverStatus)
{
	return sim_cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags,
						    driverStatus);
}

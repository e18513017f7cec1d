/* libcudart: streams, events, launches. */
#include "tests/sim/runtime.h"

#include <cuda.h>
#include <string.h>

#define MOST_ATTRIBUTES 16 /* of a launch; more than there are kinds */

cudaError_t sim_cudaStreamCreate(cudaStream_t *pStream)
{
	return sim_rt_result(cuStreamCreate(pStream, 0));
}

cudaError_t sim_cudaStreamCreateWithFlags(cudaStream_t *pStream, unsigned int flags)
{
	return sim_rt_result(cuStreamCreate(pStream, flags));
}

cudaError_t sim_cudaStreamCreateWithPriority(cudaStream_t *pStream, unsigned int flags,
					     int priority)
{
	return sim_rt_result(cuStreamCreateWithPriority(pStream, flags, priority));
}

cudaError_t sim_cudaStreamDestroy(cudaStream_t stream)
{
	return sim_rt_result(cuStreamDestroy(stream));
}

cudaError_t sim_cudaStreamGetFlags(cudaStream_t hStream, unsigned int *flags)
{
	return sim_rt_result(cuStreamGetFlags(hStream, flags));
}

cudaError_t sim_cudaStreamGetPriority(cudaStream_t hStream, int *priority)
{
	return sim_rt_result(cuStreamGetPriority(hStream, priority));
}

cudaError_t sim_cudaStreamGetId(cudaStream_t hStream, unsigned long long *streamId)
{
	return sim_rt_result(cuStreamGetId(hStream, streamId));
}

cudaError_t sim_cudaStreamGetDevice(cudaStream_t hStream, int *device)
{
	return sim_rt_result(cuStreamGetDevice(hStream, device));
}

cudaError_t sim_cudaStreamQuery(cudaStream_t stream)
{
	return sim_rt_result(cuStreamQuery(stream));
}

cudaError_t sim_cudaStreamSynchronize(cudaStream_t stream)
{
	return sim_rt_result(cuStreamSynchronize(stream));
}

cudaError_t sim_cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	return sim_rt_result(cuStreamWaitEvent(stream, event, flags));
}

cudaError_t sim_cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
				      void *userData, unsigned int flags)
{
	return sim_rt_result(
		cuStreamAddCallback(stream, (CUstreamCallback)(void *)callback, userData, flags));
}

cudaError_t sim_cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *userData)
{
	return sim_rt_result(cuLaunchHostFunc(stream, fn, userData));
}

cudaError_t sim_cudaEventCreate(cudaEvent_t *event)
{
	return sim_rt_result(cuEventCreate(event, 0));
}

cudaError_t sim_cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	return sim_rt_result(cuEventCreate(event, flags));
}

cudaError_t sim_cudaEventDestroy(cudaEvent_t event)
{
	return sim_rt_result(cuEventDestroy(event));
}

cudaError_t sim_cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return sim_rt_result(cuEventRecord(event, stream));
}

cudaError_t sim_cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
	return sim_rt_result(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t sim_cudaEventQuery(cudaEvent_t event)
{
	return sim_rt_result(cuEventQuery(event));
}

cudaError_t sim_cudaEventSynchronize(cudaEvent_t event)
{
	return sim_rt_result(cuEventSynchronize(event));
}

cudaError_t sim_cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
	return sim_rt_result(cuEventElapsedTime_v2(ms, start, end));
}

cudaError_t sim_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
				 size_t sharedMem, cudaStream_t stream)
{
	CUkernel kernel = sim_rt_kernel(func);

	if (!kernel)
		return cudaErrorInvalidResourceHandle;
	return sim_rt_result(cuLaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z,
					    blockDim.x, blockDim.y, blockDim.z,
					    (unsigned int)sharedMem, stream, args, NULL));
}

cudaError_t sim_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
					    void **args, size_t sharedMem, cudaStream_t stream)
{
	CUkernel kernel = sim_rt_kernel(func);

	if (!kernel)
		return cudaErrorInvalidResourceHandle;
	return sim_rt_result(cuLaunchCooperativeKernel(
		(CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
		blockDim.z, (unsigned int)sharedMem, stream, args));
}

cudaError_t sim_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
	CUkernel kernel = sim_rt_kernel(func);
	CUlaunchAttribute attributes[MOST_ATTRIBUTES + 1];
	CUlaunchConfig c = {0};

	if (!kernel)
		return cudaErrorInvalidResourceHandle;
	if (config->numAttrs > MOST_ATTRIBUTES)
		return cudaErrorInvalidValue;
	/* the runtime always passes the cooperative attribute; of several, the last one counts */
	attributes[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE};
	if (config->numAttrs > 0) /* same layout */
		memcpy(&attributes[1], config->attrs, config->numAttrs * sizeof(attributes[0]));
	c.gridDimX = config->gridDim.x;
	c.gridDimY = config->gridDim.y;
	c.gridDimZ = config->gridDim.z;
	c.blockDimX = config->blockDim.x;
	c.blockDimY = config->blockDim.y;
	c.blockDimZ = config->blockDim.z;
	c.sharedMemBytes = (unsigned int)config->dynamicSmemBytes;
	c.hStream = config->stream;
	c.attrs = attributes;
	c.numAttrs = config->numAttrs + 1;
	return sim_rt_result(cuLaunchKernelEx(&c, (CUfunction)kernel, args, NULL));
}

cudaError_t sim_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
	return __cudaGetKernel(kernelPtr, entryFuncAddr);
}

cudaError_t sim_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
	CUkernel kernel = sim_rt_kernel(symbolPtr);

	*functionPtr = (cudaFunction_t)kernel;
	return kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
	if (!sim_rt_kernel(func))
		return cudaErrorInvalidDeviceFunction;
	memset(attr, 0, sizeof(*attr));
	attr->maxThreadsPerBlock = 1024;
	attr->numRegs = 16;
	attr->ptxVersion = 90;
	attr->binaryVersion = 90;
	return cudaSuccess;
}

cudaError_t sim_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
	(void)attr;
	(void)value;
	return sim_rt_kernel(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
	(void)cacheConfig;
	return sim_rt_kernel(func) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaFuncGetName(const char **name, const void *func)
{
	CUkernel kernel = sim_rt_kernel(func);

	*name = sim_rt_kernel_name(func);
	return kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
							      int blockSize, size_t dynamicSMemSize)
{
	return sim_rt_result(cuOccupancyMaxActiveBlocksPerMultiprocessor(
		numBlocks, (CUfunction)sim_rt_kernel(func), blockSize, dynamicSMemSize));
}

cudaError_t sim_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
	return sim_rt_result(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
		numBlocks, (CUfunction)sim_rt_kernel(func), blockSize, dynamicSMemSize, flags));
}

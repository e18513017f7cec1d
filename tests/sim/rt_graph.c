/* libcudart: graphs and stream capture. */
#include "tests/sim/runtime.h"

#include <cuda.h>

cudaError_t sim_cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	return sim_rt_result(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t sim_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *pGraph)
{
	return sim_rt_result(cuStreamEndCapture(stream, pGraph));
}

cudaError_t sim_cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	return sim_rt_result(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

cudaError_t sim_cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
					 unsigned long long *id, cudaGraph_t *graph,
					 const cudaGraphNode_t **dependencies,
					 const cudaGraphEdgeData **edges, size_t *count)
{
	return sim_rt_result(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status,
						    (cuuint64_t *)id, graph, dependencies,
						    (const CUgraphEdgeData **)edges, count));
}

cudaError_t sim_cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	return sim_rt_result(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

cudaError_t sim_cudaGraphCreate(cudaGraph_t *pGraph, unsigned int flags)
{
	return sim_rt_result(cuGraphCreate(pGraph, flags));
}

cudaError_t sim_cudaGraphDestroy(cudaGraph_t graph)
{
	return sim_rt_result(cuGraphDestroy(graph));
}

cudaError_t sim_cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				      const cudaGraphNode_t *after, size_t count)
{
	return sim_rt_result(cuGraphAddEmptyNode(node, graph, after, count));
}

cudaError_t sim_cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *after, size_t count,
				       const struct cudaKernelNodeParams *p)
{
	CUDA_KERNEL_NODE_PARAMS d = {.gridDimX = p->gridDim.x,
				     .gridDimY = p->gridDim.y,
				     .gridDimZ = p->gridDim.z,
				     .blockDimX = p->blockDim.x,
				     .blockDimY = p->blockDim.y,
				     .blockDimZ = p->blockDim.z,
				     .sharedMemBytes = p->sharedMemBytes,
				     .kernelParams = p->kernelParams,
				     .kern = sim_rt_kernel(p->func)};

	if (!d.kern)
		return cudaErrorInvalidDeviceFunction;
	return sim_rt_result(cuGraphAddKernelNode(node, graph, after, count, &d));
}

cudaError_t sim_cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *after, size_t count,
				     const struct cudaHostNodeParams *p)
{
	CUDA_HOST_NODE_PARAMS d = {.fn = p->fn, .userData = p->userData};

	return sim_rt_result(cuGraphAddHostNode(node, graph, after, count, &d));
}

cudaError_t sim_cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
				       const cudaGraphNode_t *after, size_t count,
				       const struct cudaMemsetParams *p)
{
	CUDA_MEMSET_NODE_PARAMS d = {.dst = sim_rt_pointer(p->dst),
				     .pitch = p->pitch,
				     .value = p->value,
				     .elementSize = p->elementSize,
				     .width = p->width,
				     .height = p->height};

	return sim_rt_result(cuGraphAddMemsetNode(node, graph, after, count, &d, sim_current()));
}

cudaError_t sim_cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
					 const cudaGraphNode_t *after, size_t count, void *dst,
					 const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
			   .srcDevice = sim_rt_pointer(src),
			   .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
			   .dstDevice = sim_rt_pointer(dst),
			   .WidthInBytes = bytes,
			   .Height = 1,
			   .Depth = 1};

	(void)kind;
	return sim_rt_result(cuGraphAddMemcpyNode(node, graph, after, count, &c, sim_current()));
}

cudaError_t sim_cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
					   const cudaGraphNode_t *after, size_t count,
					   cudaGraph_t child)
{
	return sim_rt_result(cuGraphAddChildGraphNode(node, graph, after, count, child));
}

cudaError_t sim_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
					 const cudaGraphNode_t *to, const cudaGraphEdgeData *edges,
					 size_t count)
{
	return sim_rt_result(
		cuGraphAddDependencies_v2(graph, from, to, (const CUgraphEdgeData *)edges, count));
}

cudaError_t sim_cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *numNodes)
{
	return sim_rt_result(cuGraphGetNodes(graph, nodes, numNodes));
}

cudaError_t sim_cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *pType)
{
	return sim_rt_result(cuGraphNodeGetType(node, (CUgraphNodeType *)pType));
}

cudaError_t sim_cudaGraphInstantiate(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
				     unsigned long long flags)
{
	return sim_rt_result(cuGraphInstantiate(pGraphExec, graph, flags));
}

cudaError_t sim_cudaGraphInstantiateWithFlags(cudaGraphExec_t *pGraphExec, cudaGraph_t graph,
					      unsigned long long flags)
{
	return sim_rt_result(cuGraphInstantiate(pGraphExec, graph, flags));
}

cudaError_t sim_cudaGraphExecDestroy(cudaGraphExec_t graphExec)
{
	return sim_rt_result(cuGraphExecDestroy(graphExec));
}

cudaError_t sim_cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream)
{
	return sim_rt_result(cuGraphUpload(graphExec, stream));
}

cudaError_t sim_cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream)
{
	return sim_rt_result(cuGraphLaunch(graphExec, stream));
}

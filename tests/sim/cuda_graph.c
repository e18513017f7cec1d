/* libcuda: graphs and stream capture.  CUgraphNode is struct sim_node. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <stdlib.h>

static struct sim_node *node_of(CUgraphNode node)
{
	return (struct sim_node *)node;
}

static struct sim_node *add(CUgraphNode *out, CUgraph graph, const CUgraphNode *after, size_t count,
			    CUgraphNodeType type)
{
	struct sim_node *node =
		sim_graph_add(graph, type, (struct sim_node *const *)(uintptr_t)after, count);

	*out = (CUgraphNode)node;
	return node;
}

CUresult sim_cuGraphCreate(CUgraph *phGraph, unsigned int flags)
{
	if (!phGraph || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*phGraph = sim_graph_create();
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphDestroy(CUgraph hGraph)
{
	if (!hGraph)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_destroy(hGraph);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddEmptyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				 size_t count)
{
	add(out, graph, after, count, CU_GRAPH_NODE_TYPE_EMPTY);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddKernelNode_v2(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				     size_t count, const CUDA_KERNEL_NODE_PARAMS *p)
{
	struct sim_node *node;

	if (!graph || !p || !(p->func || p->kern))
		return CUDA_ERROR_INVALID_VALUE;
	node = add(out, graph, after, count, CU_GRAPH_NODE_TYPE_KERNEL);
	node->op = (struct sim_op){.kind = SIM_OP_KERNEL,
				   .kernel = {.function = p->func ? p->func : (CUfunction)p->kern,
					      .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
					      .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
					      .shared_bytes = p->sharedMemBytes}};
	node->duration_ns = sim_config()->kernel_ns;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddHostNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				size_t count, const CUDA_HOST_NODE_PARAMS *p)
{
	struct sim_node *node = add(out, graph, after, count, CU_GRAPH_NODE_TYPE_HOST);

	node->host_fn = p->fn;
	node->host_data = p->userData;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddChildGraphNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				      size_t count, CUgraph child)
{
	add(out, graph, after, count, CU_GRAPH_NODE_TYPE_GRAPH)->child =
		sim_graph_copy_child(child);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphAddMemsetNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				  size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext ctx)
{
	struct sim_node *node = add(out, graph, after, count, CU_GRAPH_NODE_TYPE_MEMSET);

	(void)ctx;
	node->op.kind = SIM_OP_SET;
	node->op.bytes = p->width * p->elementSize * p->height;
	node->op.set.value = p->value;
	node->op.set.memory = (uint8_t)sim_memory_kind(p->dst);
	node->op.set.async = true;
	node->transfer = (struct sim_transfer){.to = (void *)(uintptr_t)p->dst,
					       .width = p->width * p->elementSize,
					       .height = p->height,
					       .depth = 1,
					       .to_pitch = p->pitch,
					       .value = p->value,
					       .value_bytes = p->elementSize};
	node->duration_ns = sim_op_duration_ns(&node->op);
	return CUDA_SUCCESS;
}

/* The node is captured from a copy on a temporary stream, because the parameters are the same. */
CUresult sim_cuGraphAddMemcpyNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
				  size_t count, const CUDA_MEMCPY3D *p, CUcontext ctx)
{
	CUcontext current;
	CUresult r = sim_drv_context(&current);
	struct sim_capture capture = {.graph = graph};
	CUstream stream;

	(void)ctx;
	if (r)
		return r;
	stream = sim_stream_create(current, CU_STREAM_NON_BLOCKING, 0);
	capture.origin = stream;
	stream->capture = &capture;
	r = sim_cuMemcpy3DAsync_v2(p, stream);
	stream->capture = NULL;
	sim_stream_destroy(stream);
	if (r)
		return r;
	*out = (CUgraphNode)capture.last[0];
	free(capture.last);
	return sim_cuGraphAddDependencies_v2(graph, after, out, NULL, count);
}

CUresult sim_cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from,
				       const CUgraphNode *to, const CUgraphEdgeData *edgeData,
				       size_t count)
{
	(void)graph;
	(void)edgeData;
	for (size_t i = 0; i < count; i++) {
		struct sim_node *node = node_of(to[i]);

		node->dependencies = realloc(node->dependencies, (node->dependency_count + 1) *
									 sizeof(struct sim_node *));
		node->dependencies[node->dependency_count++] = node_of(from[i]);
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
	if (nodes)
		for (size_t i = 0; i < *count && i < graph->count; i++)
			nodes[i] = (CUgraphNode)graph->nodes[i];
	*count = graph->count;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type)
{
	*type = node_of(hNode)->type;
	return CUDA_SUCCESS;
}

/* Like the driver, creates one internal stream for a context's first graph. */
static void make_graph_stream(void)
{
	CUcontext ctx = sim_current();

	if (ctx && !ctx->graph_stream)
		ctx->graph_stream = sim_stream_create(ctx, CU_STREAM_NON_BLOCKING, 0);
}

CUresult sim_cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	make_graph_stream();
	*exec = sim_graph_instantiate(graph);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
					  CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
	if (!graph)
		return CUDA_ERROR_INVALID_VALUE;
	make_graph_stream();
	*exec = sim_graph_instantiate(graph);
	params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphExecDestroy(CUgraphExec exec)
{
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	sim_graph_exec_destroy(exec);
	return CUDA_SUCCESS;
}

CUresult sim_cuGraphUpload(CUgraphExec exec, CUstream stream)
{
	CUstream s;

	return exec ? sim_drv_stream(stream, &s) : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	CUstream s;
	CUresult r = sim_drv_stream(stream, &s);

	if (r)
		return r;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture) {
		sim_capture_add(s, CU_GRAPH_NODE_TYPE_GRAPH)->child = exec->graph;
		return CUDA_SUCCESS;
	}
	sim_graph_launch(exec, s);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
	CUstream s;
	CUresult r = sim_drv_stream(stream, &s);

	(void)mode;
	return r ? r : sim_capture_begin(s, NULL);
}

CUresult sim_cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	CUstream s;
	CUresult r = sim_drv_stream(stream, &s);

	return r ? r : sim_capture_end(s, graph);
}

CUresult sim_cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
	CUstream s;
	CUresult r = sim_drv_stream(stream, &s);

	if (!r)
		*status = s->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
				     : CU_STREAM_CAPTURE_STATUS_NONE;
	return r;
}

CUresult sim_cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status,
				       cuuint64_t *id, CUgraph *graph,
				       const CUgraphNode **dependencies,
				       const CUgraphEdgeData **edges, size_t *count)
{
	CUstream s;
	CUresult r = sim_drv_stream(stream, &s);

	if (r)
		return r;
	*status = s->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
	if (!s->capture)
		return CUDA_SUCCESS;
	if (id)
		*id = s->capture->graph->id;
	if (graph)
		*graph = s->capture->graph;
	if (dependencies)
		*dependencies = (const CUgraphNode *)s->capture->last;
	if (edges)
		*edges = NULL;
	if (count)
		*count = s->capture->last_count;
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
				       cuuint64_t *id, CUgraph *graph,
				       const CUgraphNode **dependencies, size_t *count)
{
	return sim_cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

CUresult sim_cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	return CUDA_SUCCESS;
}

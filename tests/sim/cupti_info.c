/* libcupti: queries of versions, ids, results and the time. */
#include "tests/sim/cupti_sim.h"
#include "tests/sim/graph.h"

CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = sim_config()->cupti_version;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	if (!timestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*timestamp = sim_wall_clock_ns(sim_now_ns());
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*contextId = context->uid;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	if (!context)
		context = sim_current();
	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*deviceId = (uint32_t)context->device->ordinal;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
			       uint32_t *streamId)
{
	CUstream s =
		perThreadStream && !stream ? sim_stream_per_thread() : sim_stream_resolve(stream);

	if (!context)
		return CUPTI_ERROR_INVALID_CONTEXT;
	if (!s)
		return CUPTI_ERROR_INVALID_STREAM;
	*streamId = s->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
	return cuptiGetStreamIdEx(context, stream, 0, streamId);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	if (!graph || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = graph->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	if (!graphExec || !pId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*pId = graphExec->graph->id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	const struct sim_node *n = (const struct sim_node *)node;

	if (!n || !nodeId)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*nodeId = (uint64_t)n->graph->id << 32 | n->index;
	return CUPTI_SUCCESS;
}

static const char *const results[] = {
	[CUPTI_SUCCESS] = "CUPTI_SUCCESS",
	[CUPTI_ERROR_INVALID_PARAMETER] = "CUPTI_ERROR_INVALID_PARAMETER",
	[CUPTI_ERROR_INVALID_DEVICE] = "CUPTI_ERROR_INVALID_DEVICE",
	[CUPTI_ERROR_INVALID_CONTEXT] = "CUPTI_ERROR_INVALID_CONTEXT",
	[CUPTI_ERROR_NOT_READY] = "CUPTI_ERROR_NOT_READY",
	[CUPTI_ERROR_MAX_LIMIT_REACHED] = "CUPTI_ERROR_MAX_LIMIT_REACHED",
	[CUPTI_ERROR_NOT_COMPATIBLE] = "CUPTI_ERROR_NOT_COMPATIBLE",
	[CUPTI_ERROR_NOT_INITIALIZED] = "CUPTI_ERROR_NOT_INITIALIZED",
	[CUPTI_ERROR_INVALID_KIND] = "CUPTI_ERROR_INVALID_KIND",
	[CUPTI_ERROR_NOT_SUPPORTED] = "CUPTI_ERROR_NOT_SUPPORTED",
	[CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED] =
		"CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED",
};

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
	size_t i = (size_t)result;

	if (!str)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*str = i < sizeof(results) / sizeof(results[0]) && results[i] ? results[i] : "<unknown>";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str)
{
	return cuptiGetResultString(result, str);
}

CUptiResult cuptiGetLastError(void)
{
	return CUPTI_SUCCESS;
}

/* Does nothing: the library stays usable, like the real one if this is never called. */
CUptiResult cuptiFinalize(void)
{
	sim_buffers_flush(true);
	return CUPTI_SUCCESS;
}

/* libcuda: streams, events, host functions. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <stdlib.h>

CUresult sim_drv_stream(CUstream handle, CUstream *stream)
{
	*stream = sim_stream_resolve(handle);
	if (*stream)
		return CUDA_SUCCESS;
	return sim_current() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT;
}

static CUresult tell_sync(uint32_t type, CUstream stream, CUevent event, uint64_t start,
			  CUresult result)
{
	struct sim_sync_event e = {.type = type,
				   .stream = stream,
				   .event = event,
				   .result = result,
				   .start = start,
				   .end = sim_now_ns()};

	if (sim_tools.sync)
		sim_tools.sync(&e);
	return result;
}

void sim_drv_sync(uint32_t type, CUstream stream, CUevent event, uint64_t start)
{
	tell_sync(type, stream, event, start, CUDA_SUCCESS);
}

CUresult sim_cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (r)
		return r;
	if (!phStream || flags & ~(unsigned int)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	*phStream = sim_stream_create(ctx, flags, priority);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamCreate(CUstream *phStream, unsigned int Flags)
{
	return sim_cuStreamCreateWithPriority(phStream, Flags, 0);
}

CUresult sim_cuStreamDestroy_v2(CUstream hStream)
{
	CUstream s = hStream ? sim_stream_resolve(hStream) : NULL;

	if (!s || s->is_legacy)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_stream_destroy(s);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamGetFlags(CUstream hStream, unsigned int *flags)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r)
		*flags = s->flags;
	return r;
}

CUresult sim_cuStreamGetPriority(CUstream hStream, int *priority)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r)
		*priority = s->priority;
	return r;
}

CUresult sim_cuStreamGetId(CUstream hStream, unsigned long long *streamId)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r)
		*streamId = s->id;
	return r;
}

CUresult sim_cuStreamGetCtx(CUstream hStream, CUcontext *pctx)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r)
		*pctx = s->ctx;
	return r;
}

CUresult sim_cuStreamGetDevice(CUstream hStream, CUdevice *device)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (!r)
		*device = s->ctx->device->ordinal;
	return r;
}

CUresult sim_cuStreamQuery(CUstream hStream)
{
	uint64_t start = sim_now_ns();
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (s->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	return tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, s, NULL, start,
			 sim_stream_idle(s) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult sim_cuStreamSynchronize(CUstream hStream)
{
	uint64_t start = sim_now_ns();
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (s->capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	if (sim_context_fails(s->ctx))
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	sim_stream_wait(s);
	sim_drv_trim_pools(s->ctx->device, false);
	sim_drv_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, s, NULL, start);
	return CUDA_SUCCESS;
}

CUresult sim_cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags)
{
	uint64_t start = sim_now_ns();
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	(void)Flags;
	if (r)
		return r;
	if (!sim_event_valid(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	if (sim_capture_of_event(hEvent))
		sim_capture_wait(s, hEvent);
	else
		sim_event_wait(s, hEvent);
	sim_drv_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, s, hEvent, start);
	return CUDA_SUCCESS;
}

CUresult sim_cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);
	uint64_t due;

	if (r)
		return r;
	if (s->capture) {
		struct sim_node *node = sim_capture_add(s, CU_GRAPH_NODE_TYPE_HOST);

		node->host_fn = fn;
		node->host_data = userData;
		return CUDA_SUCCESS;
	}
	due = sim_stream_ready_ns(s);
	sim_stream_extend(s, due + 2000);
	sim_host_submit(
		&(struct sim_host_function){
			.stream = s, .fn = fn, .data = userData, .correlation = sim_correlation()},
		due);
	return CUDA_SUCCESS;
}

struct stream_callback {
	CUstream stream;
	CUstreamCallback fn;
	void *data;
};

static void run_callback(void *data)
{
	struct stream_callback c = *(struct stream_callback *)data;

	free(data);
	c.fn(c.stream, CUDA_SUCCESS, c.data);
}

CUresult sim_cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
				 unsigned int flags)
{
	struct stream_callback *c = malloc(sizeof(*c));
	CUresult r;

	(void)flags;
	*c = (struct stream_callback){.stream = hStream, .fn = callback, .data = userData};
	r = sim_cuLaunchHostFunc(hStream, run_callback, c);
	if (r)
		free(c);
	return r;
}

CUresult sim_cuEventCreate(CUevent *phEvent, unsigned int Flags)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);

	if (!r)
		*phEvent = sim_event_create(ctx, Flags);
	return r;
}

CUresult sim_cuEventDestroy_v2(CUevent hEvent)
{
	if (!sim_event_valid(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	sim_event_destroy(hEvent);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventRecord(CUevent hEvent, CUstream hStream)
{
	CUstream s;
	CUresult r = sim_drv_stream(hStream, &s);

	if (r)
		return r;
	if (!sim_event_valid(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	if (s->capture)
		sim_capture_record(hEvent, s);
	else
		sim_event_record(hEvent, s);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags)
{
	(void)flags;
	return sim_cuEventRecord(hEvent, hStream);
}

CUresult sim_cuEventQuery(CUevent hEvent)
{
	uint64_t start = sim_now_ns();

	if (!sim_event_valid(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	return tell_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, NULL, hEvent, start,
			 sim_event_done(hEvent) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
}

CUresult sim_cuEventSynchronize(CUevent hEvent)
{
	uint64_t start = sim_now_ns();

	if (!sim_event_valid(hEvent))
		return CUDA_ERROR_INVALID_HANDLE;
	sim_event_sync(hEvent);
	sim_drv_sync(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, NULL, hEvent, start);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	if (!sim_event_valid(hStart) || !sim_event_valid(hEnd) || !hStart->recorded ||
	    !hEnd->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!sim_event_done(hStart) || !sim_event_done(hEnd))
		return CUDA_ERROR_NOT_READY;
	*pMilliseconds = (float)((double)(int64_t)(hEnd->when - hStart->when) / 1e6);
	return CUDA_SUCCESS;
}

CUresult sim_cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd)
{
	return sim_cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd);
}

#include "tests/sim/call.h"
#include "tests/sim/device.h"
#include "tests/sim/memory.h"

#include <cupti.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_BYTES (UINT64_C(500) << 20) /* device memory that a context uses */
#define MAX_CURRENT   16

static struct sim_device devices[SIM_MAX_DEVICES];
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint32_t next_context_uid = 1;

static __thread struct {
	CUcontext stack[MAX_CURRENT];
	int depth;
} current;

static void number_devices(void)
{
	for (int i = 0; i < SIM_MAX_DEVICES; i++)
		devices[i].ordinal = i;
}

struct sim_device *sim_device(int ordinal)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (ordinal < 0 || ordinal >= sim_config()->devices)
		return NULL;
	pthread_once(&once, number_devices);
	return &devices[ordinal];
}

CUuuid sim_device_uuid(int ordinal)
{
	CUuuid uuid = {.bytes = "gpusim"};

	uuid.bytes[14] = (char)sim_config()->node;
	uuid.bytes[15] = (char)ordinal;
	return uuid;
}

/*
 * The internal streams of the driver in each context, as the real one reports them.  The second one
 * is stream 0.
 */
static const struct {
	int priority;
	unsigned int flags;
} internal_streams[] = {
	{0, CU_STREAM_DEFAULT},      {0, SIM_STREAM_LEGACY},      {0, CU_STREAM_NON_BLOCKING},
	{0, CU_STREAM_NON_BLOCKING}, {0, CU_STREAM_NON_BLOCKING}, {0, CU_STREAM_NON_BLOCKING},
	{-5, CU_STREAM_DEFAULT},
};

static void create_internal_streams(CUcontext ctx)
{
	for (size_t i = 0; i < sizeof(internal_streams) / sizeof(internal_streams[0]); i++) {
		CUstream s = sim_stream_create(ctx, internal_streams[i].flags,
					       internal_streams[i].priority);

		if (s->is_legacy)
			ctx->legacy = s;
	}
}

/* Reports as many overhead records as the real driver when a context is created. */
static void report_overheads(uint32_t kind, int count)
{
	for (int i = 0; i < count; i++) {
		uint64_t begin = sim_now_ns();

		sim_tell_overhead(kind, begin, sim_now_ns());
	}
}

CUcontext sim_context_create(struct sim_device *device, unsigned int flags)
{
	CUcontext ctx = calloc(1, sizeof(*ctx));

	ctx->device = device;
	ctx->uid = next_context_uid++;
	ctx->flags = flags;
	pthread_mutex_init(&ctx->lock, NULL);
	device->used_bytes += CONTEXT_BYTES;
	create_internal_streams(ctx);
	report_overheads(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, 2);
	report_overheads(CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, 1);
	sim_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, ctx, NULL, NULL);
	report_overheads(CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE, 3);
	return ctx;
}

void sim_context_destroy(CUcontext ctx)
{
	sim_context_wait(ctx);
	sim_tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, ctx, NULL, NULL);
	sim_memory_release(ctx);
	ctx->device->used_bytes -= CONTEXT_BYTES;
	ctx->dead = true; /* not freed: the program may still hold handles */
}

/*
 * The first thread creates the context, and the others wait for it.  The reports about it may call
 * back into this code.
 */
CUresult sim_primary_retain(struct sim_device *device, CUcontext *ctx)
{
	static pthread_mutex_t making = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	pthread_mutex_lock(&making);
	if (!device->primary)
		device->primary = sim_context_create(device, 0);
	*ctx = device->primary;
	pthread_mutex_lock(&devices_lock);
	device->primary_refs++;
	pthread_mutex_unlock(&devices_lock);
	pthread_mutex_unlock(&making);
	return CUDA_SUCCESS;
}

CUresult sim_primary_release(struct sim_device *device, bool reset)
{
	CUcontext dying = NULL;
	CUresult r = CUDA_SUCCESS;

	pthread_mutex_lock(&devices_lock);
	if (!reset && device->primary_refs == 0)
		r = CUDA_ERROR_INVALID_CONTEXT;
	else if (reset || --device->primary_refs == 0) {
		dying = device->primary;
		device->primary = NULL;
		device->primary_refs = 0;
	}
	pthread_mutex_unlock(&devices_lock);
	if (dying)
		sim_context_destroy(dying);
	return r;
}

CUcontext sim_current(void)
{
	CUcontext ctx = current.depth ? current.stack[current.depth - 1] : NULL;

	return ctx && !ctx->dead ? ctx : NULL;
}

void sim_set_current(CUcontext ctx)
{
	if (current.depth == 0)
		current.depth = 1;
	current.stack[current.depth - 1] = ctx;
}

void sim_push_current(CUcontext ctx)
{
	if (current.depth < MAX_CURRENT)
		current.stack[current.depth++] = ctx;
}

CUcontext sim_pop_current(void)
{
	return current.depth ? current.stack[--current.depth] : NULL;
}

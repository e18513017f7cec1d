/* libcudart: lazy initialization, errors, the current device of each thread. */
#include "tests/sim/runtime.h"
#include "tests/sim/errors.h"

#include <cuda.h>
#include <string.h>

static __thread cudaError_t last_error;
static __thread int chosen_device;
static __thread CUcontext bound;

const char *cudaGetErrorName(cudaError_t error)
{
	const struct sim_error *e = sim_error((int)error);

	return e ? e->runtime_name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	const struct sim_error *e = sim_error((int)error);

	return e ? e->text : "unrecognized error code";
}

/* The first version of the function, which the real runtime calls. */
#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);

/* Makes as many queries of each device as the real runtime. */
static void query_device(int ordinal)
{
	CUdevice device;
	char name[256];
	size_t bytes;
	CUuuid uuid;
	int value;

	cuDeviceGet(&device, ordinal);
	cuDeviceGetName(name, sizeof(name), device);
	cuDeviceTotalMem(&bytes, device);
	for (int i = 0; i < 88; i++)
		cuDeviceGetAttribute(&value, (CUdevice_attribute)(i + 1), device);
	cuDeviceGetUuid(&uuid, device);
	for (int i = 0; i < 23; i++)
		cuDeviceGetAttribute(&value, (CUdevice_attribute)(i + 89), device);
}

static cudaError_t start_result;

static void start(void)
{
	CUmoduleLoadingMode mode;
	int count = 0;

	start_result = sim_rt_result(cuInit(0));
	if (start_result)
		return;
	cuModuleGetLoadingMode(&mode);
	cuDeviceGetCount(&count);
	for (int i = 0; i < count; i++)
		query_device(i);
}

cudaError_t sim_rt_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	return start_result ? start_result : (cudaError_t)sim_unusable();
}

static bool needs_context(const struct sim_call *call)
{
	static const char *const names[] = {
		"cudaGetDeviceCount",      "cudaGetDevice",           "cudaSetDevice",
		"cudaGetDeviceProperties", "cudaDeviceGetAttribute",  "cudaDriverGetVersion",
		"cudaRuntimeGetVersion",   "cudaGetLastError",        "cudaPeekAtLastError",
		"cudaDeviceReset",         "cudaDeviceCanAccessPeer", "cudaDeviceGetPCIBusId",
		"cudaDeviceGetByPCIBusId", "cudaProfilerStart",       "cudaProfilerStop",
		"cudaChooseDevice",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(call->name, names[i]))
			return false;
	return true;
}

cudaError_t sim_rt_bind(void)
{
	struct sim_device *device = sim_device(chosen_device);
	CUcontext ctx;

	if (bound && bound == sim_current() && bound->device == device)
		return cudaSuccess;
	if (!bound && sim_current()) /* a context that the program made current by the driver API */
		return cudaSuccess;
	ctx = device->primary;
	if (!ctx)
		cuDevicePrimaryCtxRetain(&ctx, device->ordinal);
	sim_set_current(ctx);
	bound = ctx;
	return cudaSuccess;
}

int sim_rt_device(void)
{
	return chosen_device;
}

cudaError_t sim_rt_set_device(int device)
{
	if (!sim_device(device))
		return cudaErrorInvalidDevice;
	chosen_device = device;
	bound = NULL;
	sim_set_current(NULL);
	return sim_rt_bind();
}

int sim_rt_enter(struct sim_call *call, const void *function)
{
	cudaError_t r = sim_rt_init();

	if (r && !strcmp(call->name, "cudaGetDeviceCount")) /* this call works in a forked child */
		r = start_result;
	call->symbol = function && !r ? sim_rt_kernel_name(function) : NULL;
	sim_call_enter(call);
	if (!r && (!sim_current() || bound != sim_current()) && needs_context(call)) {
		r = sim_rt_bind();
		sim_rt_place_variables(function);
	}
	return r;
}

static bool asks_error(const struct sim_call *call)
{
	return !strcmp(call->name, "cudaGetLastError") ||
	       !strcmp(call->name, "cudaPeekAtLastError");
}

int sim_rt_exit(struct sim_call *call, int result)
{
	if (result && !asks_error(call))
		last_error = (cudaError_t)result;
	return sim_call_exit(call, result);
}

cudaError_t sim_rt_last_error(void)
{
	return last_error;
}

cudaError_t sim_rt_take_error(void)
{
	cudaError_t e = last_error;

	last_error = cudaSuccess;
	return e;
}

cudaError_t sim_cudaGetLastError(void)
{
	return sim_rt_take_error();
}

cudaError_t sim_cudaPeekAtLastError(void)
{
	return sim_rt_last_error();
}

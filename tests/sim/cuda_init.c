/* libcuda: initialization and injection, versions, error names, lookup of functions. */
#include "tests/sim/driver.h"
#include "tests/sim/errors.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned int flags);

static bool initialised;

/*
 * Like the real driver: inside cuInit, load the library that the variable names, and call its one
 * entry point.
 */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*entry)(void) = NULL;

	if (library)
		*(void **)&entry = dlsym(library, "InitializeInjection");
	if (entry)
		entry();
}

static void initialise(void)
{
	sim_started();
	inject();
	initialised = true;
	sim_tell_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, NULL, NULL, NULL);
}

CUresult cuInit(unsigned int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_config()->devices < 1)
		return CUDA_ERROR_NO_DEVICE;
	pthread_once(&once, initialise);
	return (CUresult)sim_unusable();
}

/* Calls that work before cuInit, after the exit handler, and in a forked child. */
static bool works_always(const struct sim_call *call)
{
	static const char *const names[] = {"cuDriverGetVersion",  "cuGetProcAddress",
					    "cuGetProcAddress_v2", "cuGetErrorString",
					    "cuGetErrorName",      "cuGetExportTable"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(call->name, names[i]))
			return true;
	return sim_forked() && !strcmp(call->name, "cuDeviceGetCount");
}

int sim_drv_enter(struct sim_call *call, const void *function)
{
	if (function)
		call->symbol = ((const struct CUfunc_st *)function)->name;
	sim_call_enter(call);
	if (works_always(call))
		return CUDA_SUCCESS;
	return initialised ? sim_unusable() : CUDA_ERROR_NOT_INITIALIZED;
}

int sim_drv_exit(struct sim_call *call, int result)
{
	return sim_call_exit(call, result);
}

CUresult sim_cuDriverGetVersion(int *version)
{
	if (!version)
		return CUDA_ERROR_INVALID_VALUE;
	*version = sim_config()->driver_version;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
	*mode = sim_config()->eager_loading ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

CUresult sim_cuGetErrorName(CUresult error, const char **text)
{
	const struct sim_error *e = sim_error((int)error);

	*text = e ? e->driver_name : NULL;
	return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorString(CUresult error, const char **text)
{
	const struct sim_error *e = sim_error((int)error);

	*text = e ? e->text : NULL;
	return e ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

struct version {
	const char *function;
	int since;
	int per_thread;
	const char *symbol;
};

static const struct version versions[] = {
#include "sim_versions.inc"
};

/* The newest variant of a function up to the requested CUDA version. */
static const struct version *variant(const char *function, int version, int per_thread)
{
	const struct version *best = NULL;

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		const struct version *v = &versions[i];

		if (strcmp(v->function, function) || v->per_thread != per_thread ||
		    v->since > version)
			continue;
		if (!best || v->since > best->since)
			best = v;
	}
	return best;
}

/*
 * A caller that does not read the status gives up at a missing function.  NVIDIA's own runtime
 * does, and reports only "named symbol not found".
 */
static void report_missing(const char *symbol)
{
	static _Atomic bool is_reported;

	if (symbol[0] != '\0' && !atomic_exchange(&is_reported, true))
		fprintf(stderr,
			"simulated device: it has no %s: NVIDIA's CUDA runtime, which nvcc links "
			"in "
			"unless it is told otherwise, does not run on it; link with: nvcc -cudart "
			"shared\n",
			symbol);
}

CUresult sim_cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
				 CUdriverProcAddressQueryResult *symbolStatus)
{
	static void *self;
	const struct version *v = NULL;
	Dl_info info;

	if (!symbol || !pfn)
		return CUDA_ERROR_INVALID_VALUE;
	if (!self && dladdr((void *)(uintptr_t)cuInit, &info))
		self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		v = variant(symbol, cudaVersion, 1);
	if (!v)
		v = variant(symbol, cudaVersion, 0);
	*pfn = dlsym(self, v ? v->symbol : symbol);
	if (symbolStatus)
		*symbolStatus =
			*pfn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (!*pfn && !symbolStatus)
		report_missing(symbol);
	return *pfn || symbolStatus ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	return sim_cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}

CUresult sim_cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
	(void)pExportTableId;
	*ppExportTable = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

CUresult sim_cuProfilerStart(void)
{
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStop(void)
{
	return CUDA_SUCCESS;
}

/* libcuda: modules, libraries, functions and launches. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS        1024
#define MAX_DYNAMIC_SHARED 232448
#define CYCLES_PER_US      1975 /* the H200's clock */

static _Atomic uint32_t next_module_id = 1;

static void init_module(struct CUmod_st *m, const void *image)
{
	const char *text = image;

	pthread_mutex_init(&m->lock, NULL);
	m->id = next_module_id++;
	m->any_name = !(text && (isspace((unsigned char)*text) || !strncmp(text, ".version", 8) ||
				 !strncmp(text, "//", 2)));
	m->text = m->any_name ? NULL : strdup(text);
}

static void clear_module(struct CUmod_st *m)
{
	while (m->functions) {
		struct CUfunc_st *f = m->functions;

		/* The name and the function stay: records point to them. */
		m->functions = f->next;
	}
	free(m->text);
	m->text = NULL;
}

static bool has_entry(const struct CUmod_st *m, const char *name)
{
	size_t length = strlen(name);
	const char *at = m->text;

	if (m->any_name)
		return true;
	while (at && (at = strstr(at, ".entry"))) {
		at += strlen(".entry");
		while (isspace((unsigned char)*at))
			at++;
		if (!strncmp(at, name, length) && !isalnum((unsigned char)at[length]) &&
		    at[length] != '_')
			return true;
	}
	return false;
}

static struct CUfunc_st *new_function(struct CUmod_st *m, const char *name)
{
	struct CUfunc_st *f = calloc(1, sizeof(*f));

	f->name = strdup(name);
	f->spin_arguments = strstr(name, "spin") != NULL;
	f->touches = strstr(name, "k_touch") != NULL;
	f->module = m;
	f->next = m->functions;
	m->functions = f;
	return f;
}

static CUresult function_of(struct CUmod_st *m, const char *name, struct CUfunc_st **out)
{
	struct CUfunc_st *f;

	if (!name || !has_entry(m, name))
		return CUDA_ERROR_NOT_FOUND;
	pthread_mutex_lock(&m->lock);
	for (f = m->functions; f && strcmp(f->name, name); f = f->next)
		;
	*out = f ? f : new_function(m, name);
	pthread_mutex_unlock(&m->lock);
	return CUDA_SUCCESS;
}

/* The first use of a function loads it, which the tools see as overhead. */
static void load_function(struct CUfunc_st *f)
{
	uint64_t start = sim_now_ns();

	if (atomic_exchange(&f->loaded, true))
		return;
	sim_tell_overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, start, sim_now_ns());
}

static void tell_module(uint32_t event, const struct CUmod_st *m, const void *image)
{
	CUpti_ModuleResourceData data = {.moduleId = m->id, .pCubin = image};

	sim_tell_resource(event, sim_current(), NULL, &data);
}

CUresult sim_cuModuleLoadData(CUmodule *module, const void *image)
{
	CUcontext ctx;
	CUresult r = sim_drv_context(&ctx);
	CUmodule m;

	if (r)
		return r;
	if (!image)
		return CUDA_ERROR_INVALID_VALUE;
	m = calloc(1, sizeof(*m));
	init_module(m, image);
	tell_module(CUPTI_CBID_RESOURCE_MODULE_LOADED, m, image);
	*module = m;
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
				CUjit_option *options, void **optionValues)
{
	(void)numOptions;
	(void)options;
	(void)optionValues;
	return sim_cuModuleLoadData(module, image);
}

CUresult sim_cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
	return sim_cuModuleLoadData(module, fatCubin);
}

CUresult sim_cuModuleUnload(CUmodule hmod)
{
	if (!hmod)
		return CUDA_ERROR_INVALID_HANDLE;
	tell_module(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, hmod, NULL);
	clear_module(hmod);
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
	CUresult r = function_of(hmod, name, hfunc);

	if (!r)
		load_function(*hfunc);
	return r;
}

CUresult sim_cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
			       void **jitOptionsValues, unsigned int numJitOptions,
			       CUlibraryOption *libraryOptions, void **libraryOptionValues,
			       unsigned int numLibraryOptions)
{
	CUlibrary l = calloc(1, sizeof(*l));

	(void)jitOptions;
	(void)jitOptionsValues;
	(void)numJitOptions;
	(void)libraryOptions;
	(void)libraryOptionValues;
	(void)numLibraryOptions;
	init_module(&l->module, code);
	tell_module(CUPTI_CBID_RESOURCE_MODULE_LOADED, &l->module, code);
	*library = l;
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryUnload(CUlibrary library)
{
	clear_module(&library->module);
	return CUDA_SUCCESS;
}

CUresult sim_cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
	struct CUfunc_st *f;
	CUresult r = function_of(&library->module, name, &f);

	if (!r)
		*pKernel = (CUkernel)f;
	return r;
}

CUresult sim_cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
	*pMod = &library->module;
	return CUDA_SUCCESS;
}

CUresult sim_cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel)
{
	*pFunc = &kernel->function;
	return kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuKernelGetName(const char **name, CUkernel hfunc)
{
	if (!hfunc)
		return CUDA_ERROR_INVALID_HANDLE;
	*name = hfunc->function.name;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetName(const char **name, CUfunction hfunc)
{
	return sim_cuKernelGetName(name, (CUkernel)hfunc);
}

CUresult sim_cuFuncGetModule(CUmodule *hmod, CUfunction hfunc)
{
	*hmod = hfunc->module;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetAttribute(int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	if (!hfunc)
		return CUDA_ERROR_INVALID_HANDLE;
	switch (attrib) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*pi = MAX_THREADS;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*pi = 16;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*pi = 90;
		break;
	default:
		*pi = 0;
	}
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncSetAttribute(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	(void)attrib;
	(void)value;
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuFuncSetCacheConfig(CUfunction hfunc, CUfunc_cache config)
{
	(void)config;
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func,
								  int blockSize,
								  size_t dynamicSMemSize,
								  unsigned int flags)
{
	(void)func;
	(void)dynamicSMemSize;
	(void)flags;
	*numBlocks = blockSize > 0 && blockSize <= MAX_THREADS ? 2048 / blockSize : 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func,
							 int blockSize, size_t dynamicSMemSize)
{
	return sim_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
									dynamicSMemSize, 0);
}

static bool fits(const struct sim_op *op)
{
	const unsigned int *b = op->kernel.block, *g = op->kernel.grid;
	uint64_t threads = (uint64_t)b[0] * b[1] * b[2];

	return threads >= 1 && threads <= MAX_THREADS && b[2] <= 64 && g[0] && g[1] && g[2] &&
	       g[0] <= 2147483647 && g[1] <= 65535 && g[2] <= 65535 &&
	       op->kernel.shared_bytes <= MAX_DYNAMIC_SHARED;
}

static uint64_t kernel_ns(const struct CUfunc_st *f, void **arguments)
{
	if (f->spin_arguments && arguments && arguments[0])
		return *(const uint64_t *)arguments[0] * 1000 / CYCLES_PER_US;
	return sim_config()->kernel_ns;
}

/* k_touch(char *p, size_t n): one more in each byte. */
static void touch(void **arguments)
{
	unsigned char *p = *(unsigned char **)arguments[0];
	size_t n = *(const size_t *)arguments[1];

	if (sim_memory_covers((uintptr_t)p, n))
		for (size_t i = 0; i < n; i++)
			p[i]++;
}

static void capture_kernel(const struct sim_op *op, uint64_t duration_ns)
{
	struct sim_node *node = sim_capture_add(op->stream, CU_GRAPH_NODE_TYPE_KERNEL);

	node->op = *op;
	node->duration_ns = duration_ns;
}

static CUresult launch(struct sim_op *op, CUstream handle, void **arguments)
{
	struct CUfunc_st *f = op->kernel.function;
	CUresult r = sim_drv_stream(handle, &op->stream);

	if (r)
		return r;
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!fits(op))
		return CUDA_ERROR_INVALID_VALUE;
	op->kind = SIM_OP_KERNEL;
	if (op->stream->capture) {
		capture_kernel(op, kernel_ns(f, arguments));
		return CUDA_SUCCESS;
	}
	load_function(f);
	op->kernel.grid_id = sim_next_grid_id();
	if (f->touches && arguments)
		touch(arguments);
	sim_submit(op, kernel_ns(f, arguments));
	return CUDA_SUCCESS;
}

CUresult sim_cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **arguments, void **extra)
{
	struct sim_op op = {.kernel = {.function = f,
				       .grid = {gx, gy, gz},
				       .block = {bx, by, bz},
				       .shared_bytes = shared}};

	(void)extra;
	return launch(&op, stream, arguments);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy,
				       unsigned int gz, unsigned int bx, unsigned int by,
				       unsigned int bz, unsigned int shared, CUstream stream,
				       void **arguments)
{
	struct sim_op op = {.kernel = {.function = f,
				       .grid = {gx, gy, gz},
				       .block = {bx, by, bz},
				       .shared_bytes = shared,
				       .cooperative = true}};

	return launch(&op, stream, arguments);
}

static void read_attribute(struct sim_op *op, const CUlaunchAttribute *a)
{
	if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
		op->kernel.cooperative = a->value.cooperative != 0;
		op->kernel.says_cooperative = true;
	}
	if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
		op->kernel.cluster[0] = a->value.clusterDim.x;
		op->kernel.cluster[1] = a->value.clusterDim.y;
		op->kernel.cluster[2] = a->value.clusterDim.z;
	}
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
	struct sim_op op = {.kernel = {.function = f}};

	(void)extra;
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	op.kernel.grid[0] = c->gridDimX;
	op.kernel.grid[1] = c->gridDimY;
	op.kernel.grid[2] = c->gridDimZ;
	op.kernel.block[0] = c->blockDimX;
	op.kernel.block[1] = c->blockDimY;
	op.kernel.block[2] = c->blockDimZ;
	op.kernel.shared_bytes = c->sharedMemBytes;
	for (unsigned int i = 0; i < c->numAttrs; i++)
		read_attribute(&op, &c->attrs[i]);
	return launch(&op, c->hStream, arguments);
}

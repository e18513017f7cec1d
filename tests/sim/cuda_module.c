/* libcuda: modules and libraries, their functions, and the cost of loading them. */
#include "tests/sim/driver.h"

#include <cupti.h>
#include <ctype.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define COMPILE_NS     300000
#define CACHE_STORE_NS 60000
#define CACHE_LOAD_NS  40000
#define BINARY_LOAD_NS 60000 /* of a small module; observed: 50 to 100 us */

static _Atomic uint32_t next_module_id = 1;

/* Every PTX text that was compiled.  Never freed: the driver's cache outlives the process. */
struct compiled {
	char *text;
	uint64_t id;
	struct compiled *next;
};

static struct compiled *compiled;
static pthread_mutex_t compiled_lock = PTHREAD_MUTEX_INITIALIZER;

/* The id of a piece of code, by its text.  *fresh: the process sees the text for the first time. */
static uint64_t code_id(const char *text, bool *fresh)
{
	struct compiled *c;
	uint64_t id;

	pthread_mutex_lock(&compiled_lock);
	for (c = compiled; c && strcmp(c->text, text) != 0; c = c->next)
		;
	*fresh = c == NULL;
	if (*fresh) {
		c = malloc(sizeof(*c));
		*c = (struct compiled){.text = strdup(text),
				       .id = compiled ? compiled->id + 1 : 1,
				       .next = compiled};
		compiled = c;
	}
	id = c->id;
	pthread_mutex_unlock(&compiled_lock);
	return id;
}

static void spend(uint32_t operation, uint64_t id, uint64_t ns)
{
	struct sim_jit_event e = {
		.operation = operation, .id = id, .ctx = sim_current(), .start = sim_now_ns()};

	sim_wait_until_ns(e.start + ns);
	e.end = sim_now_ns();
	sim_tell_jit(&e);
}

/* The host thread really waits, as for the real compiler. */
static void compile(const char *text)
{
	bool fresh;
	uint64_t id = code_id(text, &fresh);

	if (!fresh || sim_config()->jit_cache_warm) {
		spend(CUPTI_ACTIVITY_JIT_OPERATION_CACHE_LOAD, id, CACHE_LOAD_NS);
		return;
	}
	spend(CUPTI_ACTIVITY_JIT_OPERATION_COMPILE, id, COMPILE_NS);
	spend(CUPTI_ACTIVITY_JIT_OPERATION_CACHE_STORE, id, CACHE_STORE_NS);
}

static void init_module(struct CUmod_st *m, const void *image)
{
	const char *text = image;

	pthread_mutex_init(&m->lock, NULL);
	m->id = next_module_id++;
	m->any_name = !(text && (isspace((unsigned char)*text) || !strncmp(text, ".version", 8) ||
				 !strncmp(text, "//", 2)));
	m->text = m->any_name ? NULL : strdup(text);
	if (m->text)
		compile(m->text);
}

/* Binary code needs no compilation, only a transfer to the device. */
static void load_binary(void)
{
	sim_wait_until_ns(sim_now_ns() + BINARY_LOAD_NS);
}

static void clear_module(struct CUmod_st *m)
{
	while (m->functions) {
		struct CUfunc_st *f = m->functions;

		/* The name and the function are not freed: records point to them. */
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
	f->loaded = sim_config()->eager_loading;
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

bool sim_drv_load_function(struct CUfunc_st *f)
{
	uint64_t start = sim_now_ns();

	if (atomic_exchange(&f->loaded, true))
		return false;
	sim_tell_overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, start, sim_now_ns());
	return true;
}

/* nvcc's programs pass this wrapper of the binary, which contains its length. */
struct fatbin_wrapper {
	uint32_t magic, version;
	const struct {
		uint32_t magic;
		uint16_t version, header_bytes;
		uint64_t bytes;
	} * data;
};

#define WRAPPER_MAGIC 0x466243b1u

/* A cubin ends with its section headers or its program headers. */
static size_t cubin_bytes(const Elf64_Ehdr *head)
{
	size_t sections = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	size_t programs = head->e_phoff + (size_t)head->e_phnum * head->e_phentsize;

	return sections > programs ? sections : programs;
}

static void tell_module(uint32_t event, const struct CUmod_st *m, const void *image)
{
	CUpti_ModuleResourceData data = {.moduleId = m->id, .pCubin = image};
	const struct fatbin_wrapper *w = image;

	if (image && m->text) {
		data.cubinSize = strlen(m->text);
	} else if (image && !memcmp(image, ELFMAG, SELFMAG)) {
		data.cubinSize = cubin_bytes(image);
	} else if (image && *(const char *)image && w->magic == WRAPPER_MAGIC) {
		data.pCubin = (const char *)w->data;
		data.cubinSize = w->data->header_bytes + w->data->bytes;
	}
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
	if (m->any_name)
		load_binary();
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
		sim_drv_load_function(*hfunc);
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
	tell_module(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, &library->module, NULL);
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

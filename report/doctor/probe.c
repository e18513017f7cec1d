#include "report/doctor/probe.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "gpuprof/gpuprof.h"

#define SET_BYTES 65536
#define LAUNCHES  4 /* the first one opens a window of --counters, the others are measured */

const char *const gp_probe_words[GP_PROBE_KINDS] = {
	[GP_PROBE_RANGES] = "ranges", [GP_PROBE_GPU] = "gpu", [GP_PROBE_KERNELS] = "kernels"};

/* A kernel that does nothing, for any GPU: the driver compiles it. */
#define KERNEL "gpuprof_doctor"
static const char kernel_text[] = ".version 6.0\n"
				  ".target sm_50\n"
				  ".address_size 64\n"
				  ".visible .entry " KERNEL "()\n"
				  "{\n"
				  "\tret;\n"
				  "}\n";

/* Functions of libcuda. The read side does not use CUDA headers. */

struct driver {
	void *handle;
	int (*init)(unsigned);
	int (*get_version)(int *);
	int (*get_count)(int *);
	int (*get_name)(char *, int, int);
	int (*retain)(void **, int);
	int (*set_current)(void *);
	int (*synchronize)(void);
	int (*allocate)(uint64_t *, size_t);
	int (*set_bytes)(uint64_t, unsigned char, size_t);
	int (*release)(uint64_t);
	int (*name_error)(int, const char **);
};

static void tell(const char *name, const char *value)
{
	printf("%s %s\n", name, value);
	fflush(stdout);
}

/* Prints a result and returns it. */
static int tell_result(const struct driver *driver, const char *name, int result)
{
	const char *word = NULL;

	if (result != 0 && driver->name_error)
		driver->name_error(result, &word);
	printf("%s %d %s\n", name, result, word ? word : "");
	fflush(stdout);
	return result;
}

static int look_for_library(struct dl_phdr_info *information, size_t size, void *unused)
{
	const char *name = strrchr(information->dlpi_name, '/');

	(void)size;
	(void)unused;
	if (!name || strcmp(name, "/libgpuprof.so") != 0)
		return 0;
	tell("library", information->dlpi_name);
	return 1;
}

static void load_libraries(char *const *libraries)
{
	for (; *libraries; libraries++) {
		tell("step", "load");
		if (!dlopen(*libraries, RTLD_NOW | RTLD_GLOBAL))
			tell("unloadable", dlerror());
	}
}

static bool find_functions(struct driver *driver)
{
	const struct {
		const char *name;
		void **function;
	} functions[] = {
		{"cuInit", (void **)&driver->init},
		{"cuDriverGetVersion", (void **)&driver->get_version},
		{"cuDeviceGetCount", (void **)&driver->get_count},
		{"cuDeviceGetName", (void **)&driver->get_name},
		{"cuDevicePrimaryCtxRetain", (void **)&driver->retain},
		{"cuCtxSetCurrent", (void **)&driver->set_current},
		{"cuCtxSynchronize", (void **)&driver->synchronize},
		{"cuMemAlloc_v2", (void **)&driver->allocate},
		{"cuMemsetD8_v2", (void **)&driver->set_bytes},
		{"cuMemFree_v2", (void **)&driver->release},
		{"cuGetErrorName", (void **)&driver->name_error},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		*functions[i].function = dlsym(driver->handle, functions[i].name);
		if (!*functions[i].function)
			return false;
	}
	return true;
}

static bool open_driver(struct driver *driver)
{
	Dl_info information;

	tell("step", "open");
	driver->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
	if (!driver->handle) {
		tell("driver-error", dlerror());
		return false;
	}
	if (!find_functions(driver)) {
		tell("driver-error", "functions are missing in libcuda.so.1");
		return false;
	}
	if (dladdr(*(void **)&driver->init, &information) && information.dli_fname) {
		char *path = realpath(information.dli_fname, NULL);

		tell("driver", path ? path : information.dli_fname);
		free(path);
	}
	return true;
}

static bool start_driver(struct driver *driver)
{
	int version = 0, count = 0;

	tell("step", "version");
	if (driver->get_version(&version) == 0)
		printf("version %d\n", version);
	tell("step", "init");
	if (tell_result(driver, "init", driver->init(0)) != 0)
		return false;
	tell("step", "count");
	if (tell_result(driver, "count-result", driver->get_count(&count)) != 0)
		return false;
	printf("devices %d\n", count);
	return count > 0;
}

static void tell_name(const struct driver *driver, int device)
{
	char name[256] = "";

	if (driver->get_name(name, sizeof(name), device) == 0)
		tell("device", name);
}

/* Tries each GPU: one may be full, or in exclusive use. */
static bool make_context(const struct driver *driver)
{
	int count = 0;

	tell("step", "context");
	driver->get_count(&count);
	for (int device = 0; device < count; device++) {
		void *context = NULL;

		tell_name(driver, device);
		if (tell_result(driver, "context", driver->retain(&context, device)) == 0)
			return driver->set_current(context) == 0;
	}
	return false;
}

static void work(const struct driver *driver)
{
	uint64_t memory = 0;
	int result;

	tell("step", "work");
	result = driver->allocate(&memory, SET_BYTES);
	if (result == 0)
		result = driver->set_bytes(memory, 1, SET_BYTES);
	if (result == 0)
		result = driver->synchronize();
	if (result == 0)
		result = driver->release(memory);
	tell_result(driver, "work", result);
}

/* Functions of libcuda that only this step needs. */
typedef int load_module(void **module, const void *image);
typedef int find_kernel(void **kernel, void *module, const char *name);
typedef int launch_kernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
			  unsigned block_x, unsigned block_y, unsigned block_z,
			  unsigned shared_bytes, void *stream, void **parameters, void **extra);

static void launch_kernels(const struct driver *driver)
{
	load_module *load = (load_module *)dlsym(driver->handle, "cuModuleLoadData");
	find_kernel *find = (find_kernel *)dlsym(driver->handle, "cuModuleGetFunction");
	launch_kernel *launch = (launch_kernel *)dlsym(driver->handle, "cuLaunchKernel");
	void *module, *kernel;
	int result;

	tell("step", "kernels");
	if (!load || !find || !launch)
		return;
	result = load(&module, kernel_text);
	if (result == 0)
		result = find(&kernel, module, KERNEL);
	for (int i = 0; result == 0 && i < LAUNCHES; i++)
		result = launch(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	if (result == 0)
		result = driver->synchronize();
	tell_result(driver, "kernels", result);
}

static bool use_gpu(struct driver *driver)
{
	if (!open_driver(driver) || !start_driver(driver) || !make_context(driver))
		return false;
	work(driver);
	return true;
}

static void *use_gpu_with_kernels(void *unused)
{
	struct driver driver = {.handle = NULL};

	(void)unused;
	if (use_gpu(&driver))
		launch_kernels(&driver);
	return NULL;
}

/*
 * A thread other than the main one waits in its first CUDA call until the hardware counters are set
 * up (inject/hw_collector.c), so the probe does not end before.
 */
static void run_on_second_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, use_gpu_with_kernels, NULL) == 0)
		pthread_join(thread, NULL);
}

int gp_probe(enum gp_probe_kind kind, char *const *libraries)
{
	struct driver driver = {.handle = NULL};

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	dl_iterate_phdr(look_for_library, NULL);
	load_libraries(libraries);
	tell("step", "range");
	gpuprof_range_push("gpuprof doctor");
	if (kind == GP_PROBE_GPU)
		use_gpu(&driver);
	else if (kind == GP_PROBE_KERNELS)
		run_on_second_thread();
	gpuprof_range_pop();
	tell("step", "done");
	return 0;
}

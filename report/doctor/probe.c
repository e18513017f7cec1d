#include "report/doctor/probe.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "gpuprof/gpuprof.h"

#define SET_BYTES 65536

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

int gp_probe(bool use_gpu, char *const *libraries)
{
	struct driver driver = {.handle = NULL};

	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	dl_iterate_phdr(look_for_library, NULL);
	load_libraries(libraries);
	tell("step", "range");
	gpuprof_range_push("gpuprof doctor");
	if (use_gpu && open_driver(&driver) && start_driver(&driver) && make_context(&driver))
		work(&driver);
	gpuprof_range_pop();
	tell("step", "done");
	return 0;
}

#include "report/counters/metric_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#include "hardware/cupti_places.h"

#define INSTALL                                                                                    \
	"install CUPTI of CUDA 12.6 or newer (cuda-cupti-13-0 of NVIDIA's repository, nvidia-cuda-cupti of pip), or name a copy: gpuprof metrics --cupti /path/to/libcupti.so ..."

struct search {
	struct gp_profiler_host *host;
	int error; /* of the best copy so far: -ENOENT none, -ENOSYS too old, -ELIBACC incomplete */
	char file[256]; /* that copy */
	char why[256];  /* it does not load */
};

static void note(struct search *search, int error, const char *file)
{
	search->error = error;
	snprintf(search->file, sizeof(search->file), "%s", file);
}

static bool try_file(void *context, const char *file)
{
	struct search *search = context;
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	int error;

	if (!library) {
		snprintf(search->why, sizeof(search->why), "%s", dlerror());
		return false;
	}
	error = gp_profiler_host_open(search->host, library, dlsym);
	if (error == -ENOENT)
		note(search, -ELIBACC, file);
	else if (error != 0 && search->error == -ENOENT)
		note(search, error, file);
	return error == 0;
}

int gp_metric_library_open(struct gp_profiler_host *host, const char *file, char *message,
			   size_t message_bytes)
{
	struct search search = {.host = host, .error = -ENOENT};

	if (file ? try_file(&search, file) : gp_cupti_try_installed(0, try_file, &search))
		return 0;
	if (search.error == -ELIBACC)
		snprintf(message, message_bytes,
			 "libnvperf_host.so is not in the folder of %s; " INSTALL, search.file);
	else if (search.error == -ENOSYS)
		snprintf(message, message_bytes,
			 "%s is older than CUDA 12.6, and cannot list metrics; " INSTALL,
			 search.file);
	else if (file)
		snprintf(message, message_bytes, "cannot load %s (%s); " INSTALL, file, search.why);
	else
		snprintf(message, message_bytes, "there is no libcupti; " INSTALL);
	return search.error;
}

#include "hardware/profiler_host.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hardware/cupti_params.h"

/* CUPTI's parameters. */

struct chips {
	struct gp_cupti_head head;
	size_t count;
	const char *const *names;
};

struct open {
	struct gp_cupti_head head;
	int kind;
	const char *chip;
	const uint8_t *availability;
	void *object;
};

struct close {
	struct gp_cupti_head head;
	void *object;
};

struct metrics {
	struct gp_cupti_head head;
	void *object;
	int type;
	const char *const *names;
	size_t count;
};

struct submetrics {
	struct gp_cupti_head head;
	void *object;
	int type;
	const char *metric;
	size_t count;
	const char *const *names;
};

struct properties {
	struct gp_cupti_head head;
	void *object;
	const char *metric, *description, *hardware_unit, *unit;
	int type;
};

struct add {
	struct gp_cupti_head head;
	void *object;
	const char *const *metrics;
	size_t count;
};

struct image_size {
	struct gp_cupti_head head;
	void *object;
	size_t image_bytes;
};

struct image {
	struct gp_cupti_head head;
	void *object;
	size_t image_bytes;
	uint8_t *image;
};

struct passes {
	struct gp_cupti_head head;
	size_t image_bytes;
	uint8_t *image;
	size_t passes;
};

struct evaluate {
	struct gp_cupti_head head;
	void *object;
	const uint8_t *data;
	size_t data_bytes, range_index;
	const char *const *metrics;
	size_t count;
	double *values;
};

static const char *const functions[GP_PROFILER_CALLS] = {
	[GP_PROFILER_CHIPS] = "cuptiProfilerHostGetSupportedChips",
	[GP_PROFILER_OPEN] = "cuptiProfilerHostInitialize",
	[GP_PROFILER_CLOSE] = "cuptiProfilerHostDeinitialize",
	[GP_PROFILER_METRICS] = "cuptiProfilerHostGetBaseMetrics",
	[GP_PROFILER_SUBMETRICS] = "cuptiProfilerHostGetSubMetrics",
	[GP_PROFILER_PROPERTIES] = "cuptiProfilerHostGetMetricProperties",
	[GP_PROFILER_ADD] = "cuptiProfilerHostConfigAddMetrics",
	[GP_PROFILER_IMAGE_SIZE] = "cuptiProfilerHostGetConfigImageSize",
	[GP_PROFILER_IMAGE] = "cuptiProfilerHostGetConfigImage",
	[GP_PROFILER_PASSES] = "cuptiProfilerHostGetNumOfPasses",
	[GP_PROFILER_EVALUATE] = "cuptiProfilerHostEvaluateToGpuValues",
};

/* of enum CUptiResult */
enum {
	SUCCESS = 0,
	INVALID_PARAMETER = 1,
	INVALID_METRIC_NAME = 17,
	NOT_SUPPORTED = 27,
	INVALID_CHIP_NAME = 46
};

static int call(struct gp_profiler_host *host, enum gp_profiler_call which, void *parameters)
{
	int result = host->calls[which](parameters);

	if (result == SUCCESS)
		return 0;
	host->result = result;
	if (result == INVALID_PARAMETER || result == INVALID_METRIC_NAME ||
	    result == INVALID_CHIP_NAME)
		return -EINVAL;
	return result == NOT_SUPPORTED ? -ENOTSUP : -EIO;
}

static bool load_beside(const char *libcupti)
{
	static const char name[] = "/libnvperf_host.so";
	const char *end = strrchr(libcupti, '/');
	size_t folder_bytes = end != NULL ? (size_t)(end - libcupti) : 0;
	char *path = end != NULL ? malloc(folder_bytes + sizeof(name)) : NULL;
	bool loaded = false;

	if (path != NULL) {
		memcpy(path, libcupti, folder_bytes);
		memcpy(path + folder_bytes, name, sizeof(name));
		loaded = dlopen(path, RTLD_NOW) != NULL;
	}
	free(path);
	return loaded;
}

/* Beside libcupti, beside the file that its link names, or where libcupti itself looks. */
static bool load_nvperf(void *function)
{
	Dl_info information;
	char *real = NULL;
	bool loaded = false;

	if (dladdr(function, &information) != 0 && information.dli_fname != NULL) {
		real = realpath(information.dli_fname, NULL);
		loaded = load_beside(information.dli_fname) || (real != NULL && load_beside(real));
	}
	free(real);
	return loaded || dlopen("libnvperf_host.so", RTLD_NOW) != NULL;
}

/* A sanitizer's dlopen() ends the process at libcupti's dlopen() with RTLD_DEEPBIND. */
static bool is_under_sanitizer(gp_profiler_find *find)
{
	return find(RTLD_DEFAULT, "__asan_init") != NULL ||
	       find(RTLD_DEFAULT, "__tsan_init") != NULL ||
	       find(RTLD_DEFAULT, "__msan_init") != NULL;
}

int gp_profiler_host_load(void *libcupti, gp_profiler_find *find)
{
	void *function = find(libcupti, "cuptiGetVersion");

	if (is_under_sanitizer(find))
		return -ENOTSUP;
	return function != NULL && load_nvperf(function) ? 0 : -ENOENT;
}

int gp_profiler_host_open(struct gp_profiler_host *host, void *libcupti, gp_profiler_find *find)
{
	memset(host, 0, sizeof(*host));
	if (is_under_sanitizer(find))
		return -ENOTSUP;
	for (size_t i = 0; i < GP_PROFILER_CALLS; i++) {
		*(void **)&host->calls[i] = find(libcupti, functions[i]);
		if (host->calls[i] == NULL)
			return -ENOSYS;
	}
	return gp_profiler_host_load(libcupti, find);
}

int gp_profiler_host_chips(struct gp_profiler_host *host, const char *const **names, size_t *count)
{
	struct chips chips = {.head = GP_CUPTI_HEAD(struct chips, names)};
	int error = call(host, GP_PROFILER_CHIPS, &chips);

	*names = chips.names;
	*count = error == 0 ? chips.count : 0;
	return error;
}

int gp_profiler_config_open(struct gp_profiler_config *config, struct gp_profiler_host *host,
			    const char *chip, enum gp_profiler_kind kind)
{
	struct open open = {
		.head = GP_CUPTI_HEAD(struct open, object), .kind = (int)kind, .chip = chip};
	int error = call(host, GP_PROFILER_OPEN, &open);

	*config = (struct gp_profiler_config){.host = host, .object = open.object};
	return error;
}

void gp_profiler_config_close(struct gp_profiler_config *config)
{
	struct close close = {.head = GP_CUPTI_HEAD(struct close, object),
			      .object = config->object};

	call(config->host, GP_PROFILER_CLOSE, &close);
	free(config->image);
	memset(config, 0, sizeof(*config));
}

int gp_profiler_config_add(struct gp_profiler_config *config, const char *const *metrics,
			   size_t count)
{
	struct add add = {.head = GP_CUPTI_HEAD(struct add, count),
			  .object = config->object,
			  .metrics = metrics,
			  .count = count};

	return call(config->host, GP_PROFILER_ADD, &add);
}

static int make_image(struct gp_profiler_config *config)
{
	struct image_size size = {.head = GP_CUPTI_HEAD(struct image_size, image_bytes),
				  .object = config->object};
	struct image image = {.head = GP_CUPTI_HEAD(struct image, image), .object = config->object};
	int error = call(config->host, GP_PROFILER_IMAGE_SIZE, &size);

	if (error != 0)
		return error;
	config->image = malloc(size.image_bytes);
	if (config->image == NULL)
		return -ENOMEM;
	config->image_bytes = image.image_bytes = size.image_bytes;
	image.image = config->image;
	return call(config->host, GP_PROFILER_IMAGE, &image);
}

static int count_passes(struct gp_profiler_config *config)
{
	struct passes passes = {.head = GP_CUPTI_HEAD(struct passes, passes),
				.image_bytes = config->image_bytes,
				.image = config->image};
	int error = call(config->host, GP_PROFILER_PASSES, &passes);

	config->passes = passes.passes;
	return error;
}

int gp_profiler_config_make(struct gp_profiler_config *config)
{
	int error = make_image(config);

	return error != 0 ? error : count_passes(config);
}

int gp_profiler_config_evaluate(struct gp_profiler_config *config, const char *const *metrics,
				size_t count, const uint8_t *data, size_t data_bytes,
				size_t range_index, double *values)
{
	struct evaluate evaluate = {.head = GP_CUPTI_HEAD(struct evaluate, values),
				    .object = config->object,
				    .data = data,
				    .data_bytes = data_bytes,
				    .range_index = range_index,
				    .metrics = metrics,
				    .count = count,
				    .values = values};

	return call(config->host, GP_PROFILER_EVALUATE, &evaluate);
}

int gp_profiler_metrics(struct gp_profiler_config *config, enum gp_profiler_type type,
			const char *const **names, size_t *count)
{
	struct metrics metrics = {.head = GP_CUPTI_HEAD(struct metrics, count),
				  .object = config->object,
				  .type = (int)type};
	int error = call(config->host, GP_PROFILER_METRICS, &metrics);

	*names = metrics.names;
	*count = error == 0 ? metrics.count : 0;
	return error;
}

int gp_profiler_submetrics(struct gp_profiler_config *config, const char *metric,
			   enum gp_profiler_type type, const char *const **names, size_t *count)
{
	struct submetrics submetrics = {.head = GP_CUPTI_HEAD(struct submetrics, names),
					.object = config->object,
					.type = (int)type,
					.metric = metric};
	int error = call(config->host, GP_PROFILER_SUBMETRICS, &submetrics);

	*names = submetrics.names;
	*count = error == 0 ? submetrics.count : 0;
	return error;
}

int gp_profiler_describe(struct gp_profiler_config *config, const char *name,
			 struct gp_profiler_metric *metric)
{
	struct properties properties = {.head = GP_CUPTI_HEAD(struct properties, type),
					.object = config->object,
					.metric = name};
	int error = call(config->host, GP_PROFILER_PROPERTIES, &properties);

	*metric = (struct gp_profiler_metric){.description = properties.description,
					      .hardware_unit = properties.hardware_unit,
					      .unit = properties.unit,
					      .type = (enum gp_profiler_type)properties.type};
	return error;
}

/*
 * profiler_host: the half of CUPTI's counter profilers that needs neither a GPU nor a driver:
 * chips, metrics, passes, config images, and the values of counter data.
 *
 * The recorder and the reader share it.  It does not link libcupti, but finds the functions in a
 * copy that the caller has loaded, 12.6 or newer.
 *
 * 	struct gp_profiler_host host;
 * 	struct gp_profiler_config config;
 *
 * 	gp_profiler_host_open(&host, libcupti, dlsym);
 * 	gp_profiler_config_open(&config, &host, "GH100", GP_PROFILER_PM);
 * 	gp_profiler_config_make(&config, metrics, count);   .passes, .image, .image_bytes
 * 	...                                                 collect, decode
 * 	gp_profiler_config_evaluate(&config, metrics, count, data, bytes, sample, values);
 * 	gp_profiler_config_close(&config);
 *
 * The first use takes 0.1 s for the libraries, the first config 65 to 100 ms, later configs 3 ms.
 * Functions return 0 or -errno; after -EIO host.result has CUPTI's error.  Only one thread may call
 * them at a time.  The strings belong to CUPTI, and live as long as the config that returned them.
 */
#ifndef HARDWARE_PROFILER_HOST_H
#define HARDWARE_PROFILER_HOST_H

#include <stddef.h>
#include <stdint.h>

/* Finds a function in a library: dlsym(), or gp_dlsym() in the recorder. */
typedef void *gp_profiler_find(void *library, const char *name);

enum gp_profiler_call {
	GP_PROFILER_CHIPS,
	GP_PROFILER_OPEN,
	GP_PROFILER_CLOSE,
	GP_PROFILER_METRICS,
	GP_PROFILER_SUBMETRICS,
	GP_PROFILER_PROPERTIES,
	GP_PROFILER_ADD,
	GP_PROFILER_IMAGE_SIZE,
	GP_PROFILER_IMAGE,
	GP_PROFILER_PASSES,
	GP_PROFILER_EVALUATE,
	GP_PROFILER_CALLS
};

struct gp_profiler_host {
	int (*calls[GP_PROFILER_CALLS])(void *parameters);
	int result; /* CUptiResult of the last failed call */
};

/*
 * Loads libnvperf_host.so from the folder of libcupti, because libcupti looks for it only by its
 * bare name.  -ENOENT: there is none; -ENOTSUP: the program has a sanitizer's runtime, which ends a
 * process that loads that library.
 */
int gp_profiler_host_load(void *libcupti, gp_profiler_find *find);

/* Loads it, and finds the functions.  -ENOSYS: this libcupti is older than 12.6. */
int gp_profiler_host_open(struct gp_profiler_host *host, void *libcupti, gp_profiler_find *find);

/* Names of the chips that this libcupti knows, such as "GH100". */
int gp_profiler_host_chips(struct gp_profiler_host *host, const char *const **names, size_t *count);

enum gp_profiler_kind { GP_PROFILER_RANGE, GP_PROFILER_PM }; /* as CUpti_ProfilerType */

/* Metrics of one chip for one kind of profiler. */
struct gp_profiler_config {
	struct gp_profiler_host *host;
	void *object;
	uint8_t *image; /* NULL until it is made */
	size_t image_bytes, passes;
};

/* -EINVAL: unknown chip.  Close it only after success. */
int gp_profiler_config_open(struct gp_profiler_config *config, struct gp_profiler_host *host,
			    const char *chip, enum gp_profiler_kind kind);
void gp_profiler_config_close(struct gp_profiler_config *config);

/*
 * Metrics with their full names, such as "dram__bytes_read.sum".  Those of each call get their own
 * passes.  CUPTI refuses everything after an error.  -EINVAL: the chip lacks one of the metrics;
 * -ENOTSUP: they cannot be collected together.
 */
int gp_profiler_config_add(struct gp_profiler_config *config, const char *const *metrics,
			   size_t count);

/* Makes the image of the metrics, and counts its passes.  Once for each config.  -ENOMEM. */
int gp_profiler_config_make(struct gp_profiler_config *config);

/*
 * The values of a range or sample in counter data of this config's image.  The value is NaN if the
 * GPU lacks the unit.
 */
int gp_profiler_config_evaluate(struct gp_profiler_config *config, const char *const *metrics,
				size_t count, const uint8_t *data, size_t data_bytes,
				size_t range_index, double *values);

/* ---- what can be measured ---- */

enum gp_profiler_type { GP_PROFILER_COUNTER, GP_PROFILER_RATIO, GP_PROFILER_THROUGHPUT };
#define GP_PROFILER_TYPES 3

/* The chip's metrics of a type, without ".sum" and the like. */
int gp_profiler_metrics(struct gp_profiler_config *config, enum gp_profiler_type type,
			const char *const **names, size_t *count);

/* The ends of full names of a metric: ".sum", ".avg.per_second", ... */
int gp_profiler_submetrics(struct gp_profiler_config *config, const char *metric,
			   enum gp_profiler_type type, const char *const **names, size_t *count);

struct gp_profiler_metric {
	const char *description;
	const char *hardware_unit; /* "sm", "dram", "lts" */
	const char *unit;          /* "byte", "instruction"; "" = none */
	enum gp_profiler_type type;
};

/* -EINVAL: unknown metric.  The name may have an end. */
int gp_profiler_describe(struct gp_profiler_config *config, const char *name,
			 struct gp_profiler_metric *metric);

#endif

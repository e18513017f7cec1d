/*
 * pm_sampling: CUPTI's functions that sample performance counters (PM sampling).  They are found at
 * run time, because libcupti before 12.6 lacks them, and so do the headers of its toolkit.
 */
#ifndef INJECT_PM_SAMPLING_H
#define INJECT_PM_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include "hardware/cupti_params.h"

/* Enable fills in the object; disable, start and stop take it. */
struct gp_pm_enable {
	struct gp_cupti_head head;
	size_t device;
	void *object;
};

struct gp_pm_object {
	struct gp_cupti_head head;
	void *object;
};

#define GP_PM_BY_TIME     1 /* trigger: the interval is in ns */
#define GP_PM_KEEP_OLDEST 0

struct gp_pm_config {
	struct gp_cupti_head head;
	void *object;
	size_t image_bytes;
	const uint8_t *image;
	size_t hardware_buffer_bytes;
	uint64_t interval;
	int trigger;
	int append;
};

struct gp_pm_data_size {
	struct gp_cupti_head head;
	void *object;
	const char *const *metrics;
	size_t metric_count;
	uint32_t most_samples;
	size_t data_bytes; /* out */
};

struct gp_pm_data {
	struct gp_cupti_head head;
	void *object;
	size_t data_bytes;
	uint8_t *data;
};

struct gp_pm_decode {
	struct gp_cupti_head head;
	void *object;
	uint8_t *data;
	size_t data_bytes;
	int stop_reason;  /* out */
	uint8_t overflow; /* out: the hardware's buffer was full */
};

struct gp_pm_data_info {
	struct gp_cupti_head head;
	const uint8_t *data;
	size_t data_bytes;
	size_t samples, populated, completed; /* out */
};

struct gp_pm_sample_info {
	struct gp_cupti_head head;
	void *object;
	const uint8_t *data;
	size_t data_bytes;
	size_t index;
	uint64_t start_ns, end_ns; /* out; of CUPTI's clock */
};

#define GP_PM_FUNCTIONS(X)                                                                         \
	X(initialize, "cuptiProfilerInitialize", gp_cupti_initialize)                              \
	X(chip_name, "cuptiDeviceGetChipName", gp_cupti_chip_name)                                 \
	X(enable, "cuptiPmSamplingEnable", gp_pm_enable)                                           \
	X(disable, "cuptiPmSamplingDisable", gp_pm_object)                                         \
	X(set_config, "cuptiPmSamplingSetConfig", gp_pm_config)                                    \
	X(data_size, "cuptiPmSamplingGetCounterDataSize", gp_pm_data_size)                         \
	X(begin_data, "cuptiPmSamplingCounterDataImageInitialize", gp_pm_data)                     \
	X(start, "cuptiPmSamplingStart", gp_pm_object)                                             \
	X(stop, "cuptiPmSamplingStop", gp_pm_object)                                               \
	X(decode, "cuptiPmSamplingDecodeData", gp_pm_decode)                                       \
	X(data_info, "cuptiPmSamplingGetCounterDataInfo", gp_pm_data_info)                         \
	X(sample_info, "cuptiPmSamplingCounterDataGetSampleInfo", gp_pm_sample_info)

struct gp_pm_sampling {
#define X(name, symbol, type) int (*name)(struct type *);
	GP_PM_FUNCTIONS(X)
#undef X
};

#endif

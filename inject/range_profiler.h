/*
 * range_profiler: CUPTI's functions that count within ranges, here within each kernel.  They are
 * found at run time, because libcupti before 12.6 lacks them, and so do the headers of its toolkit.
 */
#ifndef INJECT_RANGE_PROFILER_H
#define INJECT_RANGE_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#include "hardware/cupti_params.h"

/* Enable fills in the object; disable, start and decode take it. */
struct gp_range_enable {
	struct gp_cupti_head head;
	void *context;
	void *object;
};

struct gp_range_object {
	struct gp_cupti_head head;
	void *object;
};

#define GP_RANGE_EACH_KERNEL 1 /* range: each kernel is one */
/*
 * Replay: by the caller, who runs everything once.  CUPTI's own (2) crashes programs that copy
 * memory.
 */
#define GP_RANGE_USER_REPLAY 3

struct gp_range_config {
	struct gp_cupti_head head;
	void *object;
	size_t image_bytes;
	const uint8_t *image;
	size_t data_bytes;
	uint8_t *data;
	int range, replay;
	size_t most_ranges;
	uint16_t levels, first_level;
	size_t pass;
	uint16_t target_level;
};

struct gp_range_stop {
	struct gp_cupti_head head;
	void *object;
	size_t pass, target_level; /* out */
	uint8_t is_last_pass;      /* out */
};

struct gp_range_decode {
	struct gp_cupti_head head;
	void *object;
	size_t dropped; /* out; 0 even if ranges did not fit */
};

struct gp_range_data_size {
	struct gp_cupti_head head;
	void *object;
	const char *const *metrics;
	size_t metric_count, most_ranges;
	uint32_t most_nodes;
	size_t data_bytes; /* out */
};

struct gp_range_data {
	struct gp_cupti_head head;
	void *object;
	size_t data_bytes;
	uint8_t *data;
};

struct gp_range_data_info {
	struct gp_cupti_head head;
	const uint8_t *data;
	size_t data_bytes;
	size_t ranges; /* out */
};

#define GP_RANGE_FUNCTIONS(X)                                                                      \
	X(initialize, "cuptiProfilerInitialize", gp_cupti_initialize)                              \
	X(chip_name, "cuptiDeviceGetChipName", gp_cupti_chip_name)                                 \
	X(enable, "cuptiRangeProfilerEnable", gp_range_enable)                                     \
	X(disable, "cuptiRangeProfilerDisable", gp_range_object)                                   \
	X(set_config, "cuptiRangeProfilerSetConfig", gp_range_config)                              \
	X(start, "cuptiRangeProfilerStart", gp_range_object)                                       \
	X(stop, "cuptiRangeProfilerStop", gp_range_stop)                                           \
	X(decode, "cuptiRangeProfilerDecodeData", gp_range_decode)                                 \
	X(data_size, "cuptiRangeProfilerGetCounterDataSize", gp_range_data_size)                   \
	X(begin_data, "cuptiRangeProfilerCounterDataImageInitialize", gp_range_data)               \
	X(data_info, "cuptiRangeProfilerGetCounterDataInfo", gp_range_data_info)

struct gp_range_profiler {
#define X(name, symbol, type) int (*name)(struct type *);
	GP_RANGE_FUNCTIONS(X)
#undef X
};

#endif

/*
 * pc_sampling: CUPTI's functions that sample the program counters of warps (PC sampling).  They are
 * found at run time, and their parameters are declared here, because the structs of old and new
 * toolkits differ: CUPTI writes the members that fit into the struct's size.
 */
#ifndef INJECT_PC_SAMPLING_H
#define INJECT_PC_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#define GP_PC_REASON_NAME_BYTES 128 /* CUPTI writes up to that */

struct gp_pc_reason {
	uint32_t index; /* of the names; differs from chip to chip */
	uint32_t samples;
};

/*
 * One program counter.  CUPTI has an array of these: from 12.4 on with a further member, so that
 * the distance of two elements depends on its version (gp_pc_stride()).
 */
struct gp_pc {
	size_t bytes; /* the distance */
	uint64_t crc; /* of the module: cuptiGetCubinCrc() */
	uint64_t offset;
	uint32_t function; /* number of the symbol in the module */
	uint32_t zero;
	const char *name; /* of the function; CUPTI's, valid for the life of the process */
	size_t reason_count;
	struct gp_pc_reason *reasons; /* the memory is the caller's */
};

#define GP_PC_CORRELATION_SINCE 22u /* CUPTI 12.4 */

static inline size_t gp_pc_stride(uint32_t cupti_version)
{
	return sizeof(struct gp_pc) + (cupti_version >= GP_PC_CORRELATION_SINCE ? 8 : 0);
}

struct gp_pc_data {
	size_t bytes;
	size_t capacity;  /* of pcs */
	uint64_t samples; /* out: all of these members */
	uint64_t dropped;
	size_t count;
	size_t remaining;
	uint64_t range;
	void *pcs;
	uint64_t outside; /* of samples: in code that is in no module of the program */
	uint8_t buffer_full;
};

struct gp_pc_context {
	size_t bytes;
	void *reserved;
	CUcontext context;
};

struct gp_pc_get {
	size_t bytes;
	void *reserved;
	CUcontext context;
	struct gp_pc_data *data;
};

struct gp_pc_reason_count {
	size_t bytes;
	void *reserved;
	CUcontext context;
	size_t *count;
};

struct gp_pc_reason_names {
	size_t bytes;
	void *reserved;
	CUcontext context;
	size_t count;
	uint32_t *indices;
	char **names;
};

enum gp_pc_attribute {
	GP_PC_PERIOD = 1, /* exponent of two, in cycles */
	GP_PC_SCRATCH_BYTES = 3,
	GP_PC_HARDWARE_BYTES = 4,
	GP_PC_MODE = 5,
	GP_PC_START_STOP = 6,
	GP_PC_FORMAT = 7,
	GP_PC_DATA = 8,
};

#define GP_PC_CONTINUOUS 1 /* mode: kernels run concurrently */
#define GP_PC_PARSED     1 /* format */

struct gp_pc_setting {
	int attribute;
	int result;
	union {
		uint64_t room[3];
		uint32_t number;
		size_t bytes;
		void *data;
	};
};

struct gp_pc_settings {
	size_t bytes;
	void *reserved;
	CUcontext context;
	size_t count;
	struct gp_pc_setting *settings;
};

struct gp_pc_crc {
	size_t bytes;
	size_t cubin_bytes;
	const void *cubin;
	uint64_t crc; /* out */
};

/* Sets the size: all members are known to every version. */
#define GP_PC_HEAD(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

#define GP_PC_FUNCTIONS(X)                                                                         \
	X(enable, "cuptiPCSamplingEnable", gp_pc_context)                                          \
	X(disable, "cuptiPCSamplingDisable", gp_pc_context)                                        \
	X(configure, "cuptiPCSamplingSetConfigurationAttribute", gp_pc_settings)                   \
	X(start, "cuptiPCSamplingStart", gp_pc_context)                                            \
	X(stop, "cuptiPCSamplingStop", gp_pc_context)                                              \
	X(get, "cuptiPCSamplingGetData", gp_pc_get)                                                \
	X(reason_count, "cuptiPCSamplingGetNumStallReasons", gp_pc_reason_count)                   \
	X(reason_names, "cuptiPCSamplingGetStallReasons", gp_pc_reason_names)                      \
	X(crc, "cuptiGetCubinCrc", gp_pc_crc)

struct gp_pc_sampling {
#define X(name, symbol, type) int (*name)(struct type *);
	GP_PC_FUNCTIONS(X)
#undef X
};

#endif

/*
 * nsys_numbers: numbers and names in nsys's databases, for the reader and the writer of such
 * databases.
 */
#ifndef REPORT_MODEL_NSYS_NUMBERS_H
#define REPORT_MODEL_NSYS_NUMBERS_H

#include "gpuprof/record.h"

/* Of ENUM_NSYS_EVENT_TYPE. */
enum {
	GP_NSYS_NVTX_CATEGORY = 33,
	GP_NSYS_NVTX_MARK = 34,
	GP_NSYS_NVTX_PUSH_POP = 59,
	GP_NSYS_NVTX_START_END = 60,
	GP_NSYS_NVTX_DOMAIN = 75,
};

/* Of ENUM_CUDA_MEM_KIND. */
enum {
	GP_NSYS_PINNED = 1,
	GP_NSYS_DEVICE = 2,
	GP_NSYS_ARRAY = 3,
	GP_NSYS_MANAGED = 4,
	GP_NSYS_UNKNOWN_MEMORY = 7,
};

/* Of ENUM_CUDA_MEMCPY_OPER: unified memory's come after CUPTI's. */
enum { GP_NSYS_UNIFIED_HTOD = 11, GP_NSYS_UNIFIED_DTOH = 12, GP_NSYS_UNIFIED_DTOD = 13 };

/*
 * Of META_DATA_EXPORT, by gpuprof alone: GP_UNKNOWN_ORDER, why the trace has no end, and who recorded
 * it if not gpuprof.
 */
#define GP_NSYS_NO_ORDER "OPERATIONS_OF_A_STREAM_MAY_RUN_AT_ONCE"
#define GP_NSYS_NO_END   "TRACE_HAS_NO_END"
#define GP_NSYS_RECORDER "RECORDER"

/* Of META_DATA_CAPTURE, by gpuprof alone; each row has its process. */
#define GP_NSYS_NOTE     "NOTE"
#define GP_NSYS_CAPTURES 4u

static const struct {
	const char *name;
	enum gp_info info;
} gp_nsys_captures[GP_NSYS_CAPTURES] = {
	{"COMMAND", GP_INFO_COMMAND},
	{"DIRECTORY", GP_INFO_DIRECTORY},
	{"HOST", GP_INFO_HOST},
	{"OPTIONS", GP_INFO_OPTIONS},
};

#endif

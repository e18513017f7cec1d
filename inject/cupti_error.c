#include "inject/cupti_error.h"

#include <stddef.h>

#include "gpuprof/injection.h"

#define DOCTOR GP_FIX_COMMAND "gpuprof doctor"

static const struct {
	CUptiResult result;
	const char *text;
} refusals[] = {
	{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
	 "another profiler (nsys, ncu, torch.profiler, ...) already uses CUPTI in this process; run the program under one of them only"},
	{CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED,
	 "another profiler already uses the GPU's hardware counters in this process; run the program under one of them only"},
	{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
	 "the driver lets only administrators profile here" DOCTOR},
	{CUPTI_ERROR_NOT_INITIALIZED,
	 "the driver is older than this libcupti needs, or is the stub driver of the CUDA Toolkit" DOCTOR},
	{CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED,
	 "CUPTI does not support this virtual GPU (CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)"},
	{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
	 "this virtual GPU does not permit profiling; the administrator of its host can allow it (CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)"},
	{CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
	 "the GPU is in confidential computing mode, in which CUPTI does not work; an administrator can switch that mode off, or to devtools mode (CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED)"},
	{CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED,
	 "CUPTI does not support this GPU under WSL; a newer Windows driver may (CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED)"},
};

const char *gp_cupti_error_reason(CUptiResult result)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].result == result)
			return refusals[i].text;
	return NULL;
}

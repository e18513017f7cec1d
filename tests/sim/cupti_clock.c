/* libcupti: the clock by which records are written: that of a client once there is one, else the wall clock. */
#include "tests/sim/cupti_sim.h"

#include <string.h>

static CUpti_TimestampCallbackFunc _Atomic clock_function;
static uint64_t first_ns, first_ticks; /* one moment on both clocks */

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	first_ns = sim_now_ns();
	first_ticks = funcTimestamp();
	clock_function = funcTimestamp;
	return CUPTI_SUCCESS;
}

/* Where the beginning is; the end follows it. */
static size_t time_offset(CUpti_ActivityKind kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case CUPTI_ACTIVITY_KIND_MEMCPY:
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
	case CUPTI_ACTIVITY_KIND_MEMSET:
	case CUPTI_ACTIVITY_KIND_JIT:
		return 16;
	case CUPTI_ACTIVITY_KIND_DRIVER:
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return 8;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return 24;
	default:
		return 0;
	}
}

/* A client's times, or those of the clock as it was when they began. */
static void convert(uint64_t times[2], CUpti_TimestampCallbackFunc function, double rate)
{
	uint64_t shift = sim_wall_clock_ns(times[0]) - times[0];

	for (size_t i = 0; i < 2; i++)
		if (times[i] && !function)
			times[i] += shift;
		else if (times[i])
			times[i] =
				first_ticks +
				(uint64_t)(int64_t)((double)(int64_t)(times[i] - first_ns) * rate);
}

/* Of a buffer that is delivered now. */
void sim_clock_convert(uint8_t *data, size_t bytes)
{
	CUpti_TimestampCallbackFunc function = clock_function;
	double rate = 1;

	if (!function && !sim_config()->clock_step_ns)
		return;
	if (function)
		rate = (double)(function() - first_ticks) / (double)(sim_now_ns() - first_ns);
	for (size_t at = 0; at < bytes;
	     at += sim_record_bytes(((CUpti_Activity *)(data + at))->kind)) {
		size_t offset = time_offset(((CUpti_Activity *)(data + at))->kind);

		if (offset)
			convert((uint64_t *)(void *)(data + at + offset), function, rate);
	}
}

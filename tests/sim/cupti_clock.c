/* libcupti: the clock of the records: that of the client if it has one, else the wall clock. */
#include "tests/sim/cupti_sim.h"

#include <string.h>

static CUpti_TimestampCallbackFunc _Atomic clock_function;
static uint64_t first_ns, first_ticks; /* simultaneous readings of both clocks */

/*
 * maximum duration of a reading: a kernel may start right after its launch, and the error is up to
 * half of this
 */
#define CLOSE_NS   200
#define MOST_TRIES 200

/* Read both clocks at the same time.  Repeat if an interruption came between the readings. */
static void read_both(CUpti_TimestampCallbackFunc function, uint64_t *ns, uint64_t *ticks)
{
	uint64_t least_ns = UINT64_MAX;

	for (int i = 0; i < MOST_TRIES && least_ns > CLOSE_NS; i++) {
		uint64_t before_ns = sim_now_ns(), its = function();
		uint64_t passed_ns = sim_now_ns() - before_ns;

		if (passed_ns >= least_ns)
			continue;
		least_ns = passed_ns;
		*ns = before_ns + passed_ns / 2;
		*ticks = its;
	}
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	if (!funcTimestamp)
		return CUPTI_ERROR_INVALID_PARAMETER;
	read_both(funcTimestamp, &first_ns, &first_ticks);
	clock_function = funcTimestamp;
	return CUPTI_SUCCESS;
}

/* Offset of the start time, which the end time follows. */
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

/*
 * Convert to the client's clock.  Without one, to the wall clock as it was set at the start time.
 */
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

/* Convert the times in a buffer that is being delivered. */
void sim_clock_convert(uint8_t *data, size_t bytes)
{
	CUpti_TimestampCallbackFunc function = clock_function;
	double rate = 1;

	if (!function && !sim_config()->clock_step_ns)
		return;
	if (function) {
		uint64_t ns, ticks;

		read_both(function, &ns, &ticks);
		rate = (double)(ticks - first_ticks) / (double)(ns - first_ns);
	}
	for (size_t at = 0; at < bytes;
	     at += sim_record_bytes(((CUpti_Activity *)(data + at))->kind)) {
		size_t offset = time_offset(((CUpti_Activity *)(data + at))->kind);

		if (offset)
			convert((uint64_t *)(void *)(data + at + offset), function, rate);
	}
}

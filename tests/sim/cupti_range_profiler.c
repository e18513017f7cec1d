/*
 * libcupti: the range profiler, for automatic ranges.  Kernels of a session run one after the other,
 * and have the values of tests/sim/range_metric.def.
 *
 * As on a GPU: a kernel has values of the metrics of the session's pass alone, of the config that
 * was set first after the profiler was enabled.  Counter data are initialized for the size and the
 * metrics that were asked for last.  Further ranges than the session has places for are dropped
 * silently.  After a graph launch in a session, stopping fails until the profiler is disabled.
 * CUPTI runs a kernel of its own before each measured one.  If kernels have records, these add
 * instructions, and patched code counts nothing.  Starting and stopping take a large stack.
 */
#include "tests/sim/cupti_sim.h"

#include <cupti_range_profiler.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/cupti_profiler.h"
#include "tests/sim/module.h"

struct CUpti_RangeProfiler_Object {
	CUcontext ctx;
	struct sim_data *data;
	size_t most, count;
	/* of the data that were asked for last, and of the config */
	size_t data_bytes;
	uint64_t data_metrics;
	struct sim_config_image config;
	size_t pass;
	struct sim_sample *ranges;
	bool is_broken;
};

/* One session at a time is enough. */
static struct CUpti_RangeProfiler_Object *running;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define STACK_BYTES  (384u << 10)
#define METRIC_BYTES 64

static __attribute__((noinline)) void take_stack(void)
{
	volatile char bytes[STACK_BYTES];

	for (size_t i = 0; i < sizeof(bytes); i += 4096)
		bytes[sizeof(bytes) - 1 - i] = 0;
}

static double product(const unsigned int *three)
{
	return (double)three[0] * three[1] * three[2];
}

/* CUPTI's own kernel, with the number of the program's launch. */
static void run_own(const struct sim_op *measured)
{
	struct CUfunc_st function = {.name = "WaitNs", .module = measured->kernel.function->module};
	struct sim_op op = *measured;

	op.end = op.start;
	op.start -= 80000;
	op.kernel.function = &function;
	for (int i = 0; i < 3; i++)
		op.kernel.grid[i] = op.kernel.block[i] = 1;
	sim_record_operation(&op);
}

static void measure(const struct sim_op *op, struct sim_sample *sample)
{
	bool has_records = sim_wanted(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	double ns = (double)(op->end - op->start);
	double blocks = product(op->kernel.grid), threads = blocks * product(op->kernel.block);
	double warps = blocks * (double)(((uint64_t)product(op->kernel.block) + 31) / 32);
	double patched = !has_records, added = has_records ? 8 * warps + 40 : 0;
	double added_bytes = has_records ? 32 : 0;

	sample->start = op->start;
	sample->end = op->end;
	sample->values[GP_HW_DRAM_READ] = 1000 * ns;
	sample->values[GP_HW_DRAM_WRITE] = 500 * ns;
	sample->values[GP_HW_L2] = 3000 * ns;
#define METRIC(ID, name, value) sample->values[SIM_##ID] = (value);
#include "tests/sim/range_metric.def"
#undef METRIC
}

void sim_range_operation(const struct sim_op *op)
{
	bool is_measured = false;

	if (op->kind == SIM_OP_KERNEL && !strcmp(op->kernel.function->name, "WaitNs"))
		return;
	pthread_mutex_lock(&lock);
	if (running && op->kind == SIM_OP_KERNEL && op->stream->ctx == running->ctx) {
		running->is_broken |= op->graph_node != 0;
		is_measured = op->graph_node == 0;
		if (is_measured && running->count < running->most)
			measure(op, &running->ranges[running->count++]);
	}
	pthread_mutex_unlock(&lock);
	if (is_measured)
		run_own(op);
	if (is_measured)
		sim_wait_until_ns(op->end);
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params *params)
{
	if (sim_config()->faults & SIM_FAULT_COUNTERS_FORBIDDEN)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	params->pRangeProfilerObject = calloc(1, sizeof(*params->pRangeProfilerObject));
	if (!params->pRangeProfilerObject)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	params->pRangeProfilerObject->ctx = params->ctx;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params *params)
{
	pthread_mutex_lock(&lock);
	if (running == params->pRangeProfilerObject)
		running = NULL;
	pthread_mutex_unlock(&lock);
	free(params->pRangeProfilerObject->ranges);
	free(params->pRangeProfilerObject);
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params *params)
{
	params->counterDataSize = sizeof(struct sim_data) +
				  params->maxNumOfRanges * sizeof(struct sim_sample) +
				  params->numMetrics * METRIC_BYTES;
	params->pRangeProfilerObject->data_bytes = params->counterDataSize;
	params->pRangeProfilerObject->data_metrics =
		sim_metric_bits(params->pMetricNames, params->numMetrics);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
	CUpti_RangeProfiler_CounterDataImage_Initialize_Params *params)
{
	struct sim_data *data = (struct sim_data *)params->pCounterData;

	if (params->counterDataSize < params->pRangeProfilerObject->data_bytes)
		abort(); /* a GPU's CUPTI writes so many bytes */
	data->capacity = (params->counterDataSize - sizeof(*data)) / sizeof(struct sim_sample);
	data->count = 0;
	data->metrics = params->pRangeProfilerObject->data_metrics;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params *params)
{
	struct CUpti_RangeProfiler_Object *object = params->pRangeProfilerObject;

	if (params->range != CUPTI_AutoRange || params->replayMode != CUPTI_UserReplay ||
	    params->numNestingLevels != 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	free(object->ranges);
	if (object->config.count == 0)
		memcpy(&object->config, params->pConfig, sizeof(object->config));
	if (params->passIndex >= object->config.count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	object->pass = params->passIndex;
	object->data = (struct sim_data *)params->pCounterDataImage;
	object->most = params->maxRangesPerPass;
	object->ranges = calloc(object->most, sizeof(*object->ranges));
	return object->ranges ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params *params)
{
	static _Atomic unsigned int tries;

	take_stack();
	if ((sim_config()->faults & SIM_FAULT_COUNTERS_BUSY) && tries++ == 0)
		return CUPTI_ERROR_HARDWARE_BUSY;
	if (!sim_counters_take())
		return CUPTI_ERROR_HARDWARE_BUSY;
	pthread_mutex_lock(&lock);
	params->pRangeProfilerObject->count = 0;
	running = params->pRangeProfilerObject;
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params *params)
{
	bool is_broken = params->pRangeProfilerObject->is_broken ||
			 (sim_config()->faults & SIM_FAULT_COUNTERS_BROKEN);

	take_stack();
	pthread_mutex_lock(&lock);
	running = NULL;
	pthread_mutex_unlock(&lock);
	sim_counters_give_back();
	params->isAllPassSubmitted = 1;
	return is_broken ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

/* Only metrics of the pass have values, if the data have a place for them. */
static void decode(const struct CUpti_RangeProfiler_Object *object, struct sim_sample *to,
		   const struct sim_sample *from)
{
	uint64_t metrics = object->config.passes[object->pass];

	*to = *from;
	for (size_t i = 0; i < object->config.count; i++)
		for (int j = 0; j < SIM_METRICS; j++)
			if (sim_is_peak(j))
				metrics |= object->config.passes[i] & UINT64_C(1) << j;
	for (int i = 0; i < SIM_METRICS; i++)
		if ((metrics & object->data->metrics & UINT64_C(1) << i) == 0)
			to->values[i] = (double)NAN;
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params *params)
{
	const struct CUpti_RangeProfiler_Object *object = params->pRangeProfilerObject;
	struct sim_data *data = object->data;

	while (data->count < data->capacity && data->count < object->count) {
		decode(object, &data->samples[data->count], &object->ranges[data->count]);
		data->count++;
	}
	if ((sim_config()->faults & SIM_FAULT_COUNTERS_OVERFLOW) && data->count > 0)
		data->count--;
	params->numOfRangeDropped = 0;
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params *params)
{
	params->numTotalRanges = ((const struct sim_data *)params->pCounterDataImage)->count;
	return CUPTI_SUCCESS;
}

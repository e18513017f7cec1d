/*
 * libcupti: PM sampling of a chip "SIM100", with known values.  SMs and the compute engine are
 * active while kernels run, warps for half and tensor pipes for a quarter of that time.  Each ns of
 * a kernel reads 1000 bytes of DRAM, writes 500, and moves 3000 bytes through L2.  Copies from and
 * to the host cross PCIe.  There is no NVLink.  The clock is 1.5 GHz.
 */
#include "tests/sim/cupti_sim.h"

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/sim/cupti_profiler.h"

#define METRICS_OF_PASS 20

static const char *const names[] = {
	[GP_HW_CLOCK] = "gpc__cycles_elapsed.avg.per_second",
	[GP_HW_SM_ACTIVE] = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
	[GP_HW_WARPS_ACTIVE] = "sm__warps_active.avg.pct_of_peak_sustained_elapsed",
	[GP_HW_TENSOR_ACTIVE] = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
	[GP_HW_ENGINE_ACTIVE] = "gr__cycles_active.avg.pct_of_peak_sustained_elapsed",
	[GP_HW_DRAM_READ] = "dram__bytes_read.sum",
	[GP_HW_DRAM_WRITE] = "dram__bytes_write.sum",
	[GP_HW_L2] = "lts__t_bytes.sum",
	[GP_HW_PCIE_READ] = "pcie__read_bytes.sum",
	[GP_HW_PCIE_WRITE] = "pcie__write_bytes.sum",
	[GP_HW_NVLINK_RECEIVED] = "nvlrx__bytes.sum",
	[GP_HW_NVLINK_SENT] = "nvltx__bytes.sum",
#define METRIC(ID, name, value) [SIM_##ID] = (name),
#include "tests/sim/range_metric.def"
#undef METRIC
};

/* ---- operations, from the initialization on ---- */

struct work {
	uint64_t start, end;
	double pcie_read, pcie_written; /* bytes a ns */
	bool is_kernel;
};

struct works {
	struct work *list;
	size_t count, capacity;
};

struct CUpti_PmSampling_Object {
	size_t device;
	uint64_t interval, next; /* the next sample begins */
	bool has_first;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct works works_of[SIM_MAX_DEVICES];
static _Atomic bool is_initialized;

static struct work work_of(const struct sim_op *op)
{
	struct work work = {
		.start = op->start, .end = op->end, .is_kernel = op->kind == SIM_OP_KERNEL};
	double rate = op->end > op->start ? (double)op->bytes / (double)(op->end - op->start) : 0;

	if (op->kind == SIM_OP_COPY && op->copy.kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
		work.pcie_read = rate;
	if (op->kind == SIM_OP_COPY && op->copy.kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
		work.pcie_written = rate;
	return work;
}

void sim_profiler_operation(const struct sim_op *op)
{
	struct works *works = &works_of[op->stream->ctx->device->ordinal];

	if (!is_initialized)
		return;
	sim_range_operation(op);
	pthread_mutex_lock(&lock);
	if (works->count == works->capacity) {
		size_t capacity = works->capacity ? 2 * works->capacity : 1024;
		struct work *list = realloc(works->list, capacity * sizeof(*list));

		works->list = list ? list : works->list;
		works->capacity = list ? capacity : works->capacity;
	}
	if (works->count < works->capacity)
		works->list[works->count++] = work_of(op);
	pthread_mutex_unlock(&lock);
}

/* ---- the host's half ---- */

struct CUpti_Profiler_Host_Object {
	CUpti_ProfilerType type;
	struct sim_config_image image;
};

static int find_metric(const char *name)
{
	for (int i = 0; i < SIM_METRICS; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

uint64_t sim_metric_bits(const char *const *metrics, size_t count)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < count; i++)
		if (find_metric(metrics[i]) >= 0)
			bits |= UINT64_C(1) << find_metric(metrics[i]);
	return bits;
}

static pthread_mutex_t lock_of_counters = PTHREAD_MUTEX_INITIALIZER;
static int locked_file = -1;

bool sim_counters_take(void)
{
	const char *path = sim_config()->counters_lock;
	bool is_ours;

	if (!path)
		return true;
	pthread_mutex_lock(&lock_of_counters);
	if (locked_file < 0) {
		locked_file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		if (locked_file >= 0 && flock(locked_file, LOCK_EX | LOCK_NB) != 0) {
			close(locked_file);
			locked_file = -1;
		}
	}
	is_ours = locked_file >= 0;
	pthread_mutex_unlock(&lock_of_counters);
	return is_ours;
}

void sim_counters_give_back(void)
{
	pthread_mutex_lock(&lock_of_counters);
	if (locked_file >= 0)
		close(locked_file);
	locked_file = -1;
	pthread_mutex_unlock(&lock_of_counters);
}

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
	(void)params;
	is_initialized = true;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
	bool is_other = sim_config()->faults & SIM_FAULT_OTHER_CHIP && params->deviceIndex > 0;

	params->pChipName = is_other ? "SIM200" : "SIM100";
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params *params)
{
	static const char *const chips[] = {"SIM100"};

	params->numChips = 1;
	params->ppChipNames = chips;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params *params)
{
	if (strcmp(params->pChipName, "SIM100") != 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->pHostObject = calloc(1, sizeof(*params->pHostObject));
	if (!params->pHostObject)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	params->pHostObject->type = params->profilerType;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params *params)
{
	free(params->pHostObject);
	return CUPTI_SUCCESS;
}

/* Counters of ranges read either the traffic of DRAM or that of the links, whatever the passes. */
static bool exclude_each_other(const struct sim_config_image *image)
{
	const uint64_t dram = UINT64_C(1) << GP_HW_DRAM_READ | UINT64_C(1) << GP_HW_DRAM_WRITE;
	const uint64_t links = UINT64_C(1) << GP_HW_PCIE_READ | UINT64_C(1) << GP_HW_PCIE_WRITE |
			       UINT64_C(1) << GP_HW_NVLINK_RECEIVED |
			       UINT64_C(1) << GP_HW_NVLINK_SENT;
	uint64_t metrics = 0;

	for (size_t i = 0; i < image->count; i++)
		metrics |= image->passes[i];
	return (metrics & dram) != 0 && (metrics & links) != 0;
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params *params)
{
	struct sim_config_image *image = &params->pHostObject->image;

	if (params->numMetrics == 0)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < params->numMetrics; i++)
		if (find_metric(params->ppMetricNames[i]) < 0)
			return CUPTI_ERROR_INVALID_PARAMETER;
	if (image->count == SIM_MOST_PASSES)
		return CUPTI_ERROR_INVALID_OPERATION;
	image->passes[image->count++] = sim_metric_bits(params->ppMetricNames, params->numMetrics);
	if (params->pHostObject->type == CUPTI_PROFILER_TYPE_RANGE_PROFILER &&
	    exclude_each_other(image)) {
		image->count--;
		return CUPTI_ERROR_NOT_SUPPORTED;
	}
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params *params)
{
	params->configImageSize = sizeof(struct sim_config_image);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params *params)
{
	memcpy(params->pConfigImage, &params->pHostObject->image, sizeof(struct sim_config_image));
	return CUPTI_SUCCESS;
}

bool sim_is_peak(int metric)
{
	return strstr(names[metric], ".peak_sustained") != NULL;
}

/* A pass has counters for so many metrics; more of one call would need more passes. */
static size_t passes_of(uint64_t metrics)
{
	size_t counted = 0;

	for (int i = 0; i < SIM_METRICS; i++)
		counted += (metrics >> i & 1) != 0 && !sim_is_peak(i);
	return counted > 0 ? (counted + METRICS_OF_PASS - 1) / METRICS_OF_PASS : 1;
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params *params)
{
	struct sim_config_image image;

	memcpy(&image, params->pConfigImage, sizeof(image));
	params->numOfPasses = 0;
	for (size_t i = 0; i < image.count; i++)
		params->numOfPasses += passes_of(image.passes[i]);
	return CUPTI_SUCCESS;
}

/* Nobody calls these for the simulated chip, but clients need them to exist. */
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params *params)
{
	(void)params;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params *params)
{
	(void)params;
	return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params *params)
{
	params->pDescription = params->pHwUnit = "";
	params->pDimUnit = strstr(params->pMetricName, "bytes") ? "byte" : "";
	return find_metric(params->pMetricName) < 0 ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_SUCCESS;
}

/* ---- samples ---- */

static uint64_t overlap(const struct work *work, const struct sim_sample *sample)
{
	uint64_t start = work->start > sample->start ? work->start : sample->start;
	uint64_t end = work->end < sample->end ? work->end : sample->end;

	return end > start ? end - start : 0;
}

static void measure(const struct works *works, struct sim_sample *sample)
{
	double kernels = 0, length = (double)(sample->end - sample->start), read = 0, written = 0;
	double *values = sample->values;

	for (size_t i = 0; i < works->count; i++) {
		double ns = (double)overlap(&works->list[i], sample);

		kernels += works->list[i].is_kernel ? ns : 0;
		read += ns * works->list[i].pcie_read;
		written += ns * works->list[i].pcie_written;
	}
	kernels = kernels < length ? kernels : length;
	values[GP_HW_SM_ACTIVE] = values[GP_HW_ENGINE_ACTIVE] = 100 * kernels / length;
	values[GP_HW_WARPS_ACTIVE] = values[GP_HW_SM_ACTIVE] / 2;
	values[GP_HW_TENSOR_ACTIVE] = values[GP_HW_SM_ACTIVE] / 4;
	values[GP_HW_DRAM_READ] = kernels * 1000;
	values[GP_HW_DRAM_WRITE] = kernels * 500;
	values[GP_HW_L2] = kernels * 3000;
	values[GP_HW_PCIE_READ] = read;
	values[GP_HW_PCIE_WRITE] = written;
	values[GP_HW_NVLINK_RECEIVED] = values[GP_HW_NVLINK_SENT] = (double)NAN;
	values[GP_HW_CLOCK] = 1.5e9;
}

static void forget(struct works *works, uint64_t before)
{
	size_t kept = 0;

	for (size_t i = 0; i < works->count; i++)
		if (works->list[i].end > before)
			works->list[kept++] = works->list[i];
	works->count = kept;
}

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *params)
{
	params->pPmSamplingObject = calloc(1, sizeof(*params->pPmSamplingObject));
	if (!params->pPmSamplingObject)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	params->pPmSamplingObject->device = params->deviceIndex;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *params)
{
	free(params->pPmSamplingObject);
	sim_counters_give_back();
	return CUPTI_SUCCESS;
}

static _Atomic bool is_destroyed;

static void destroy(void)
{
	is_destroyed = true;
}

void sim_profiler_use_first(void)
{
	atexit(destroy);
}

void sim_profiler_use(void)
{
	if (is_destroyed)
		abort();
}

static void set_up_slowly(void)
{
	uint64_t until = sim_now_ns() + 300000000;

	sim_profiler_use_first();
	while (sim_now_ns() < until)
		sched_yield();
	sim_profiler_use();
}

CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *params)
{
	static _Atomic unsigned int tries;

	if (sim_config()->faults & SIM_FAULT_COUNTERS_SLOW)
		set_up_slowly();

	if (sim_config()->faults & SIM_FAULT_COUNTERS_FORBIDDEN)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	if ((sim_config()->faults & SIM_FAULT_COUNTERS_BUSY) && tries++ == 0)
		return CUPTI_ERROR_HARDWARE_BUSY;
	if (!sim_counters_take())
		return CUPTI_ERROR_HARDWARE_BUSY;
	params->pPmSamplingObject->interval = params->samplingInterval;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *params)
{
	params->counterDataSize =
		sizeof(struct sim_data) + params->maxSamples * sizeof(struct sim_sample);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingCounterDataImageInitialize(
	CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
	struct sim_data *data = (struct sim_data *)params->pCounterData;

	data->capacity = (params->counterDataSize - sizeof(*data)) / sizeof(struct sim_sample);
	data->count = 0;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *params)
{
	params->pPmSamplingObject->next = sim_now_ns();
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *params)
{
	(void)params;
	return CUPTI_SUCCESS;
}

/* The first sample covers the time before the start, as on a GPU. */
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *params)
{
	static _Atomic unsigned int decodings;
	struct CUpti_PmSampling_Object *sampler = params->pPmSamplingObject;
	struct sim_data *data = (struct sim_data *)params->pCounterDataImage;
	uint64_t now = sim_now_ns();

	sim_profiler_use();
	params->overflow = (sim_config()->faults & SIM_FAULT_COUNTERS_OVERFLOW) && decodings++ == 3;
	if (params->overflow)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	while (data->count < data->capacity && sampler->next + sampler->interval <= now) {
		struct sim_sample *sample = &data->samples[data->count++];

		sample->start = sampler->next;
		sample->end = sampler->next += sampler->interval;
		measure(&works_of[sampler->device], sample);
		if (!sampler->has_first)
			sample->start -= 500000000;
		sampler->has_first = true;
	}
	forget(&works_of[sampler->device], sampler->next);
	pthread_mutex_unlock(&lock);
	params->decodeStopReason = data->count == data->capacity
					   ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
					   : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
	const struct sim_data *data = (const struct sim_data *)params->pCounterDataImage;

	params->numTotalSamples = data->capacity;
	params->numPopulatedSamples = data->count;
	params->numCompletedSamples = 0;
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
	const struct sim_data *data = (const struct sim_data *)params->pCounterDataImage;

	if (params->sampleIndex >= data->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	params->startTimestamp = sim_wall_clock_ns(data->samples[params->sampleIndex].start);
	params->endTimestamp = sim_wall_clock_ns(data->samples[params->sampleIndex].end);
	return CUPTI_SUCCESS;
}

CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params *params)
{
	const struct sim_data *data = (const struct sim_data *)params->pCounterDataImage;

	if (params->rangeIndex >= data->count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (size_t i = 0; i < params->numMetrics; i++)
		params->pMetricValues[i] = data->samples[params->rangeIndex]
						   .values[find_metric(params->ppMetricNames[i])];
	return CUPTI_SUCCESS;
}

/*
 * libcupti: PC sampling with known counts.  Each of the 132 SMs takes a sample every 2^period cycles
 * of 1.5 GHz while a kernel runs, in groups of 20: a kernel has only whole groups, the rest counts
 * for its next run.  `group` says where the samples of a group are.
 *
 * As on a GPU: samples of modules that were loaded before the sampling of their context was enabled
 * count as outside; only the start fails if the counters are in use, and all later calls fail; a
 * first use registers a destructor, after which no use is possible.
 */
#include "tests/sim/cupti_sim.h"
#include "tests/sim/module.h"

#include <cupti_pcsampling.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define SMS            132
#define DEFAULT_PERIOD 11
#define GROUP          20
#define BEFORE         "smsp__pcsamp_warps_issue_stalled_"

/* The indices of the reasons are not their positions. */
static const struct {
	uint32_t index;
	const char *name;
} reasons[] = {
	{7, "smsp__pcsamp_sample_count"},
	{3, BEFORE "long_scoreboard"},
	{12, BEFORE "long_scoreboard_not_issued"},
	{9, BEFORE "wait"},
	{2, BEFORE "wait_not_issued"},
	{31, BEFORE "selected"},
	{30, BEFORE "barrier"},
	{29, BEFORE "barrier_not_issued"},
	{1, "smsp__pcsamp_samples_data_dropped"},
};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

/* Samples without the _not_issued ones: 20. */
static const struct {
	uint64_t offset;
	struct {
		uint32_t reason, samples;
	} counts[4];
} group[] = {
	{0x10, {{31, 2}, {7, 2}}},
	{0x40, {{3, 10}, {12, 8}, {31, 1}, {7, 11}}},
	{0x80, {{9, 4}, {2, 1}, {7, 4}}},
	{0xc0, {{30, 3}, {29, 3}, {7, 3}}},
};
#define PLACES (sizeof(group) / sizeof(group[0]))

struct work {
	CUfunction function;
	CUcontext ctx;
	uint64_t start, end;
};

struct tally {
	CUfunction function;
	CUcontext ctx;
	uint64_t cycles; /* of all SMs, without a sample yet */
	uint64_t groups; /* to fetch */
};

struct module {
	uint32_t id;
	uint64_t crc;
	bool is_known;
};

struct sampled {
	CUcontext ctx;
	bool is_started;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	struct work *works;
	struct tally *tallies;
	struct module *modules;
	struct sampled *sampled; /* the enabled contexts */
	size_t work_count, tally_count, module_count, sampled_count;
	uint32_t period;
} pc = {.period = DEFAULT_PERIOD};

static void *grow(void *list, size_t count, size_t bytes)
{
	return count % 256 == 0 ? realloc(list, (count + 256) * bytes) : list;
}

static struct sampled *find_sampled(CUcontext ctx)
{
	for (size_t i = 0; i < pc.sampled_count; i++)
		if (pc.sampled[i].ctx == ctx)
			return &pc.sampled[i];
	return NULL;
}

static bool is_enabled(CUcontext ctx)
{
	bool found;

	pthread_mutex_lock(&lock);
	found = find_sampled(ctx) != NULL;
	pthread_mutex_unlock(&lock);
	return found;
}

static void set_started(CUcontext ctx, bool is_started)
{
	pthread_mutex_lock(&lock);
	if (find_sampled(ctx))
		find_sampled(ctx)->is_started = is_started;
	pthread_mutex_unlock(&lock);
}

/* ---- what the device tells ---- */

void sim_pc_operation(const struct sim_op *op)
{
	CUcontext ctx = op->stream->ctx;
	const struct sampled *sampled;

	pthread_mutex_lock(&lock);
	sampled = find_sampled(ctx);
	if (op->kind == SIM_OP_KERNEL && sampled && sampled->is_started) {
		pc.works = grow(pc.works, pc.work_count, sizeof(*pc.works));
		pc.works[pc.work_count++] =
			(struct work){op->kernel.function, ctx, op->start, op->end};
	}
	pthread_mutex_unlock(&lock);
}

static uint64_t crc_of(const void *cubin, size_t bytes)
{
	uint64_t crc = bytes;

	for (size_t i = 0; i < bytes; i++)
		crc = crc * 31 + ((const uint8_t *)cubin)[i];
	return crc;
}

/* A library is loaded into a context later, if there is none yet. */
void sim_pc_module(const void *descriptor)
{
	const CUpti_ModuleResourceData *data = descriptor;

	pthread_mutex_lock(&lock);
	pc.modules = grow(pc.modules, pc.module_count, sizeof(*pc.modules));
	pc.modules[pc.module_count++] = (struct module){
		data->moduleId, data->cubinSize ? crc_of(data->pCubin, data->cubinSize) : 0,
		find_sampled(sim_current()) != NULL || sim_current() == NULL};
	pthread_mutex_unlock(&lock);
}

/* ---- setting up ---- */

CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams *params)
{
	if (sim_config()->faults & SIM_FAULT_COUNTERS_SLOW)
		sim_wait_until_ns(sim_now_ns() + 300000000);
	if (pc.sampled_count == 0)
		sim_profiler_use_first();
	if (sim_config()->faults & SIM_FAULT_COUNTERS_FORBIDDEN)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	sim_profiler_use();
	pthread_mutex_lock(&lock);
	if (!find_sampled(params->ctx)) {
		pc.sampled = grow(pc.sampled, pc.sampled_count, sizeof(*pc.sampled));
		pc.sampled[pc.sampled_count++] = (struct sampled){params->ctx, false};
	}
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams *params)
{
	sim_profiler_use();
	pthread_mutex_lock(&lock);
	if (find_sampled(params->ctx))
		*find_sampled(params->ctx) = pc.sampled[--pc.sampled_count];
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

static bool set(const CUpti_PCSamplingConfigurationInfo *setting)
{
	switch ((int)setting->attributeType) {
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
		pc.period = setting->attributeData.samplingPeriodData.samplingPeriod;
		return pc.period >= 5 && pc.period <= 31;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE:
		return setting->attributeData.collectionModeData.collectionMode ==
		       CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL:
		return setting->attributeData.enableStartStopControlData.enableStartStopControl ==
		       1;
	case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
		return setting->attributeData.samplingDataBufferData.samplingDataBuffer != NULL;
	default:
		return true;
	}
}

CUptiResult
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams *params)
{
	if (!is_enabled(params->ctx))
		return CUPTI_ERROR_INVALID_OPERATION;
	for (size_t i = 0; i < params->numAttributes; i++)
		if (!set(&params->pPCSamplingConfigurationInfo[i]))
			return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams *params)
{
	*params->numStallReasons = REASONS;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams *params)
{
	for (size_t i = 0; i < params->numStallReasons && i < REASONS; i++) {
		params->stallReasonIndex[i] = reasons[i].index;
		strcpy(params->stallReasons[i], reasons[i].name);
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCubinCrc(CUpti_GetCubinCrcParams *params)
{
	params->cubinCrc = crc_of(params->cubin, params->cubinSize);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams *params)
{
	static _Atomic unsigned int tries;

	sim_profiler_use();
	if (!is_enabled(params->ctx))
		return CUPTI_ERROR_INVALID_OPERATION;
	if (sim_config()->faults & SIM_FAULT_COUNTERS_BUSY)
		return tries++ == 0 ? CUPTI_ERROR_HARDWARE_BUSY : CUPTI_ERROR_UNKNOWN;
	if (!sim_counters_take())
		return CUPTI_ERROR_HARDWARE_BUSY;
	set_started(params->ctx, true);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams *params)
{
	sim_profiler_use();
	set_started(params->ctx, false);
	return CUPTI_SUCCESS;
}

/* ---- samples ---- */

static struct tally *tally_of(const struct work *work)
{
	for (size_t i = 0; i < pc.tally_count; i++)
		if (pc.tallies[i].function == work->function && pc.tallies[i].ctx == work->ctx)
			return &pc.tallies[i];
	pc.tallies = grow(pc.tallies, pc.tally_count, sizeof(*pc.tallies));
	pc.tallies[pc.tally_count] = (struct tally){work->function, work->ctx, 0, 0};
	return &pc.tallies[pc.tally_count++];
}

static void count_ended(void)
{
	uint64_t now = sim_now_ns();
	size_t kept = 0;

	for (size_t i = 0; i < pc.work_count; i++) {
		struct work work = pc.works[i];
		struct tally *tally;

		if (work.end > now) {
			pc.works[kept++] = work;
			continue;
		}
		tally = tally_of(&work);
		tally->cycles += (work.end - work.start) * 3 / 2 * SMS;
		tally->groups += (tally->cycles >> pc.period) / GROUP;
		tally->cycles -= (tally->cycles >> pc.period) / GROUP * GROUP << pc.period;
	}
	pc.work_count = kept;
}

static const struct module *module_of(const struct tally *tally)
{
	for (size_t i = 0; i < pc.module_count; i++)
		if (pc.modules[i].id == tally->function->module->id)
			return &pc.modules[i];
	return NULL;
}

static void put_pc(CUpti_PCSamplingData *data, const struct tally *tally, uint64_t crc, size_t at)
{
	/* CUPTI 12.4 appended a member */
	size_t stride = sim_config()->cupti_version >= 22 ? sizeof(CUpti_PCSamplingPCData) : 56;
	CUpti_PCSamplingPCData *put =
		(CUpti_PCSamplingPCData *)((char *)data->pPcData + data->totalNumPcs * stride);

	if (put->size != stride)
		abort();
	put->cubinCrc = crc;
	put->pcOffset = group[at].offset;
	put->functionIndex = 1;
	put->functionName = (char *)(uintptr_t)tally->function->name;
	put->stallReasonCount = 0;
	for (size_t i = 0; i < 4 && group[at].counts[i].samples; i++)
		put->stallReason[put->stallReasonCount++] = (CUpti_PCSamplingStallReason){
			group[at].counts[i].reason,
			group[at].counts[i].samples * (uint32_t)tally->groups};
	data->totalNumPcs++;
}

static void put_tally(CUpti_PCSamplingData *data, struct tally *tally)
{
	const struct module *module = module_of(tally);

	if (tally->groups == 0)
		return;
	if (data->totalNumPcs + PLACES > data->collectNumPcs) {
		data->remainingNumPcs += PLACES;
		return;
	}
	data->totalSamples += tally->groups * GROUP;
	if (module && !module->is_known)
		data->nonUsrKernelsTotalSamples += tally->groups * GROUP;
	for (size_t i = 0; module && module->is_known && i < PLACES; i++)
		put_pc(data, tally, module->crc, i);
	tally->groups = 0;
}

CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams *params)
{
	static _Atomic unsigned int fetches;
	CUpti_PCSamplingData *data = params->pcSamplingData;

	sim_profiler_use();
	data->totalSamples = data->droppedSamples = data->nonUsrKernelsTotalSamples = 0;
	data->totalNumPcs = data->remainingNumPcs = 0;
	if ((sim_config()->faults & SIM_FAULT_COUNTERS_OVERFLOW) && fetches++ == 2) {
		data->hardwareBufferFull = 1;
		return CUPTI_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&lock);
	count_ended();
	for (size_t i = 0; i < pc.tally_count; i++)
		if (pc.tallies[i].ctx == params->ctx)
			put_tally(data, &pc.tallies[i]);
	pthread_mutex_unlock(&lock);
	if (data->totalSamples > 0 && (sim_config()->faults & SIM_FAULT_COUNTERS_DROP)) {
		data->totalSamples += 12;
		data->nonUsrKernelsTotalSamples += 7;
		data->droppedSamples += 5;
	}
	return CUPTI_SUCCESS;
}

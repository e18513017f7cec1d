/* libcupti: the enabled activity kinds, and activity functions of one line. */
#include "tests/sim/cupti_sim.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PER_THREAD_SINCE 130000

static _Atomic bool wanted[SIM_KINDS];
static _Atomic bool system_thread_ids;
static _Atomic bool only_done_queries;
static bool per_thread_set;

bool sim_wanted(CUpti_ActivityKind kind)
{
	return wanted[kind];
}

bool sim_events_come_with_syncs(void)
{
	return sim_config()->cupti_version < 27;
}

bool sim_queries_are_wanted(CUresult result)
{
	return result == CUDA_SUCCESS || !only_done_queries;
}

uint32_t sim_thread_id(void)
{
	return system_thread_ids ? (uint32_t)syscall(SYS_gettid) : (uint32_t)pthread_self();
}

static bool records(CUpti_ActivityKind kind)
{
	return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < SIM_KINDS;
}

/* Kinds that some real version accepts without writing records of them here. */
static bool only_accepted(CUpti_ActivityKind kind)
{
	return kind == CUPTI_ACTIVITY_KIND_NAME || kind == CUPTI_ACTIVITY_KIND_MARKER ||
	       kind == CUPTI_ACTIVITY_KIND_MARKER_DATA;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	only_done_queries = !enable;
	return CUPTI_SUCCESS;
}

static void set_default_lanes(void)
{
	sim_buffers_start();
	if (!per_thread_set)
		sim_buffers_per_thread(sim_config()->cupti_version >= PER_THREAD_SINCE);
	per_thread_set = true;
}

static void want(CUpti_ActivityKind kind, bool on)
{
	wanted[kind] = on;
	if (kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
		sim_tools.counts_every_call = on;
	if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD)
		sim_tools.counts_loads = on;
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		sim_tools.records[SIM_DRIVER] = on;
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		sim_tools.records[SIM_RUNTIME] = on;
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		sim_exclude_none(kind == CUPTI_ACTIVITY_KIND_RUNTIME);
	if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE)
		sim_tools.whole_graphs = on;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	if (!records(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (!sim_record_bytes(kind) && !only_accepted(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (kind == CUPTI_ACTIVITY_KIND_CUDA_EVENT && sim_events_come_with_syncs())
		return CUPTI_ERROR_INVALID_KIND;
	if (sim_config()->faults & SIM_FAULT_MAY_NOT_RECORD)
		return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
	set_default_lanes();
	sim_cupti_attach();
	want(kind, true);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	if (!records(kind))
		return CUPTI_ERROR_INVALID_KIND;
	want(kind, false);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	(void)context;
	return cuptiActivityEnable(kind);
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	(void)context;
	return cuptiActivityDisable(kind);
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
					   CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	set_default_lanes();
	sim_buffers_register(request, complete);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	sim_buffers_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlush(CUcontext context, uint32_t streamId, uint32_t flag)
{
	(void)context;
	(void)streamId;
	return cuptiActivityFlushAll(flag);
}

CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	sim_buffers_period_ms(time);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *count)
{
	(void)context;
	(void)streamId;
	if (!count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*count = sim_buffers_take_dropped();
	return CUPTI_SUCCESS;
}

static _Atomic uint64_t *kernels_taken;

static void map_kernels_taken(void)
{
	const char *path = getenv("GPUSIM_KERNELS_TAKEN");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *word;

	if (fd < 0)
		return;
	word = mmap(NULL, sizeof(*kernels_taken), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (word != MAP_FAILED)
		kernels_taken = word;
	close(fd);
}

static void count_taken(const CUpti_Activity *record)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, map_kernels_taken);
	if (kernels_taken && record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		++*kernels_taken;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record : buffer;

	if (*record)
		count_taken(*record);
	if (*record)
		next += sim_record_bytes((*record)->kind);
	if (next >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if ((sim_config()->faults & SIM_FAULT_UNREADABLE_RECORDS) && next >= buffer + valid / 2)
		return CUPTI_ERROR_UNKNOWN;
	*record = (CUpti_Activity *)next;
	if (!records((*record)->kind) || !sim_record_bytes((*record)->kind))
		return CUPTI_ERROR_INVALID_KIND;
	return CUPTI_SUCCESS;
}

/* The initial attributes.  Only one of them has an effect here. */
static size_t attributes[16] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = 8 << 20,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 3,
};

static size_t attribute_bytes(CUpti_ActivityAttribute attr)
{
	return attr == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
			       attr == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
			       attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER
		       ? 1
		       : sizeof(size_t);
}

static CUptiResult check_attribute(CUpti_ActivityAttribute attr, const size_t *bytes,
				   const void *value)
{
	if (!bytes || !value || (unsigned int)attr >= sizeof(attributes) / sizeof(attributes[0]))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER &&
	    sim_config()->cupti_version < 21)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return *bytes < attribute_bytes(attr) ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
					      : CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	CUptiResult r = check_attribute(attr, valueSize, value);

	if (r)
		return r;
	attributes[attr] = 0;
	memcpy(&attributes[attr], value, attribute_bytes(attr));
	if (attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) {
		per_thread_set = true;
		sim_buffers_per_thread(attributes[attr] != 0);
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	CUptiResult r = check_attribute(attr, valueSize, value);

	if (r)
		return r;
	set_default_lanes();
	if (attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER)
		attributes[attr] = sim_buffers_are_per_thread();
	memcpy(value, &attributes[attr], attribute_bytes(attr));
	*valueSize = attribute_bytes(attr);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	system_thread_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	*type = system_thread_ids ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
				  : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
	return CUPTI_SUCCESS;
}

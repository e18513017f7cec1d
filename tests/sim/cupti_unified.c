/* libcupti: counters of unified memory, which a client configures before it enables them. */
#include "tests/sim/cupti_sim.h"

#include <unistd.h>

#define COUNTERS (CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD + 1)

static _Atomic bool configured[COUNTERS];

static bool is_valid(const CUpti_ActivityUnifiedMemoryCounterConfig *c)
{
	return (c->scope == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE ||
		c->scope == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES) &&
	       c->kind > CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN && c->kind < COUNTERS;
}

CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
					   uint32_t count)
{
	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (uint32_t i = 0; i < count; i++)
		if (!is_valid(&config[i]))
			return CUPTI_ERROR_INVALID_PARAMETER;
	if (!sim_is_started())
		return CUPTI_ERROR_NOT_INITIALIZED;
	for (uint32_t i = 0; i < count; i++)
		configured[config[i].kind] = config[i].enable != 0;
	sim_tools.cpu_faults =
		configured[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT];
	return CUPTI_SUCCESS;
}

void sim_record_unified(const struct sim_unified_event *e)
{
	CUpti_ActivityUnifiedMemoryCounter3 u = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)e->counter,
		.value = e->value,
		.start = e->start,
		.end = e->end,
		.address = e->address,
		.srcId = e->from,
		.dstId = e->to,
		.processId = (uint32_t)getpid(),
		.flags = e->flags,
	};

	if (sim_wanted(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) && configured[e->counter])
		sim_buffers_append(&u, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

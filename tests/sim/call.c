#include "tests/sim/call.h"

#include <string.h>

struct sim_tools sim_tools;

static _Atomic uint32_t next_correlation = 1;
static _Atomic bool stuck;
static __thread struct sim_call *current;

/*
 * GPUSIM_FAULT=stuck-correlation: from the first launch on, every call gets the id of that launch.
 */
static uint32_t stuck_correlation(const struct sim_call *call)
{
	if (stuck)
		return next_correlation;
	if (call->symbol) {
		stuck = true;
		return next_correlation;
	}
	return next_correlation++;
}

static uint32_t new_correlation(const struct sim_call *call)
{
	if (sim_config()->faults & SIM_FAULT_STUCK_CORRELATION)
		return stuck_correlation(call);
	return next_correlation++;
}

static bool is_load(const struct sim_call *call)
{
	return call->domain == SIM_DRIVER && !strcmp(call->name, "cuLibraryLoadData");
}

/*
 * Correlation ids count the calls that CUPTI reports.  A call gets an id if its callback or API
 * records are enabled, or else when it starts an operation.  While synchronization records are
 * enabled, every call gets one.  While overhead records are enabled, so do calls that load a
 * program's code.
 */
static bool is_traced(const struct sim_call *call)
{
	return sim_tools.callback[call->domain][call->cbid] || sim_tools.records[SIM_DRIVER] ||
	       sim_tools.records[SIM_RUNTIME] || sim_tools.counts_every_call ||
	       (sim_tools.counts_loads && is_load(call));
}

void sim_call_enter(struct sim_call *call)
{
	call->outer = current;
	call->correlation = current ? current->correlation : 0;
	if (!call->correlation && is_traced(call))
		call->correlation = new_correlation(call);
	if (current && current->per_thread)
		call->per_thread = 1;
	current = call;
	if (!call->outer && sim_tools.records[call->domain])
		call->start_ns = sim_now_ns();
	/* The same fault: libcupti 11.8 does not report the launches that a newer runtime makes. */
	call->quiet = stuck && call->outer && call->symbol;
	if (sim_tools.callback[call->domain][call->cbid] && !call->quiet)
		sim_tools.api(call, false);
}

int sim_call_exit(struct sim_call *call, int result)
{
	call->result = result;
	if (sim_tools.callback[call->domain][call->cbid] && !call->quiet)
		sim_tools.api(call, true);
	if (call->start_ns && sim_tools.records[call->domain])
		sim_tools.api_record(call, sim_now_ns());
	current = call->outer;
	return result;
}

uint32_t sim_correlation(void)
{
	return current ? current->correlation : 0;
}

uint32_t sim_take_correlation(void)
{
	if (current && !current->correlation)
		current->correlation = new_correlation(current);
	return sim_correlation();
}

bool sim_per_thread_default(void)
{
	return current && current->per_thread;
}

void sim_tell_resource(uint32_t event, CUcontext ctx, CUstream stream, void *descriptor)
{
	struct sim_resource r = {
		.event = event, .ctx = ctx, .stream = stream, .descriptor = descriptor};

	if (sim_tools.resource)
		sim_tools.resource(&r);
}

void sim_tell_memory(const struct sim_memory_event *event)
{
	if (sim_tools.memory)
		sim_tools.memory(event);
}

void sim_tell_overhead(uint32_t kind, uint64_t start, uint64_t end)
{
	if (sim_tools.overhead)
		sim_tools.overhead(kind, start, end);
}

void sim_tell_jit(const struct sim_jit_event *event)
{
	if (sim_tools.jit)
		sim_tools.jit(event);
}

void sim_tell_unified(const struct sim_unified_event *event)
{
	if (sim_tools.unified)
		sim_tools.unified(event);
}

/* api: the library's implementation of gpuprof/gpuprof.h. */
#include <errno.h>
#include <stddef.h>

#include "collector/collector.h"
#include "gpuprof/gpuprof.h"
#include "inject/control.h"
#include "inject/nvtx_message.h"
#include "inject/process_trace.h"
#include "inject/ranges.h"
#include "inject/recording_gate.h"

static void switch_gate(bool on)
{
	int saved_errno = errno;

	gp_control_switch(on);
	errno = saved_errno;
}

void gpuprof_v1_start(void)
{
	switch_gate(true);
}

void gpuprof_v1_stop(void)
{
	switch_gate(false);
}

int gpuprof_v1_is_recording(void)
{
	return gp_control_wants_process() && gp_recording_gate_is_open();
}

const char *gpuprof_v1_trace_path(void)
{
	return gp_process_trace_is_live() ? gp_collector_trace_path() : "";
}

int gpuprof_v1_range_push(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	return gp_ranges_are_enabled() ? gp_ranges_push(NULL, &message, NULL) : GP_LEVEL_UNKNOWN;
}

int gpuprof_v1_range_pop(void)
{
	return gp_ranges_are_enabled() ? gp_ranges_pop(NULL, 0) : GP_LEVEL_UNKNOWN;
}

uint64_t gpuprof_v1_range_start(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	return gp_ranges_are_enabled() ? gp_ranges_start(NULL, &message, NULL) : 0;
}

void gpuprof_v1_range_end(uint64_t range)
{
	if (gp_ranges_are_enabled())
		gp_ranges_end(NULL, range, 0);
}

void gpuprof_v1_mark(const char *text)
{
	struct gp_message message = gp_message_narrow(text);

	if (gp_ranges_are_enabled())
		gp_ranges_mark(NULL, &message, NULL);
}

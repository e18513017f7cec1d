/* api: the library's implementation of gpuprof/gpuprof.h. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/collector.h"
#include "gpuprof/gpuprof.h"
#include "inject/control.h"
#include "inject/nvtx_message.h"
#include "inject/nvtx_payload.h"
#include "inject/nvtx_schema.h"
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

/* 0: there is no such type. */
static uint64_t entry_type(char type)
{
	switch (type) {
	case 'l':
		return NVTX_PAYLOAD_ENTRY_TYPE_INT64;
	case 'd':
		return NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE;
	case 's':
		return NVTX_PAYLOAD_ENTRY_TYPE_CSTRING;
	default:
		return 0;
	}
}

uint64_t gpuprof_v1_layout(unsigned count, const char *const *names, const char *types)
{
	nvtxPayloadSchemaEntry_t entries[GPUPROF_VALUES] = {0};
	const nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
		.entries = entries,
		.numEntries = count,
		.payloadStaticSize = count * sizeof(uint64_t),
	};

	if (count == 0 || count > GPUPROF_VALUES || !gp_ranges_are_enabled())
		return 0;
	for (unsigned i = 0; i < count; i++) {
		entries[i].type = entry_type(types[i]);
		entries[i].name = names[i];
		entries[i].offset = i * sizeof(uint64_t);
		if (entries[i].type == 0)
			return 0;
	}
	return gp_schema_register(NULL, &schema);
}

/* The values of a layout as NVTX has them; without an id if there is no such layout. */
static struct gp_range_details details_of(uint64_t layout, const void *values)
{
	const nvtxPayloadData_t data = {layout, SIZE_MAX, values};
	const nvtxEventAttributes_t event = {.payload.ullValue = (uintptr_t)&data, .reserved0 = 1};
	struct gp_range_details details = {0};

	if (gp_schema_find(NULL, layout) != NULL)
		details.payload_id = gp_payload_of_event(NULL, &event);
	return details;
}

int gpuprof_v1_range_push_values(const char *text, uint64_t layout, const void *values)
{
	struct gp_message message = gp_message_narrow(text);
	struct gp_range_details details;

	if (!gp_ranges_are_enabled())
		return GP_LEVEL_UNKNOWN;
	details = details_of(layout, values);
	return gp_ranges_push(NULL, &message, &details);
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

uint64_t gpuprof_v1_range_start_values(const char *text, uint64_t layout, const void *values)
{
	struct gp_message message = gp_message_narrow(text);
	struct gp_range_details details;

	if (!gp_ranges_are_enabled())
		return 0;
	details = details_of(layout, values);
	return gp_ranges_start(NULL, &message, &details);
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

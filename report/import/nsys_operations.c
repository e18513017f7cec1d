#include <errno.h>

#include "report/import/nsys_reading.h"
#include "report/model/nsys_numbers.h"

/* The device of an operation. Returns false for an invalid device or another process. */
static bool find_device(struct gp_nsys_reading *r, const struct gp_row *row, uint16_t *device)
{
	uint32_t number = gp_row_number(row, GP_NSYS_deviceId, GP_NONE);

	if (!gp_nsys_is_of_process(r, row))
		return false;
	*device = (uint16_t)number;
	r->im->builder->model->losses.unknown_records += number >= GP_DEVICE_LIMIT;
	return number < GP_DEVICE_LIMIT;
}

/* Neither a record without times, whose start and end are 0, nor one without an end. */
static bool is_timed(const struct gp_row *row)
{
	int64_t start_ns = gp_row_whole(row, GP_NSYS_start);
	int64_t end_ns = gp_row_whole(row, GP_NSYS_end);

	return end_ns > start_ns || (end_ns == start_ns && start_ns != 0);
}

static uint64_t start_if_timed(const struct gp_row *row)
{
	return is_timed(row) ? gp_nsys_time(row, GP_NSYS_start) : 0;
}

static uint64_t end_if_timed(const struct gp_row *row)
{
	return is_timed(row) ? gp_nsys_time(row, GP_NSYS_end) : 0;
}

static void note_time(struct gp_nsys_reading *r, const struct gp_row *row)
{
	gp_import_note_time(r->im, start_if_timed(row), end_if_timed(row));
}

static bool is_unfinished(struct gp_nsys_reading *r, const struct gp_row *row)
{
	return gp_import_is_unfinished(r->im, gp_nsys_time(row, GP_NSYS_start),
				       gp_nsys_time(row, GP_NSYS_end));
}

static uint32_t number_of(const struct gp_row *row, enum gp_nsys_column column)
{
	return gp_row_number(row, column, 0);
}

/* nsys counts from 1, CUPTI from 0. */
static uint8_t launch_type_of(const struct gp_row *row)
{
	uint32_t type = number_of(row, GP_NSYS_launchType);

	return type > 1 && type <= 3 ? (uint8_t)(type - 1) : 0;
}

/* *id = 0 if the file does not have it. */
static int find_shape(struct gp_nsys_reading *r, const struct gp_row *row, uint32_t *id)
{
	uint32_t registers = number_of(row, GP_NSYS_registersPerThread);
	struct gp_record_shape shape = {
		.registers = registers <= UINT16_MAX ? (uint16_t)registers : 0,
		.grid = {number_of(row, GP_NSYS_gridX), number_of(row, GP_NSYS_gridY),
			 number_of(row, GP_NSYS_gridZ)},
		.block = {number_of(row, GP_NSYS_blockX), number_of(row, GP_NSYS_blockY),
			  number_of(row, GP_NSYS_blockZ)},
		.static_shared_bytes = number_of(row, GP_NSYS_staticSharedMemory),
		.dynamic_shared_bytes = number_of(row, GP_NSYS_dynamicSharedMemory),
		.executed_shared_bytes = number_of(row, GP_NSYS_sharedMemoryExecuted),
		.local_per_thread_bytes = number_of(row, GP_NSYS_localMemoryPerThread),
		.launch_type = launch_type_of(row),
		.local_total_bytes = (uint64_t)gp_row_whole(row, GP_NSYS_localMemoryTotal),
	};

	if (!gp_row_has(row, GP_NSYS_staticSharedMemory))
		r->unknown |= GP_UNKNOWN_SHARED_PARTS;
	if (!gp_row_has(row, GP_NSYS_localMemoryPerThread))
		r->unknown |= GP_UNKNOWN_LOCAL;
	*id = 0;
	if (!gp_row_has(row, GP_NSYS_gridX) || !gp_row_has(row, GP_NSYS_blockX))
		return 0;
	*id = gp_import_shape(r->im, &shape);
	return *id != 0 ? 0 : -ENOMEM;
}

/* The mangled name if the file has it. */
static uint32_t find_name(struct gp_nsys_reading *r, const struct gp_row *row)
{
	static const enum gp_nsys_column columns[] = {GP_NSYS_mangledName, GP_NSYS_demangledName,
						      GP_NSYS_shortName};
	const char *name = "";
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]) && bytes == 0; i++)
		name = gp_nsys_text(r, row, columns[i], &bytes);
	return gp_import_kernel_name(r->im, name, bytes);
}

/* Without a graph column, the upper half of the node numbers has the graph. */
static uint32_t graph_of(const struct gp_row *row)
{
	uint64_t node = (uint64_t)gp_row_whole(row, GP_NSYS_graphNodeId);

	return gp_row_number(row, GP_NSYS_graphId, (uint32_t)(node >> 32));
}

/* What the records of all operations have in common. */
#define OPERATION                                                                                  \
	.device_id = device, .stream_id = number_of(row, GP_NSYS_streamId),                        \
	.context_id = number_of(row, GP_NSYS_contextId),                                           \
	.correlation_id = number_of(row, GP_NSYS_correlationId), .start_ns = start_if_timed(row),  \
	.end_ns = end_if_timed(row)

static int take_kernel(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};
	uint16_t device;
	uint32_t shape;
	int result;

	if (!find_device(r, row, &device))
		return 0;
	result = find_shape(r, row, &shape);
	if (result != 0)
		return result;
	record.kernel = (struct gp_record_kernel){
		OPERATION,
		.name_id = find_name(r, row),
		.shape_id = shape,
		.graph_node_id = (uint64_t)gp_row_whole(row, GP_NSYS_graphNodeId),
		.graph_id = graph_of(row),
	};
	if (record.kernel.name_id == 0)
		return -ENOMEM;
	note_time(r, row);
	return gp_import_record(r->im, GP_RECORD_KERNEL, &record);
}

/* nsys counts kinds of memory from 0. */
static uint8_t memory_kind_of(const struct gp_row *row, enum gp_nsys_column column)
{
	uint32_t kind = gp_row_number(row, column, GP_NSYS_UNKNOWN_MEMORY);

	return kind < GP_NSYS_UNKNOWN_MEMORY ? (uint8_t)(kind + 1) : 0;
}

/* Migrations of unified memory are among the copies: nsys's kind, and CUPTI's. */
static const struct {
	uint32_t copy_kind;
	uint16_t counter_kind;
} migrations[] = {{GP_NSYS_UNIFIED_HTOD, GP_UNIFIED_HTOD},
		  {GP_NSYS_UNIFIED_DTOH, GP_UNIFIED_DTOH},
		  {GP_NSYS_UNIFIED_DTOD, GP_UNIFIED_DTOD}};

static int take_migration(struct gp_nsys_reading *r, const struct gp_row *row, uint16_t device,
			  uint16_t counter_kind)
{
	union gp_any_record record = {0};

	if (is_unfinished(r, row))
		return 0;
	record.unified = (struct gp_record_unified){
		.counter_kind = counter_kind,
		.start_ns = gp_nsys_time(row, GP_NSYS_start),
		.end_ns = gp_nsys_time(row, GP_NSYS_end),
		.value = (uint64_t)gp_row_whole(row, GP_NSYS_bytes),
		.address = (uint64_t)gp_row_whole(row, GP_NSYS_virtualAddress),
		.source_device_id = gp_row_number(row, GP_NSYS_srcDeviceId, device),
		.destination_device_id = gp_row_number(row, GP_NSYS_dstDeviceId, device),
		.stream_id = number_of(row, GP_NSYS_streamId),
	};
	gp_import_note_time(r->im, record.unified.start_ns, record.unified.end_ns);
	return gp_import_record(r->im, GP_RECORD_UNIFIED, &record);
}

static int take_copy(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	uint32_t kind = number_of(row, GP_NSYS_copyKind);
	uint32_t owner = number_of(row, GP_NSYS_contextId);
	union gp_any_record record = {0};
	uint16_t device;

	if (!find_device(r, row, &device))
		return 0;
	for (size_t i = 0; i < sizeof(migrations) / sizeof(migrations[0]); i++)
		if (kind == migrations[i].copy_kind)
			return take_migration(r, row, device, migrations[i].counter_kind);
	record.copy = (struct gp_record_copy){
		OPERATION,
		.bytes = (uint64_t)gp_row_whole(row, GP_NSYS_bytes),
		.graph_node_id = (uint64_t)gp_row_whole(row, GP_NSYS_graphNodeId),
		.graph_id = graph_of(row),
		.copy_kind = kind < GP_COPY_KINDS ? (uint8_t)kind : 0,
		.source_kind = memory_kind_of(row, GP_NSYS_srcKind),
		.destination_kind = memory_kind_of(row, GP_NSYS_dstKind),
		.source_device_id = gp_row_number(row, GP_NSYS_srcDeviceId, device),
		.destination_device_id = gp_row_number(row, GP_NSYS_dstDeviceId, device),
		.source_context_id = gp_row_number(row, GP_NSYS_srcContextId, owner),
		.destination_context_id = gp_row_number(row, GP_NSYS_dstContextId, owner),
	};
	note_time(r, row);
	return gp_import_record(r->im, GP_RECORD_COPY, &record);
}

static int take_memset(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};
	uint16_t device;

	if (!find_device(r, row, &device))
		return 0;
	record.memset = (struct gp_record_memset){
		OPERATION,
		.bytes = (uint64_t)gp_row_whole(row, GP_NSYS_bytes),
		.graph_node_id = (uint64_t)gp_row_whole(row, GP_NSYS_graphNodeId),
		.graph_id = graph_of(row),
		.value = number_of(row, GP_NSYS_value),
		.memory_kind = memory_kind_of(row, GP_NSYS_memKind),
	};
	note_time(r, row);
	return gp_import_record(r->im, GP_RECORD_MEMSET, &record);
}

/* A launch of a whole graph. */
static int take_graph(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};
	uint16_t device;

	if (!find_device(r, row, &device))
		return 0;
	record.graph = (struct gp_record_graph){
		OPERATION,
		.graph_id = number_of(row, GP_NSYS_graphId),
		.end_device_id = device,
		.end_context_id = number_of(row, GP_NSYS_contextId),
	};
	note_time(r, row);
	return gp_import_record(r->im, GP_RECORD_GRAPH, &record);
}

static int take_sync(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};

	if (!gp_nsys_is_of_process(r, row) || is_unfinished(r, row))
		return 0;
	record.sync = (struct gp_record_sync){
		.sync_kind = (uint16_t)number_of(row, GP_NSYS_syncType),
		.correlation_id = number_of(row, GP_NSYS_correlationId),
		.start_ns = gp_nsys_time(row, GP_NSYS_start),
		.end_ns = gp_nsys_time(row, GP_NSYS_end),
		.context_id = number_of(row, GP_NSYS_contextId),
		.stream_id = gp_row_number(row, GP_NSYS_streamId, GP_NO_STREAM),
		.event_id = number_of(row, GP_NSYS_eventId),
	};
	note_time(r, row);
	return gp_import_record(r->im, GP_RECORD_SYNC, &record);
}

static int take_event(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};
	uint16_t device;

	if (!find_device(r, row, &device))
		return 0;
	record.event = (struct gp_record_event){
		.device_id = device,
		.correlation_id = number_of(row, GP_NSYS_correlationId),
		.context_id = number_of(row, GP_NSYS_contextId),
		.stream_id = number_of(row, GP_NSYS_streamId),
		.event_id = number_of(row, GP_NSYS_eventId),
	};
	return gp_import_record(r->im, GP_RECORD_EVENT, &record);
}

/* nsys's numbers of CUPTI's kinds; a gpuprof export has those of CUPTI. */
static uint32_t overhead_kind_of(const struct gp_nsys_reading *r, const struct gp_row *row)
{
	enum { COMPILER = 2, MOST = 8 };
	uint32_t type = number_of(row, GP_NSYS_overheadType);

	if (r->is_own || type > MOST)
		return type;
	return type == COMPILER ? 1 : type > COMPILER ? (type - COMPILER) << 16 : 0;
}

/* Work of CUPTI and the driver outside the program's calls. */
static int take_overhead(void *context, const struct gp_row *row)
{
	struct gp_nsys_reading *r = context;
	union gp_any_record record = {0};

	if (!gp_nsys_is_of_process(r, row) || is_unfinished(r, row))
		return 0;
	record.overhead = (struct gp_record_overhead){
		.overhead_kind = overhead_kind_of(r, row),
		.start_ns = gp_nsys_time(row, GP_NSYS_start),
		.end_ns = gp_nsys_time(row, GP_NSYS_end),
		.thread_id = (uint32_t)(gp_row_whole(row, GP_NSYS_globalTid) & 0xffffff),
		.correlation_id = number_of(row, GP_NSYS_correlationId),
	};
	return gp_import_record(r->im, GP_RECORD_OVERHEAD, &record);
}

int gp_nsys_take_operations(struct gp_nsys_reading *r)
{
	static const struct {
		const char *name;
		int (*take)(void *context, const struct gp_row *row);
	} tables[] = {
		{"CUPTI_ACTIVITY_KIND_KERNEL", take_kernel},
		{"CUPTI_ACTIVITY_KIND_MEMCPY", take_copy},
		{"CUPTI_ACTIVITY_KIND_MEMSET", take_memset},
		{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", take_graph},
		{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", take_sync},
		{"CUPTI_ACTIVITY_KIND_CUDA_EVENT", take_event},
		{"PROFILER_OVERHEAD", take_overhead},
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && result == 0; i++)
		result = gp_database_each(r->database, tables[i].name, tables[i].take, r);
	return result;
}

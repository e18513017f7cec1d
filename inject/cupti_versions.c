#include "inject/cupti_versions.h"

#include <assert.h>
#include <string.h>

#include "collector/sys.h"

/* cuptiGetVersion() of the releases with relevant changes. */
enum {
	CUPTI_12_0 = 19,
	CUPTI_12_2 = 20,
	CUPTI_12_3 = 21,
	CUPTI_12_4 = 22,
	CUPTI_12_8 = 26,
	CUPTI_12_9 = 28,
	CUPTI_13_0 = 130000,
	CUPTI_13_1 = 130100,
	CUPTI_13_2 = 130200,
	CUPTI_13_3 = 130300,
};

static const uint32_t able_since[GP_CUPTI_ABILITIES] = {
	[GP_CUPTI_NUMBERS_LAUNCHES] = CUPTI_12_2, /* 11.8 does not; 12.0 and 12.1 were not tested */
	[GP_CUPTI_BUFFERS_PER_THREAD] = CUPTI_12_3,
	[GP_CUPTI_PER_THREAD_AS_A_RULE] = CUPTI_13_0,
	[GP_CUPTI_KIND_OF_EVENTS] = CUPTI_12_9,
	[GP_CUPTI_KIND_OF_GREEN_CONTEXTS] = CUPTI_13_2,
	[GP_CUPTI_KINDS_OF_HOST_FUNCTIONS] = CUPTI_13_1,
};

bool gp_cupti_can(uint32_t version, enum gp_cupti_ability ability)
{
	return version >= able_since[ability];
}

#define AT(view, field, offset)                                                                    \
	static_assert(offsetof(gp_##view##_view, field) == (offset), #view "." #field);
AT(kernel, start, 16)
AT(kernel, deviceId, 40)
AT(kernel, gridX, 52)
AT(kernel, name, 104)
AT(kernel, graphNodeId, 144)
AT(kernel, clusterX, 176)
AT(kernel, localMemoryTotal_v2, 192)
static_assert(sizeof(gp_kernel_view) == 200, "the kernel record of 11.8");
AT(copy, bytes, 8)
AT(copy, channelType, 80)
AT(peer, srcDeviceId, 44)
AT(peer, graphId, 80)
AT(set, memoryKind, 50)
AT(set, graphId, 72)
AT(overhead, start, 24)
AT(device, id, 112)
AT(device, name, 136)
AT(context, nullStreamId, 14)
AT(stream, correlationId, 20)
AT(graph, graphId, 28)
AT(graph, reserved, 40)
AT(sync, start, 8)
AT(sync, cudaEventId, 36)
AT(event, correlationId, 4)
AT(event, eventId, 16)
AT(jit, start, 16)
AT(jit, cacheSize, 48)
static_assert(offsetof(struct gp_host_node_view, start) == 40, "the layout of 13.1");
static_assert(offsetof(struct gp_host_launch_view, start) == 32, "the layout of 13.1");
AT(pool, address, 32)
AT(pool, utilizedSize, 64)
AT(unified, value, 8)
AT(unified, flags, 56)

/* field, first version, offset and bytes; the structure and its field, if the header has it */
#define LATE_FIELDS(X)                                                                             \
	X(KERNEL_MAX_CLUSTER, CUPTI_12_0, 200, 4, CUpti_ActivityKernel9, maxPotentialClusterSize)  \
	X(KERNEL_ACTIVE_CLUSTERS, CUPTI_12_0, 204, 4, CUpti_ActivityKernel9, maxActiveClusters)    \
	X(CONTEXT_PARENT, CUPTI_12_4, 16, 4, CUpti_ActivityContext2, parentContextId)              \
	X(CONTEXT_IS_GREEN, CUPTI_12_4, 20, 1, CUpti_ActivityContext2, isGreenContext)             \
	X(CONTEXT_MULTIPROCESSORS, CUPTI_12_4, 22, 2, CUpti_ActivityContext2, numMultiprocessors)  \
	X(KERNEL_IS_DEVICE_LAUNCHED, CUPTI_13_0, 208, 1, CUpti_ActivityKernel10, isDeviceLaunched) \
	X(COPY_COUNT, CUPTI_12_8, 88, 8, CUpti_ActivityMemcpy6, copyCount)                         \
	X(OVERHEAD_CORRELATION, CUPTI_12_2, 40, 4, CUpti_ActivityOverhead2, correlationId)         \
	X(GRAPH_END_DEVICE, CUPTI_12_3, 48, 4, CUpti_ActivityGraphTrace2, endDeviceId)             \
	X(GRAPH_END_CONTEXT, CUPTI_12_3, 52, 4, CUpti_ActivityGraphTrace2, endContextId)           \
	X(SYNC_EVENT_SYNC, CUPTI_12_8, 40, 8, CUpti_ActivitySynchronization2, cudaEventSyncId)     \
	X(EVENT_DEVICE, CUPTI_12_8, 24, 4, CUpti_ActivityCudaEvent2, deviceId)                     \
	X(EVENT_TIME, CUPTI_12_8, 40, 8, CUpti_ActivityCudaEvent2, deviceTimestamp)                \
	X(EVENT_SYNC, CUPTI_12_8, 48, 8, CUpti_ActivityCudaEvent2, cudaEventSyncId)                \
	X(JIT_THREAD, CUPTI_12_4, 68, 4, CUpti_ActivityJit2, threadId)

/* Fields that the headers of 13.0 lack. */
#define LATEST_FIELDS(X)                                                                           \
	X(KERNEL_PRIORITY, CUPTI_13_1, 216, 4, CUpti_ActivityKernel11, priority)                   \
	X(KERNEL_EXECUTION_MODEL, CUPTI_13_3, 224, 4, CUpti_ActivityKernel12, executionModel)

static const struct {
	uint32_t since;
	uint16_t offset, bytes;
} fields[GP_CUPTI_FIELDS] = {
#define ROW(field, since, offset, bytes, type, name) [GP_##field] = {since, offset, bytes},
	LATE_FIELDS(ROW) LATEST_FIELDS(ROW)
#undef ROW
};

#if CUPTI_API_VERSION >= 130000
#define CHECK(field, since, offset, bytes, type, name)                                             \
	static_assert(offsetof(type, name) == (offset), #type);                                    \
	static_assert(sizeof(((type *)0)->name) == (bytes), #type);
LATE_FIELDS(CHECK)
#if CUPTI_API_VERSION >= 130300
LATEST_FIELDS(CHECK)
#endif
#endif

uint64_t gp_cupti_field(uint32_t version, enum gp_cupti_field field, const void *record,
			uint64_t otherwise)
{
	uint64_t value = 0;

	if (version < fields[field].since)
		return otherwise;
	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low bytes come first");
	memcpy(&value, (const uint8_t *)record + fields[field].offset, fields[field].bytes);
	return value;
}

bool gp_cupti_is_known(uint32_t version)
{
	return version <= GP_CUPTI_NEWEST;
}

#define KNOWN_KINDS   60
#define MOST_DEVICES  1024u
#define MOST_CONTEXTS (1u << 24)

/*
 * The record layouts of the newest known version, 13.4: size of a record and offsets of the fields
 * that we read; 0 = none.
 */
struct layout {
	uint16_t bytes;
	uint8_t start; /* the end time follows */
	uint8_t device, context;
	uint8_t name; /* the address of a string */
};

static const struct layout known_layouts[KNOWN_KINDS] = {
	[CUPTI_ACTIVITY_KIND_MEMCPY] = {.bytes = 112, .start = 16, .device = 32, .context = 36},
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = {.bytes = 96, .start = 16, .device = 32, .context = 36},
	[CUPTI_ACTIVITY_KIND_MEMSET] = {.bytes = 104, .start = 16, .device = 32, .context = 36},
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = {248, 16, 40, 44, 104},
	[CUPTI_ACTIVITY_KIND_DEVICE] = {.bytes = 192, .device = 112, .name = 136},
	[CUPTI_ACTIVITY_KIND_CONTEXT] = {.bytes = 40, .device = 8, .context = 4},
	[GP_CUPTI_KIND_GREEN_CONTEXT] = {.bytes = 152, .device = 12, .context = 4},
	[GP_CUPTI_KIND_GRAPH_HOST_NODE] = {.bytes = 56, .start = 40, .device = 12, .context = 8},
	[GP_CUPTI_KIND_HOST_LAUNCH] = {.bytes = 48, .start = 32, .device = 12, .context = 8},
	[CUPTI_ACTIVITY_KIND_STREAM] = {.bytes = 24, .context = 4},
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = {.bytes = 56, .start = 24},
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = {.bytes = 56, .start = 8, .device = 24, .context = 32},
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = {.bytes = 56, .start = 8},
	[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = {.bytes = 56},
	[CUPTI_ACTIVITY_KIND_JIT] = {.bytes = 72, .start = 16},
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = {.bytes = 80},
	[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = {.bytes = 104},
};

static uint64_t value_at(const void *record, size_t offset, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, (const uint8_t *)record + offset, bytes);
	return value;
}

/* CUPTI's clock may be set meanwhile; if its time is unknown, any time passes. */
static bool is_recent(uint64_t time_ns, uint64_t now_ns)
{
	const uint64_t day_ns = UINT64_C(86400000000000);

	return now_ns == 0 || (time_ns + 366 * day_ns > now_ns && time_ns < now_ns + day_ns);
}

/* Unfinished work has no end time; without space for timestamps CUPTI writes neither time. */
static bool are_times(uint64_t start, uint64_t end, uint64_t now_ns)
{
	return (start == 0 || is_recent(start, now_ns)) && (end == 0 || is_recent(end, now_ns));
}

/* Offset 0: no such field. */
static bool is_below(const void *record, size_t offset, uint32_t limit)
{
	return offset == 0 || value_at(record, offset, sizeof(uint32_t)) < limit;
}

static bool is_text(uint64_t address)
{
	return address == 0 || gp_sys_is_confined() || gp_sys_can_read(address);
}

bool gp_cupti_is_plausible(const CUpti_Activity *record, size_t bytes, uint64_t now_ns)
{
	uint32_t kind = (uint32_t)record->kind;
	const struct layout *known = &known_layouts[kind < KNOWN_KINDS ? kind : 0];

	if (known->bytes == 0 || bytes < known->bytes ||
	    !is_below(record, known->device, MOST_DEVICES) ||
	    !is_below(record, known->context, MOST_CONTEXTS))
		return false;
	if (known->start != 0 && !are_times(value_at(record, known->start, 8),
					    value_at(record, known->start + 8u, 8), now_ns))
		return false;
	return known->name == 0 || is_text(value_at(record, known->name, 8));
}

#include "inject/cupti_versions.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* cuptiGetVersion() of the releases that brought something. */
enum {
	CUPTI_12_2 = 20,
	CUPTI_12_3 = 21,
	CUPTI_12_4 = 22,
	CUPTI_12_8 = 26,
	CUPTI_12_9 = 28,
	CUPTI_13_0 = 130000,
};

static const uint32_t able_since[GP_CUPTI_ABILITIES] = {
	[GP_CUPTI_NUMBERS_LAUNCHES] =
		CUPTI_12_2, /* 11.8 does not; nobody looked at 12.0 and 12.1 */
	[GP_CUPTI_BUFFERS_PER_THREAD] = CUPTI_12_3,
	[GP_CUPTI_KIND_OF_EVENTS] = CUPTI_12_9,
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
static_assert(sizeof(gp_kernel_view) == 200, "what 11.8 writes of a kernel");
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
AT(pool, address, 32)
AT(pool, utilizedSize, 64)
AT(unified, value, 8)
AT(unified, flags, 56)

/* field, first version, offset and bytes; the structure and its field, where the header has it */
#define LATE_FIELDS(X)                                                                             \
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

static const struct {
	uint32_t since;
	uint16_t offset, bytes;
} fields[GP_CUPTI_FIELDS] = {
#define ROW(field, since, offset, bytes, type, name) [GP_##field] = {since, offset, bytes},
	LATE_FIELDS(ROW)
#undef ROW
};

#if CUPTI_API_VERSION >= 130000
#define CHECK(field, since, offset, bytes, type, name)                                             \
	static_assert(offsetof(type, name) == (offset), #type);                                    \
	static_assert(sizeof(((type *)0)->name) == (bytes), #type);
LATE_FIELDS(CHECK)
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

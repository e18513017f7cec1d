/*
 * cupti_versions: what differs between the versions of libcupti, from 11.8 to 13.4: the layouts of its records, the
 * functions, the kinds and the attributes that it has.  Nothing else knows versions.
 *
 * The families of records only ever grew at their ends.  So the oldest structure that has the fields we read is a valid
 * view of every later record, and a field that came later is read at its offset, if the library that wrote the record
 * has it.  The offsets are those of the records of 11.8; a header in which one moved does not compile.
 *
 * That goes for the versions that were looked at.  One that came out later writes, most likely, the same and more: its
 * records are read as those of the newest that is known, each after a look at whether it can be one
 * (gp_cupti_looks_known()).
 *
 * For a new version: GP_CUPTI_NEWEST; its number if anything depends on it; a row for each field that is read of what it
 * appended; the bytes of its records in known_layouts; a line in a list of functions.  docs/design/cupti-notes.md says what was seen of each.
 */
#ifndef INJECT_CUPTI_VERSIONS_H
#define INJECT_CUPTI_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/* cuptiGetVersion() of the oldest that current drivers bear, 11.8: older ones crash the program. */
#define GP_CUPTI_OLDEST 18u

/* That of the last update of the newest whose records were looked at, 13.4. */
#define GP_CUPTI_NEWEST 130499u

/* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, which headers before 12.3 lack. */
#define GP_CUPTI_PER_THREAD_BUFFER ((CUpti_ActivityAttribute)9)

/* Kinds of records that headers before 12.7, and before 13.1, lack. */
#define GP_CUPTI_KIND_DEVICE_GRAPH_TRACE        53
#define GP_CUPTI_KIND_MEM_DECOMPRESS            54
#define GP_CUPTI_KIND_GRAPH_HOST_NODE           56
#define GP_CUPTI_KIND_COMPUTE_ENGINE_CTX_SWITCH 57
#define GP_CUPTI_KIND_HOST_LAUNCH               58

/* Green contexts have a kind of their own from 13.2 on; before, they come as contexts. */
#define GP_CUPTI_KIND_GREEN_CONTEXT ((CUpti_ActivityKind)59)

/* ---- functions; looked up by name, never linked ---- */

#define GP_CUPTI_FUNCTIONS(X)                                                                      \
	X(cuptiGetVersion)                                                                         \
	X(cuptiSubscribe)                                                                          \
	X(cuptiUnsubscribe)                                                                        \
	X(cuptiEnableCallback)                                                                     \
	X(cuptiEnableDomain)                                                                       \
	X(cuptiActivityEnable)                                                                     \
	X(cuptiActivityDisable)                                                                    \
	X(cuptiActivityRegisterCallbacks)                                                          \
	X(cuptiActivityFlushAll)                                                                   \
	X(cuptiActivityGetNextRecord)                                                              \
	X(cuptiActivityGetNumDroppedRecords)                                                       \
	X(cuptiActivitySetAttribute)                                                               \
	X(cuptiGetTimestamp)                                                                       \
	X(cuptiGetDeviceId)                                                                        \
	X(cuptiGetContextId)                                                                       \
	X(cuptiGetResultString)                                                                    \
	X(cuptiSetThreadIdType)

/* Those that not every version has, and recording can do without: NULL where they are missing. */
#define GP_CUPTI_EXTRA_FUNCTIONS(X)                                                                \
	X(cuptiActivityConfigureUnifiedMemoryCounter)                                              \
	X(cuptiActivityEnableAllSyncRecords)                                                       \
	X(cuptiGetGraphId)                                                                         \
	X(cuptiGetGraphNodeId)                                                                     \
	X(cuptiGetStreamIdEx)

#if CUPTI_API_VERSION < 26
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable); /* headers before 12.8 lack it */
#endif

/* ---- what is otherwise not alike ---- */

enum gp_cupti_ability {
	GP_CUPTI_NUMBERS_LAUNCHES,   /* launches have numbers of their own under a newer driver */
	GP_CUPTI_BUFFERS_PER_THREAD, /* there is an attribute for it */
	GP_CUPTI_PER_THREAD_AS_A_RULE, /* it has them unless told otherwise; before 12.6 a flush of these was not safe */
	GP_CUPTI_KIND_OF_EVENTS, /* records of events are asked for; before, they come with those of waits */
	GP_CUPTI_KIND_OF_GREEN_CONTEXTS,
	GP_CUPTI_KINDS_OF_HOST_FUNCTIONS,
	GP_CUPTI_ABILITIES
};

/* version: cuptiGetVersion().  Any thread. */
bool gp_cupti_can(uint32_t version, enum gp_cupti_ability ability);

/* ---- records ---- */

/* Valid views of the records of every version; comments say what wrote this structure first. */
typedef CUpti_ActivityKernel8 gp_kernel_view;   /* 11.8 */
typedef CUpti_ActivityMemcpy5 gp_copy_view;     /* 11.6 */
typedef CUpti_ActivityMemcpyPtoP4 gp_peer_view; /* 11.6 */
typedef CUpti_ActivityMemset4 gp_set_view;      /* 11.6 */
typedef CUpti_ActivityOverhead gp_overhead_view;
typedef CUpti_ActivityDevice4 gp_device_view; /* 11.6 */
typedef CUpti_ActivityContext gp_context_view;
typedef CUpti_ActivityStream gp_stream_view;
typedef CUpti_ActivityGraphTrace gp_graph_view; /* 11.7 */
typedef CUpti_ActivitySynchronization gp_sync_view;
typedef CUpti_ActivityCudaEvent gp_event_view;
typedef CUpti_ActivityJit gp_jit_view;
typedef CUpti_ActivityMemoryPool2 gp_pool_view; /* 11.6 */
typedef CUpti_ActivityUnifiedMemoryCounter2 gp_unified_view;

/* The first fields of CUpti_ActivityGreenContext, which headers before 13.2 lack. */
struct gp_green_context_view {
	CUpti_ActivityKind kind;
	uint32_t contextId;
	uint32_t parentContextId;
	uint32_t deviceId;
	uint32_t numTpcs;
	uint16_t numMultiprocessors;
};

/* CUpti_ActivityGraphHostNode and CUpti_ActivityHostLaunch, which headers before 13.1 lack. */
struct gp_host_node_view {
	CUpti_ActivityKind kind;
	uint32_t streamId;
	uint32_t contextId;
	uint32_t deviceId;
	uint32_t correlationId;
	uint32_t graphId;
	uint64_t graphNodeId;
	uint32_t processId;
	uint32_t threadId;
	uint64_t start;
	uint64_t end;
};

struct gp_host_launch_view {
	CUpti_ActivityKind kind;
	uint32_t streamId;
	uint32_t contextId;
	uint32_t deviceId;
	uint32_t correlationId;
	uint32_t processId;
	uint32_t threadId;
	uint32_t pad;
	uint64_t start;
	uint64_t end;
};

/* Fields that came later. */
enum gp_cupti_field {
	GP_KERNEL_MAX_CLUSTER,
	GP_KERNEL_ACTIVE_CLUSTERS,
	GP_KERNEL_IS_DEVICE_LAUNCHED,
	GP_KERNEL_PRIORITY,
	GP_KERNEL_EXECUTION_MODEL,
	GP_CONTEXT_PARENT, /* means something in a green context only */
	GP_CONTEXT_IS_GREEN,
	GP_CONTEXT_MULTIPROCESSORS,
	GP_COPY_COUNT, /* how many copies were merged */
	GP_OVERHEAD_CORRELATION,
	GP_GRAPH_END_DEVICE,
	GP_GRAPH_END_CONTEXT,
	GP_SYNC_EVENT_SYNC,
	GP_EVENT_DEVICE,
	GP_EVENT_TIME,
	GP_EVENT_SYNC,
	GP_JIT_THREAD,
	GP_CUPTI_FIELDS
};

/* A field of a record that this version wrote; otherwise, if the version has no such field.  Any thread. */
uint64_t gp_cupti_field(uint32_t version, enum gp_cupti_field field, const void *record,
			uint64_t otherwise);

/* Whether the records of this version were looked at.  Any thread. */
bool gp_cupti_is_known(uint32_t version);

/*
 * Whether a record of a version that is not known can be read as one of the newest that is: it is as long at least, its
 * times are times of now, its device and context are numbers of such, and its name can be read.  now_ns: cuptiGetTimestamp(), or 0 where it failed.
 * A kind that is not read at all is none of these.  Any thread.
 */
bool gp_cupti_looks_known(const CUpti_Activity *record, size_t bytes, uint64_t now_ns);

#endif

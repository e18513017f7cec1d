/*
 * cupti_versions: the differences between the versions of libcupti, from 11.8 to 13.4: record
 * layouts, functions, kinds and attributes.  No other module knows about versions.
 *
 * Record structures only grow at their ends.  So the oldest structure with the fields that we read
 * is a valid view of every later record, and a later field is read at its offset if the library
 * that wrote the record has it.  The offsets are those of 11.8; a header with a moved field does
 * not compile.
 *
 * This holds for the tested versions.  A later version most likely writes the same fields and more:
 * its records are read in the newest known layout, each after a plausibility check
 * (gp_cupti_is_plausible()).
 *
 * To add a version: update GP_CUPTI_NEWEST; add its number if anything depends on it; a row for
 * each appended field that we read; the sizes of its records in known_layouts; a line in a list of
 * functions.  docs/design/cupti-notes.md has the findings for each version.
 */
#ifndef INJECT_CUPTI_VERSIONS_H
#define INJECT_CUPTI_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

/*
 * cuptiGetVersion() of the oldest version that works with current drivers, 11.8: older ones crash
 * the program.
 */
#define GP_CUPTI_OLDEST 18u

/* cuptiGetVersion() of the newest tested version, the last update of 13.4. */
#define GP_CUPTI_NEWEST 130499u

/* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, which headers before 12.3 lack. */
#define GP_CUPTI_PER_THREAD_BUFFER ((CUpti_ActivityAttribute)9)

/* Kinds that headers before 12.7 and before 13.1 lack. */
#define GP_CUPTI_KIND_DEVICE_GRAPH_TRACE        53
#define GP_CUPTI_KIND_MEM_DECOMPRESS            54
#define GP_CUPTI_KIND_GRAPH_HOST_NODE           56
#define GP_CUPTI_KIND_COMPUTE_ENGINE_CTX_SWITCH 57
#define GP_CUPTI_KIND_HOST_LAUNCH               58

/* From 13.2 on, green contexts have a kind of their own; before, they come as contexts. */
#define GP_CUPTI_KIND_GREEN_CONTEXT ((CUpti_ActivityKind)59)

/* ---- functions; found by name, never linked ---- */

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

/* Optional functions that not every version has: NULL if missing. */
#define GP_CUPTI_EXTRA_FUNCTIONS(X)                                                                \
	X(cuptiActivityConfigureUnifiedMemoryCounter)                                              \
	X(cuptiActivityEnableAllSyncRecords)                                                       \
	X(cuptiGetGraphId)                                                                         \
	X(cuptiGetGraphNodeId)                                                                     \
	X(cuptiGetStreamIdEx)

#if CUPTI_API_VERSION < 26
CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable); /* headers before 12.8 lack it */
#endif

/* ---- other differences ---- */

enum gp_cupti_ability {
	/* launches have their own correlation ids under a newer driver */
	GP_CUPTI_NUMBERS_LAUNCHES,
	GP_CUPTI_BUFFERS_PER_THREAD, /* the attribute for it exists */
	/* buffers are per thread by default; before 12.6 flushing these was unsafe */
	GP_CUPTI_PER_THREAD_AS_A_RULE,
	/* event records are a kind of their own; before, they come with synchronization records */
	GP_CUPTI_KIND_OF_EVENTS,
	GP_CUPTI_KIND_OF_GREEN_CONTEXTS,
	GP_CUPTI_KINDS_OF_HOST_FUNCTIONS,
	GP_CUPTI_ABILITIES
};

/* version: cuptiGetVersion().  Any thread. */
bool gp_cupti_can(uint32_t version, enum gp_cupti_ability ability);

/* ---- records ---- */

/*
 * Valid views of the records of every version; the comments name the first version that wrote the
 * structure.
 */
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

/* Fields of later versions. */
enum gp_cupti_field {
	GP_KERNEL_MAX_CLUSTER,
	GP_KERNEL_ACTIVE_CLUSTERS,
	GP_KERNEL_IS_DEVICE_LAUNCHED,
	GP_KERNEL_PRIORITY,
	GP_KERNEL_EXECUTION_MODEL,
	GP_CONTEXT_PARENT, /* only for green contexts */
	GP_CONTEXT_IS_GREEN,
	GP_CONTEXT_MULTIPROCESSORS,
	GP_COPY_COUNT, /* number of merged copies */
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

/* A field of a record that this version wrote; `otherwise` if the version lacks it.  Any thread. */
uint64_t gp_cupti_field(uint32_t version, enum gp_cupti_field field, const void *record,
			uint64_t otherwise);

/* Whether the records of this version were tested.  Any thread. */
bool gp_cupti_is_known(uint32_t version);

/*
 * Whether a record of an unknown version can be read in the newest known layout: it is long enough,
 * its times are plausible, its device and context ids are small, and its name is readable.  now_ns:
 * cuptiGetTimestamp(), or 0 if it failed.  False for kinds that we never read.  Any thread.
 */
bool gp_cupti_is_plausible(const CUpti_Activity *record, size_t bytes, uint64_t now_ns);

#endif

/*
 * record: the fixed-size records that a profiled process writes.
 *
 * A record is one or more 32-byte slots.  Program threads write records into their ring in this
 * form.  The writer thread packs them into the trace file (gpuprof/trace.h), and the reader unpacks
 * them into the same structs.  The two sides share this header and nothing else.
 *
 * Rules:
 * - The number of a kind and the meaning of its fields never change.  A new need gets a new kind,
 *   or a field in bytes that were zero so far.  Readers skip unknown kinds.
 * - No pointers, no bit-fields, no implicit padding; unused bytes are named `zero` and are zero.
 * - Little-endian, naturally aligned.
 * - A definition (string, shape, device, context, stream) precedes the first record that refers to
 *   it, in the same ring.  Definitions for API calls and ranges may be in any ring: they were
 *   published before the record.
 *
 * There are two time domains; the suffix of the member's name names the domain:
 *   _ticks  the host clock of the hooks: the CPU's counter if it is invariant, else CLOCK_MONOTONIC in ns
 *   _ns     CUPTI's clock (based on CLOCK_REALTIME), for GPU activity
 * Anchors (GP_RECORD_ANCHOR) pair the two clocks, so that a reader converts both to one timeline.
 */
#ifndef GPUPROF_RECORD_H
#define GPUPROF_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GP_SLOT_BYTES 32u

/* Records are compared and hashed byte by byte, so padding is an error. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/* The first bytes of every record.  slots == 0: variable length (GP_RECORD_STRING only). */
struct gp_record {
	uint8_t kind; /* enum gp_record_kind */
	uint8_t slots;
};

/*
 * One call of the CUDA runtime or driver API, as the program made it.  Published when it returns.
 */
struct gp_record_call {
	uint8_t kind;
	uint8_t slots;
	uint16_t api;            /* GP_API_ID(domain, cbid); named by a GP_STRING_API definition */
	uint32_t correlation_id; /* CUPTI's; the GPU records of this call carry the same id */
	uint64_t start_ticks;
	uint32_t duration_low_ticks;
	uint16_t duration_high_ticks; /* bits 32..47 */
	uint16_t status;              /* the call's return code, 0 = success; and GP_CALL_* flags */
	uint32_t stack_id;            /* 0 = not captured */
	uint32_t context_id;          /* 0 = no context was current */
};

/*
 * In status.  CAPTURED: the call became a node of a graph under capture.  It has no GPU record, and
 * a captured allocation allocates no memory yet.  COOPERATIVE and OVERLAPPING: attributes of a
 * launch, from its parameters.  OVERLAPPING marks either side of a programmatic dependent launch:
 * the kernel may start before its predecessor ends, or lets its successor start before it ends
 * itself.
 */
#define GP_CALL_CAPTURED     0x8000u
#define GP_CALL_COOPERATIVE  0x4000u
#define GP_CALL_OVERLAPPING  0x2000u
#define GP_CALL_CODE(status) ((status)&0x1fffu)

enum gp_memory_op {
	GP_MEMORY_ALLOC = 1, /* `bytes` were allocated at `address` */
	/* the memory at `address` was freed; `bytes` is 0, see the allocation */
	GP_MEMORY_FREE = 2,
	/*
	 * These three concern GP_MEMORY_PHYSICAL, whose `address` is a handle.  A free of a handle
	 * releases one ownership.  The memory is freed once no ownership and no mapping is left.
	 */
	/* `bytes` of the handle in `pool` were mapped at the virtual `address` */
	GP_MEMORY_MAP = 3,
	GP_MEMORY_UNMAP =
		4, /* the mappings within `bytes` from the virtual `address` were removed */
	GP_MEMORY_RETAIN = 5, /* one more ownership of the handle `address` */
};

enum gp_memory_kind {
	GP_MEMORY_DEVICE = 1, /* cudaMalloc and similar */
	GP_MEMORY_ASYNC = 2,  /* stream-ordered, from a pool */
	GP_MEMORY_MANAGED = 3,
	GP_MEMORY_PINNED = 4,     /* page-locked host memory from CUDA */
	GP_MEMORY_REGISTERED = 5, /* host memory of the program, page-locked by CUDA */
	GP_MEMORY_ARRAY = 6,      /* arrays and mipmapped arrays; `address` is the handle */
	GP_MEMORY_PHYSICAL = 7,   /* cuMemCreate; `address` is the handle */
	/* an allocation of another process, mapped here: not counted for this process */
	GP_MEMORY_IPC = 8,
	GP_MEMORY_KINDS
};

/*
 * A call that allocated or freed memory.  It replaces the gp_record_call of that call.  Either the
 * call succeeded; or it is a free after the end of CUDA (code 4, in a static destructor), which
 * freed the memory nevertheless; or it is a failed allocation, whose `address` is 0 and `bytes` the
 * requested size, without the row padding of arrays.
 */
struct gp_record_memory {
	struct gp_record_call call;
	uint64_t address; /* or handle, by memory_kind */
	uint64_t bytes;
	/* pool handle of an asynchronous allocation; for a map, the physical handle; else 0 */
	uint64_t pool;
	uint8_t op;          /* enum gp_memory_op */
	uint8_t memory_kind; /* enum gp_memory_kind; for a free, the family of its API call */
	/* device of the memory if the call names one, else that of the context */
	uint16_t device_id;
	uint32_t zero;
};

/* A kernel execution.  start_ns = end_ns = 0: the device gave no timestamps. */
struct gp_record_kernel {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t name_id;  /* GP_STRING_KERNEL */
	uint32_t shape_id; /* gp_record_shape */

	uint32_t context_id;
	uint32_t stream_id;
	uint64_t graph_node_id; /* 0 = not from a graph */
	uint32_t graph_id;
	uint32_t flags; /* GP_KERNEL_* */
	uint32_t channel_id;
	uint32_t channel_type;
};
#define GP_KERNEL_DEVICE_LAUNCHED 1u

/* CUPTI's numbers for source and destination of copies; A stands for device arrays, P for peers. */
enum gp_copy_kind {
	GP_COPY_HTOD = 1,
	GP_COPY_DTOH = 2,
	GP_COPY_HTOA = 3,
	GP_COPY_ATOH = 4,
	GP_COPY_ATOA = 5,
	GP_COPY_ATOD = 6,
	GP_COPY_DTOA = 7,
	GP_COPY_DTOD = 8,
	GP_COPY_HTOH = 9,
	GP_COPY_PTOP = 10,
	GP_COPY_KINDS
};

/* CUPTI's numbers for memory kinds, for copies and memsets. */
enum gp_copy_memory {
	GP_COPY_PAGEABLE = 1,
	GP_COPY_PINNED = 2,
	GP_COPY_DEVICE = 3,
	GP_COPY_ARRAY = 4,
	GP_COPY_MANAGED = 5,
	GP_COPY_DEVICE_STATIC = 6,
	GP_COPY_MANAGED_STATIC = 7,
	GP_COPY_MEMORIES
};

#define GP_COPY_ASYNC 1u /* in the flags of copies and memsets */

/* A memory copy. */
struct gp_record_copy {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;

	uint32_t context_id;
	uint32_t stream_id;
	uint64_t graph_node_id;
	uint32_t graph_id;
	uint8_t copy_kind;        /* enum gp_copy_kind */
	uint8_t source_kind;      /* enum gp_copy_memory, 0 = unknown */
	uint8_t destination_kind; /* the same */
	uint8_t flags;            /* GP_COPY_ASYNC */
	uint32_t channel_id;
	uint32_t channel_type;

	uint32_t source_device_id; /* for peer copies; else equal to device_id */
	uint32_t destination_device_id;
	uint32_t source_context_id;
	uint32_t destination_context_id;
	uint64_t copy_count; /* number of copies merged into this record; 0 = unknown */
	uint64_t zero;
};

/* A memset. */
struct gp_record_memset {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t bytes;

	uint32_t context_id;
	uint32_t stream_id;
	uint64_t graph_node_id;
	uint32_t graph_id;
	uint32_t value;
	uint16_t memory_kind; /* as source_kind above */
	uint16_t flags;       /* 1 = asynchronous */
	uint32_t channel_id;
};

/* A reader's overhead_kind for a gp_record_hw_window: CUPTI has no such number. */
#define GP_OVERHEAD_HW_WINDOW 0x40000000u
/* ... and for the work of gpuprof's Python package in the program: ranges of this name. */
#define GP_OVERHEAD_OWN_WORK 0x40000001u
#define GP_OWN_WORK_RANGE    "gpuprof.work"

/* Overhead that CUPTI or the driver reports. */
struct gp_record_overhead {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t overhead_kind; /* CUPTI's number */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t thread_id; /* 0 = not known */
	uint32_t correlation_id;
};

/* The namespace of a GP_RECORD_STRING. */
enum gp_string_space {
	GP_STRING_KERNEL = 1, /* id = name_id: the mangled name */
	GP_STRING_API = 2,    /* id = api; value = enum gp_api_class */
	/*
	 * id = thread id: the thread's name.  A later name replaces an earlier one, but a name
	 * without GP_NAME_GIVEN does not replace one with it.
	 */
	GP_STRING_THREAD = 3,
	GP_STRING_DEVICE = 4,   /* id = device_id; value GP_NAME_GIVEN: the program's name for it */
	GP_STRING_INFO = 5,     /* id = enum gp_info */
	GP_STRING_RANGE = 6,    /* id = text_id of a range: its message */
	GP_STRING_DOMAIN = 7,   /* id = domain_id of a range */
	GP_STRING_CATEGORY = 8, /* id = category of a range; value = its domain_id */
	GP_STRING_STREAM = 9,   /* id = stream id; value = context id; a later one replaces it */
	GP_STRING_CONTEXT = 10, /* id = context id */
	GP_STRING_SCHEMA = 11, /* id = schema id of a payload: the layout of its bytes, see below */
	GP_STRING_PAYLOAD = 12, /* id = payload_id of a range; value = schema id: the raw bytes */
	GP_STRING_MODULE = 13,  /* id = module id: the path of its file */
	GP_STRING_CODE = 14,    /* id = code id: a Python code object, see below */
	GP_STRING_STACK_COPY = 15, /* id = id of its frame: registers and stack, see below */
	/* id = of a stall record: a mangled name, the path of a source file, a reason */
	GP_STRING_STALL = 16,
	GP_STRING_METRIC = 17,     /* id = metric_id of a gp_record_hw_value: CUPTI's full name */
	GP_STRING_METRIC_SET = 18, /* of older traces: the name of a set of metrics */
	/* id = metric_id: CUPTI's word, such as "byte"; absent if the metric has none */
	GP_STRING_METRIC_UNIT = 19,
};

#define GP_NAME_GIVEN 1u /* given by the program through NVTX */

/*
 * The text of a GP_STRING_SCHEMA: lines that end in \n, with tab-separated fields.  The first line:
 * type (1 static, 2 dynamic), size of the payload in bytes (0 = not fixed), name.  Each further
 * line is an entry: flags, type, offset in bytes, array or union detail, name.  Numbers are decimal
 * and those of NVTX (nvToolsExtPayload.h).  A type that is a schema is that schema's id here plus
 * GP_SCHEMA_TYPE_FIRST.  Offsets that the program left out are computed by the layout rules of
 * structs.  For an enumeration, the type in the first line is 0, and a further line is: 1 = the
 * value is a bit mask, the value, 0, 0, name.
 *
 * In the bytes of a payload, up to eight string addresses and registered strings of a schema of
 * type 1 are replaced by the id of their text (GP_STRING_RANGE) as 64 bits.
 */
#define GP_SCHEMA_TYPE_FIRST 0x1000000u

/*
 * A definition.  The text of length_bytes follows; the record fills (16 + length_bytes) rounded up
 * to slots.
 */
struct gp_record_string {
	uint8_t kind;
	uint8_t slots;  /* 0 */
	uint16_t space; /* enum gp_string_space */
	uint32_t id;
	uint32_t value;
	uint32_t length_bytes; /* at most GP_STRING_MAX_BYTES; no terminating NUL */
};
#define GP_STRING_MAX_BYTES 16368u /* 512 slots; longer names are truncated and counted */

static inline uint32_t gp_string_slots(uint32_t length_bytes)
{
	return (uint32_t)((sizeof(struct gp_record_string) + length_bytes + GP_SLOT_BYTES - 1) /
			  GP_SLOT_BYTES);
}

/* The launch configuration of a kernel: everything that repeats from launch to launch. */
struct gp_record_shape {
	uint8_t kind;
	uint8_t slots;
	uint16_t registers; /* per thread */
	uint32_t id;
	uint32_t grid[3];
	uint32_t block[3];

	uint32_t static_shared_bytes;
	uint32_t dynamic_shared_bytes;
	uint32_t executed_shared_bytes;
	uint32_t local_per_thread_bytes;
	uint16_t cluster[3]; /* 0 = no cluster */
	uint8_t cluster_policy;
	/* CUPTI's: 0 regular, 1 cooperative, 2 cooperative on several devices */
	uint8_t launch_type;
	uint64_t local_total_bytes;

	int32_t priority;            /* of the launch; from CUPTI 13.1 on */
	uint32_t max_cluster_blocks; /* for launches with clusters: the largest possible cluster */
	/* for launches with clusters: the device's limit of active clusters; 0 = unknown */
	uint32_t max_active_clusters;
	uint8_t cache_requested; /* CUfunc_cache: 0 no preference, 1 shared, 2 L1, 3 equal */
	uint8_t cache_executed;
	uint8_t has_carveout;     /* the kernel asks for a share of shared memory */
	uint8_t carveout_percent; /* that share; 255 = the driver's choice */
	uint8_t shared_limit;     /* CUPTI's: 0 default, 1 opted in for more per block */
	uint8_t execution_model;  /* CUPTI's: 0 unknown, 1 SIMT, 2 tile, 3 hybrid; from 13.3 on */
	uint16_t zero;
	uint32_t zero2;
	uint64_t zero3;
};

/* A device, from CUPTI's DEVICE record. */
struct gp_record_device {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint16_t compute_major;
	uint16_t compute_minor;
	uint64_t memory_bytes;
	uint64_t memory_bandwidth_kbytes_per_s;
	uint32_t multiprocessors;
	uint32_t warp_threads;

	uint32_t max_threads_per_block;
	uint32_t max_threads_per_multiprocessor;
	uint32_t max_blocks_per_multiprocessor;
	uint32_t max_warps_per_multiprocessor;
	uint32_t registers_per_block;
	uint32_t registers_per_multiprocessor;
	uint32_t shared_per_block_bytes;
	uint32_t shared_per_multiprocessor_bytes;

	uint32_t core_clock_khz;
	uint32_t l2_bytes;
	uint8_t uuid[16];
	uint32_t shared_per_block_optin_bytes; /* 0 = not known */
	uint32_t zero;
};

struct gp_record_context {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t id;
	uint32_t null_stream_id;
	uint32_t parent_id;       /* for a green context, else 0 */
	uint32_t multiprocessors; /* for a green context, else 0 */
	uint32_t zero;
	uint64_t zero2;
};

/*
 * A context is destroyed while the program runs: its allocations end here, without calls of their
 * own.
 */
struct gp_record_context_end {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t id;
	uint64_t ticks;
	uint64_t zero[2];
};

struct gp_record_stream {
	uint8_t kind;
	uint8_t slots;
	uint16_t flags; /* CUPTI's: 0 unknown, 1 default, 2 non-blocking, 3 null */
	uint32_t id;
	uint32_t context_id;
	int32_t priority;
	/* of the call that created it, and of its context if that was new; 0 = unknown */
	uint32_t correlation_id;
	uint32_t zero;
	uint64_t zero2;
};

/* All clocks, read back to back: at the start, about once a second, and at the end. */
struct gp_record_anchor {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t gap_ticks; /* between the tick reads around the others: the anchor's error bound */
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;

	uint64_t cupti_ns;    /* 0 = not read at this anchor */
	uint64_t cupti_ticks; /* the tick reading that belongs to cupti_ns */
	uint64_t zero2[2];
};

/* The value of a counter of gpuprof/counter.def so far; the last record counts. */
struct gp_record_counter {
	uint8_t kind;
	uint8_t slots;
	uint16_t counter; /* enum gp_counter */
	uint32_t zero;
	uint64_t value;
	uint64_t ticks;
	uint64_t zero2;
};

/* The driver's report of a device's memory usage, over all processes. */
struct gp_record_usage {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t context_id;
	uint64_t ticks;
	uint64_t free_bytes;
	uint64_t total_bytes;
};

enum gp_end_reason {
	/* the library closed the trace in an orderly way: no published record is missing */
	GP_END_EXIT = 1,
	/*
	 * added by the process that waited for this one: says how it ended, nothing about lost
	 * records
	 */
	GP_END_REPORTED = 2,
};

/* The meaning of `status`. */
enum gp_end_way {
	GP_END_UNKNOWN = 0,
	GP_END_STATUS = 1, /* the exit status */
	GP_END_EXEC = 2,   /* 0: the process became another program, or was about to */
	GP_END_SIGNAL = 3, /* the signal that ended it; without GP_END_REPORTED only SIGTERM */
};

/*
 * The last record of a trace that was closed in an orderly way.  The process that waited for this
 * one may add a GP_END_REPORTED record, if the trace has no END record, or if that one does not say
 * how the process ended or was written too early.  The last record counts.
 */
struct gp_record_end {
	uint8_t kind;
	uint8_t slots;
	uint16_t reason; /* enum gp_end_reason */
	uint8_t way;     /* enum gp_end_way */
	uint8_t status;
	uint16_t zero;
	uint64_t ticks;
	uint64_t zero2[2];
};

/*
 * In a ring that several threads share: the thread of the next record.  Always in the same chunk as
 * that record.
 */
struct gp_record_thread {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t id;
	uint64_t zero2[3];
};

/* A synchronization as CUPTI saw it: the object that the API call waited for. */
struct gp_record_sync {
	uint8_t kind;
	uint8_t slots;
	/* CUPTI's: 1 event, 2 a stream waits for an event, 3 stream, 4 context */
	uint16_t sync_kind;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t context_id;
	uint32_t stream_id; /* GP_NO_STREAM if no stream is involved */

	uint32_t event_id; /* 0 = no event */
	uint32_t zero;
	uint64_t event_sync_id; /* of the gp_record_event that the call waited for; 0 = unknown */
	uint64_t zero2[2];
};
#define GP_NO_STREAM UINT32_MAX

/* An event that was recorded into a stream. */
struct gp_record_event {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t event_id;
	uint32_t zero;
	uint64_t sync_id; /* identifies this recording; 0 = the library does not provide one */

	uint64_t device_ns; /* when the device reached it; 0 = not recorded */
	uint64_t zero2[3];
};

/* A launch of a whole graph, if its nodes are not recorded one by one. */
struct gp_record_graph {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t context_id;
	uint32_t stream_id;

	uint32_t graph_id;
	uint32_t end_device_id;
	uint32_t end_context_id;
	uint32_t zero;
	uint64_t zero2[2];
};

/*
 * A function of the program that CUDA called on the host, from a stream or as a node of a graph.
 * CUPTI 13.1 and later.
 */
struct gp_record_host_function {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id; /* of the call that enqueued it, or launched the graph */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t context_id;
	uint32_t stream_id;

	uint64_t graph_node_id; /* 0 = not from a graph */
	uint32_t graph_id;
	uint32_t thread_id; /* the thread that ran it */
	uint64_t zero[2];
};

/*
 * A new node of a graph: created by the call with this correlation id, or cloned from another node.
 */
struct gp_record_node {
	uint8_t kind;
	uint8_t slots;
	/*
	 * the driver's CUgraphNodeType; 0 also for copies and memsets (docs/design/cupti-notes.md,
	 * 8)
	 */
	uint16_t node_kind;
	uint32_t correlation_id;
	uint64_t node_id;     /* the graph_node_id of its operations */
	uint64_t original_id; /* the node that it was cloned from; 0 = none */
	uint32_t graph_id;
	uint32_t zero;
};

/* Work of the compiler in the driver. */
struct gp_record_jit {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint8_t entry_kind; /* CUPTI's: 1 PTX to CUBIN, 2 NVVM IR to PTX */
	uint8_t op_kind;    /* CUPTI's: 1 cache load, 2 cache store, 3 compile */
	uint16_t zero;
	uint32_t thread_id; /* 0 = not known */

	uint64_t cache_bytes;  /* size of the whole compute cache in use; 0 = none */
	uint64_t operation_id; /* shared by all operations on one piece of code */
	uint64_t zero2[2];
};

/* A change of a memory pool. */
struct gp_record_pool {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t correlation_id;
	uint64_t time_ns;
	uint64_t address; /* the pool's handle, as in gp_record_memory */
	uint64_t reserved_bytes;

	uint64_t used_bytes;
	uint64_t release_threshold_bytes;
	uint64_t least_kept_bytes; /* for a trim */
	uint8_t op;                /* 1 created, 2 destroyed, 3 trimmed */
	uint8_t pool_kind;         /* CUPTI's: 1 of this process, 2 imported */
	uint16_t zero;
	uint32_t zero2;
};

/* CUPTI's numbers for what happens to unified memory. */
enum gp_unified_kind {
	GP_UNIFIED_HTOD = 1, /* bytes that were migrated */
	GP_UNIFIED_DTOH = 2,
	GP_UNIFIED_CPU_FAULT = 3,
	GP_UNIFIED_GPU_FAULT = 4,
	GP_UNIFIED_THRASHING = 5,
	GP_UNIFIED_THROTTLING = 6,
	GP_UNIFIED_REMOTE = 7, /* mapped, not migrated */
	GP_UNIFIED_DTOD = 8,
	GP_UNIFIED_KINDS
};

/* Unified memory: a migration, a fault, or thrashing. */
struct gp_record_unified {
	uint8_t kind;
	uint8_t slots;
	uint16_t counter_kind; /* enum gp_unified_kind */
	uint32_t flags;        /* CUPTI's, by counter_kind: access type or cause */
	uint64_t start_ns;
	uint64_t end_ns; /* 0 = no duration */
	uint64_t value;  /* bytes or a count */

	uint64_t address;
	uint32_t source_device_id;
	uint32_t destination_device_id;
	uint32_t stream_id;
	uint32_t zero;
	uint64_t zero2;
};

enum gp_range_op {
	GP_RANGE_PUSH = 1,  /* opens a range on this thread */
	GP_RANGE_POP = 2,   /* closes the innermost open range of the same domain on this thread */
	GP_RANGE_START = 3, /* opens a range that any thread may close */
	GP_RANGE_END = 4,   /* closes the range with the same range_id */
	GP_RANGE_MARK = 5,
};

enum gp_payload_kind {
	GP_PAYLOAD_NONE = 0,
	GP_PAYLOAD_UNSIGNED = 1, /* 64 bits */
	GP_PAYLOAD_SIGNED = 2,
	GP_PAYLOAD_FLOATING = 3, /* the bits of a double */
};

/* A range or mark of the program, from NVTX or gpuprof's own functions. */
struct gp_record_range {
	uint8_t kind;
	uint8_t slots;
	uint8_t op;       /* enum gp_range_op */
	uint8_t flags;    /* GP_RANGE_HAS_COLOR */
	uint32_t text_id; /* GP_STRING_RANGE; 0 = no message */
	uint64_t ticks;
	uint64_t range_id;  /* for START and END */
	uint32_t domain_id; /* GP_STRING_DOMAIN; 0 = the default domain */
	uint32_t category;  /* GP_STRING_CATEGORY of this domain; 0 = none */

	uint32_t color_argb;
	uint32_t payload_kind; /* enum gp_payload_kind */
	uint64_t payload;
	/* GP_STRING_PAYLOAD, an extended payload, also for POP and END; 0 = none */
	uint32_t payload_id;
	uint32_t zero;
	uint64_t zero2;
};
#define GP_RANGE_HAS_COLOR 1u

enum gp_gate_reason {
	GP_GATE_START = 1,    /* the initial state, from the options */
	GP_GATE_PROFILER = 2, /* cudaProfilerStart or cudaProfilerStop */
	GP_GATE_RANGE = 3,    /* the range of --capture-range */
	GP_GATE_TIME = 4,     /* --delay or --duration */
	GP_GATE_COUNT = 5,    /* --after-launches or --launches */
	GP_GATE_SIGNAL = 6,
	GP_GATE_API = 7,  /* gpuprof_start() or gpuprof_stop() */
	GP_GATE_FULL = 8, /* the trace reached --max-file and ends here */
	GP_GATE_KEPT = 9, /* older records did not fit --keep-last; the last such record counts */
	GP_GATE_SAMPLE = 10, /* a window of --sample */
	GP_GATE_ATTACH = 11, /* gpuprof attach or gpuprof detach */
};

/* Recording started or paused.  A trace without such records was recorded from beginning to end. */
struct gp_record_gate {
	uint8_t kind;
	uint8_t slots;
	uint8_t on;     /* 1 or 0 */
	uint8_t reason; /* enum gp_gate_reason */
	uint32_t zero;
	uint64_t ticks;
	uint64_t zero2[2];
};

enum gp_frame_kind {
	GP_FRAME_NATIVE = 1,
	GP_FRAME_PYTHON = 2,
	GP_FRAME_COPY = 3,  /* the callers of its child frame must be unwound from a stack copy */
	GP_FRAME_CUT = 4,   /* frames are missing here: the stack is deeper than the limit */
	GP_FRAME_STUCK = 5, /* the walk stopped here: code without unwind rules */
};

/*
 * A definition: one frame of call stacks.  Stacks form a tree; parent_id is the frame's caller.
 * Python frames replace the native frames of the Python evaluator.
 */
struct gp_record_frame {
	uint8_t kind;
	uint8_t slots;
	uint16_t frame_kind; /* enum gp_frame_kind */
	uint32_t id;
	uint32_t parent_id; /* 0 = none */
	uint32_t origin_id; /* native: gp_record_module, 0 = in none; Python: GP_STRING_CODE */
	/*
	 * native: the return address, or the pc of the innermost frame; Python: offset in bytes in
	 * the code
	 */
	uint64_t address;
	uint64_t zero;
};

/*
 * The text of a GP_STRING_CODE: u32 first line, u8 form of the line table (enum gp_line_table), u8
 * 1 = the table is truncated, u16 zero, then the file name and the qualified name, each with its
 * NUL, then the table.
 *
 * The text of a GP_STRING_STACK_COPY: u32 count of registers, u32 zero, the registers (u64 each, in
 * the order of the machine's DWARF numbers, x86-64: 0 to 16), u64 address of the first byte, then
 * the bytes of the stack.  They belong to the child frame of the GP_FRAME_COPY, with the pc inside
 * the call, not behind it.  Unknown registers are 0.
 */

/*
 * The formats of line tables.  Tables of Python 3.11 and later are converted to the 3.10 format;
 * older traces hold them unconverted.
 */
enum gp_line_table { GP_LINES_LNOTAB = 1, GP_LINES_3_10 = 2, GP_LINES_3_11 = 3 };

/* One executable mapping of a module. */
struct gp_record_module {
	uint8_t kind;
	uint8_t slots;
	uint8_t build_id_bytes;
	uint8_t zero;
	/* of the module's path and of its frames; a file that is loaded again gets a new id */
	uint32_t id;
	uint64_t start_address;
	uint64_t end_address;
	uint64_t bias; /* address in memory minus address in the file's symbol table */

	uint8_t build_id[20]; /* its first bytes */
	uint32_t zero2;
	uint64_t ticks; /* when it was first seen */
};

enum gp_link_kind {
	GP_LINK_PCIE = 1,   /* to the host: generation, lanes */
	GP_LINK_NVLINK = 2, /* to every other GPU, through switches: lanes, lane_mbytes_per_s */
};

/*
 * The best link between a device and the host or its peers.  Added after the process has ended, and
 * only if copies used the link.
 */
struct gp_record_link {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint16_t link_kind;  /* enum gp_link_kind */
	uint16_t generation; /* of PCI Express */
	uint32_t lanes;
	uint32_t lane_mbytes_per_s; /* in one direction; 0 = determined by the generation */
	uint64_t zero[2];
};

/*
 * A thread was in this potentially blocking call when its process died.  Salvaged with the rings:
 * gpuprof/trace.h.
 */
struct gp_record_waiting {
	uint8_t kind;
	uint8_t slots;
	uint16_t api;
	uint32_t thread_id;
	uint64_t start_ticks;
	uint64_t zero[2];
};

/*
 * A Python stack of a thread that `count` consecutive samples found.  Nothing is known about the
 * times between samples.  A thread that ran no Python has no samples.  The record lies in the ring
 * of the sampling thread.
 */
struct gp_record_sample {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t thread_id;      /* the sampled thread */
	uint64_t start_ticks;    /* the first sample */
	uint64_t duration_ticks; /* until the last sample */
	uint32_t stack_id;       /* Python frames only */
	uint32_t count;
};

/*
 * A launched kernel for which CUPTI had delivered no record at a scan: it had not ended, or another
 * kernel of the same buffer had not.  If the trace also has its kernel record, that record counts.
 */
struct gp_record_in_flight {
	uint8_t kind;
	uint8_t slots;
	/* 1 = CUPTI was not flushed shortly before the scan: the kernel may have ended long ago */
	uint16_t unflushed;
	uint32_t correlation_id;
	uint64_t ticks;   /* of the scan */
	uint32_t name_id; /* GP_STRING_KERNEL, defined in any ring */
	uint32_t era;     /* of stream handles: see below */
	uint64_t stream;  /* see below; 0 = unknown */
};

/*
 * A call that waited for a stream has returned: everything launched into the stream before has
 * ended, with or without a record.  Written if a launch had no record.  stream: its handle; default
 * streams have a number that no handle has.  A later stream may reuse a handle, but not within the
 * same era.
 */
struct gp_record_stream_wait {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t correlation_id; /* of the call */
	uint64_t stream;
	uint32_t era;
	uint32_t zero2;
	uint64_t zero3;
};

/*
 * A hardware sample: the counters of one interval of --hw-timeline.  value: by position in
 * gpuprof/hw_metric.def; 0 if the bit in `absent` says that the GPU has no such unit.
 */
#define GP_HW_VALUES 12
struct gp_record_hw_sample {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t absent;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t value[GP_HW_VALUES];
	uint32_t zero[2];
};

/*
 * Samples of waiting and running warps, from --stalls: all of one kernel, source line and reason
 * within a time.  A warp that issues an instruction has the reason "selected".
 */
struct gp_record_stall {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t line; /* of the file; 0 = unknown */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t kernel_id; /* these three: GP_STRING_STALL; 0 = unknown */
	uint32_t file_id;
	uint32_t reason_id;
	uint32_t samples;
	uint32_t not_issued; /* of these: the scheduler issued no instruction of any warp */
	uint32_t zero[5];
};

/*
 * A window in which the hardware counters of one context's kernels were read (--counters).  The
 * kernels that were launched between start and stop ran one after the other, and each has its
 * values.  The launching thread waited from open to start, and from stop to close.
 */
struct gp_record_hw_window {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t id; /* from 1 on */
	uint64_t open_ticks;
	uint64_t start_ticks;
	uint64_t stop_ticks;

	uint64_t close_ticks;
	uint32_t thread_id; /* the thread that opened it */
	uint32_t set_id;    /* its pass, from 1 on; in older traces: of GP_STRING_METRIC_SET */
	uint32_t launches;  /* of kernels, between start and stop */
	uint32_t measured;  /* of these, the ones with values */
	uint32_t flags;     /* GP_HW_WINDOW_* */
	uint32_t close_thread_id;
};
#define GP_HW_WINDOW_HAS_RECORDS 1u /* CUPTI's kernel records were on: they add instructions */

/* The value of one metric for one kernel of a window. */
struct gp_record_hw_value {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t correlation_id; /* of the launch */
	uint32_t metric_id;      /* GP_STRING_METRIC */
	uint32_t window_id;
	uint64_t value; /* the bits of a double */
	uint64_t zero2;
};

/*
 * A sample of a GPU's power, energy and clock (--energy), by the driver's management library.  Added
 * by gpuprof-run after the process has ended.  They are of the whole GPU, whichever processes use
 * it.
 */
struct gp_record_energy {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t power_mw;
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC, as in anchors */
	uint64_t energy_mj;    /* since some earlier time */
	uint32_t reasons;      /* why the clocks are not higher: bits of gpuprof/clock_reason.def */
	uint16_t clock_mhz;    /* of the SMs; 0 = unknown */
	uint16_t flags;        /* GP_ENERGY_* */
};
#define GP_ENERGY_FROM_POWER 1u /* the GPU does not count energy: the sum of power x time */

/* Which records of a kind belong to a part (time window) of a trace. */
enum gp_record_role {
	GP_ROLE_EVENT, /* the records of its time window: events, whose number grows with the run */
	GP_ROLE_FACT,  /* all */
	GP_ROLE_OWNER, /* names the thread of the next record, and is kept with it */
};

/* Kind number, name, struct, role; `user` is passed to X unchanged.  Append only. */
#define GP_RECORD_KINDS_FOR(X, user)                                                               \
	X(user, 1, CALL, call, EVENT)                                                              \
	X(user, 2, MEMORY, memory, EVENT)                                                          \
	X(user, 3, KERNEL, kernel, EVENT)                                                          \
	X(user, 4, COPY, copy, EVENT)                                                              \
	X(user, 5, MEMSET, memset, EVENT)                                                          \
	X(user, 6, OVERHEAD, overhead, EVENT)                                                      \
	X(user, 7, STRING, string, FACT)                                                           \
	X(user, 8, SHAPE, shape, FACT)                                                             \
	X(user, 9, DEVICE, device, FACT)                                                           \
	X(user, 10, CONTEXT, context, FACT)                                                        \
	X(user, 11, STREAM, stream, FACT)                                                          \
	X(user, 12, ANCHOR, anchor, FACT)                                                          \
	X(user, 13, COUNTER, counter, FACT)                                                        \
	X(user, 14, USAGE, usage, FACT)                                                            \
	X(user, 15, END, end, FACT)                                                                \
	X(user, 16, THREAD, thread, OWNER)                                                         \
	X(user, 17, CONTEXT_END, context_end, FACT)                                                \
	X(user, 18, SYNC, sync, EVENT)                                                             \
	X(user, 19, EVENT, event, FACT)                                                            \
	X(user, 20, GRAPH, graph, EVENT)                                                           \
	X(user, 21, NODE, node, FACT)                                                              \
	X(user, 22, JIT, jit, FACT)                                                                \
	X(user, 23, POOL, pool, EVENT)                                                             \
	X(user, 24, UNIFIED, unified, EVENT)                                                       \
	X(user, 25, RANGE, range, EVENT)                                                           \
	X(user, 26, GATE, gate, FACT)                                                              \
	X(user, 27, FRAME, frame, FACT)                                                            \
	X(user, 28, MODULE, module, FACT)                                                          \
	X(user, 29, LINK, link, FACT)                                                              \
	X(user, 30, WAITING, waiting, FACT)                                                        \
	X(user, 31, HOST_FUNCTION, host_function, EVENT)                                           \
	X(user, 32, SAMPLE, sample, FACT)                                                          \
	X(user, 33, IN_FLIGHT, in_flight, FACT)                                                    \
	X(user, 34, STREAM_WAIT, stream_wait, FACT)                                                \
	X(user, 35, HW_SAMPLE, hw_sample, EVENT)                                                   \
	X(user, 36, STALL, stall, EVENT)                                                           \
	X(user, 37, HW_WINDOW, hw_window, FACT)                                                    \
	X(user, 38, HW_VALUE, hw_value, FACT)                                                      \
	X(user, 39, ENERGY, energy, FACT)

/* The same with number, name and struct only. */
#define GP_RECORD_KINDS(X)                              GP_RECORD_KINDS_FOR(GP_RECORD_KIND_ROW, X)
#define GP_RECORD_KIND_ROW(X, number, NAME, name, ROLE) X(number, NAME, name)

enum gp_record_kind {
#define X(number, NAME, name) GP_RECORD_##NAME = number,
	GP_RECORD_KINDS(X)
#undef X
		GP_RECORD_KIND_LIMIT
};

#define X(number, NAME, name)                                                                      \
	static_assert(sizeof(struct gp_record_##name) % GP_SLOT_BYTES == 0 ||                      \
			      GP_RECORD_##NAME == GP_RECORD_STRING,                                \
		      #name ": whole slots");
GP_RECORD_KINDS(X)
#undef X

/* ---- the API calls ---- */

/*
 * The id of an API call: driver API calls have the top bit set.  cbid is CUPTI's number, which is
 * stable.
 */
#define GP_API_DRIVER         0x8000u
#define GP_API_CBID(api)      ((api)&0x7fffu)
#define GP_API_IS_DRIVER(api) (((api)&GP_API_DRIVER) != 0)

/* The purpose of an API call; the reader groups and checks by it. */
enum gp_api_class {
	GP_API_OTHER = 0,
	GP_API_LAUNCH = 1,       /* one kernel: has exactly one kernel record */
	GP_API_GRAPH_LAUNCH = 2, /* any number of records */
	GP_API_COPY = 3,         /* a copy: usually one record; none for host-to-host copies */
	GP_API_MEMSET = 4,
	GP_API_ALLOC = 5,
	GP_API_FREE = 6,
	GP_API_SYNC = 7,
	GP_API_CAPTURE_BEGIN = 8, /* of a graph; GP_CALL_CAPTURED marks the captured calls */
	GP_API_CAPTURE_END = 9,
	GP_API_CONTROL = 10, /* contexts, streams, graphs, profiler control */
	GP_API_EVENT = 11,   /* an event is recorded into a stream */
	GP_API_MODULE = 12,  /* code is loaded, looked up, unloaded */
	GP_API_HOST = 13,    /* a host function is enqueued into a stream */
	GP_API_CLASSES
};

/* ---- facts about the process: ids of GP_STRING_INFO ---- */

enum gp_info {
	GP_INFO_PROGRAM = 1, /* base name of the program, or of the script an interpreter runs */
	GP_INFO_COMMAND = 2, /* the command line, NUL-separated as in /proc/self/cmdline */
	GP_INFO_PID = 3,     /* decimal, in the process's own pid namespace */
	GP_INFO_PARENT_PID = 4,
	GP_INFO_HOST = 5,
	GP_INFO_DIRECTORY = 6,        /* at start */
	GP_INFO_VERSION = 7,          /* of gpuprof */
	GP_INFO_TICKS_PER_SECOND = 8, /* decimal, an estimate; anchors are exact */
	GP_INFO_RING_FILE =
		9, /* absolute path of the ring file; absent = rings in private memory */
	GP_INFO_CUPTI_VERSION = 10, /* decimal cuptiGetVersion() */
	GP_INFO_CUPTI_PATH = 11,
	GP_INFO_DRIVER_VERSION = 12, /* decimal cuDriverGetVersion() */
	/* NAME=VALUE of every option that differs from its default, separated by newlines */
	GP_INFO_OPTIONS = 13,
	GP_INFO_CLOCK = 14, /* "tsc", "arch_sys_counter" (aarch64) or "monotonic" */
	GP_INFO_RANK = 15,  /* in its job, from RANK, SLURM_PROCID, ...; absent = none */
	GP_INFO_BOOT_ID = 16,
	/* field 22 of /proc/self/stat: identifies the process together with pid and boot id */
	GP_INFO_START_TIME = 17,
	GP_INFO_NOTE = 18,       /* one sentence for the summary: a limitation during recording */
	GP_INFO_SESSION = 19,    /* base name of gpuprof-run's folder (GP_SESSION_VARIABLE) */
	GP_INFO_WORLD_SIZE = 20, /* ranks of the job */
	GP_INFO_LOCAL_RANK = 21, /* among the ranks of its host */
	GP_INFO_JOB = 22,        /* the id that the scheduler gave the job */
	GP_INFO_LIMIT
};

#pragma GCC diagnostic pop

#endif

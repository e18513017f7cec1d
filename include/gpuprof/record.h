/*
 * record: what a profiled process says about itself, as fixed-size records.
 *
 * A record is one or more 32-byte slots.  Program threads write records into their ring as they
 * stand here; the writer thread packs them into the trace file (gpuprof/trace.h) and the reader
 * unpacks them into exactly these structs again.  Both sides include this header and nothing else
 * of each other.
 *
 * Rules:
 *  - A kind's number and the meaning of its fields never change; a new need gets a new kind, or
 *    a field in bytes that were zero until now.  Readers skip kinds that they do not know.
 *  - No pointers, no bit-fields, no implicit padding; unused bytes are called `zero` and are zero.
 *  - Little-endian, naturally aligned.
 *  - A definition (string, shape, device, context, stream) precedes the first record that
 *    refers to it, in the same ring; those of API calls and of what ranges refer to, in any ring: it
 *    was published before.
 *
 * Three time domains occur, and the member's name tells which one:
 *  _ticks  the host clock of the hooks: the TSC where it is invariant, else CLOCK_MONOTONIC in ns;
 *  _ns     CUPTI's clock (CLOCK_REALTIME based), for what the GPU did;
 *  anchors (GP_RECORD_ANCHOR) pair them, so that a reader converts both to one timeline.
 */
#ifndef GPUPROF_RECORD_H
#define GPUPROF_RECORD_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define GP_SLOT_BYTES 32u

/* Padding is nobody's: records are compared and hashed byte by byte. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

/* Every record begins with these bytes.  slots == 0: variable length (GP_RECORD_STRING only). */
struct gp_record {
	uint8_t kind; /* enum gp_record_kind */
	uint8_t slots;
};

/* One call of the CUDA runtime or driver API, as the program made it.  Published at its return. */
struct gp_record_call {
	uint8_t kind;
	uint8_t slots;
	uint16_t api;            /* GP_API_ID(domain, cbid); named by a GP_STRING_API definition */
	uint32_t correlation_id; /* CUPTI's; GPU records of the work it started carry the same */
	uint64_t start_ticks;
	uint32_t duration_low_ticks;
	uint16_t duration_high_ticks; /* bits 32..47 */
	uint16_t status;              /* the call's return code, 0 = success; and GP_CALL_ flags */
	uint32_t stack_id;            /* 0 = not captured */
	uint32_t context_id;          /* 0 = no context was current */
};

/*
 * In status.  CAPTURED: the call became a node of a graph under capture, so it has no GPU record; an allocation among
 * them has allocated nothing yet.  COOPERATIVE and OVERLAPPING: attributes of a launch, as its parameters say; the
 * latter is one side of a programmatic dependent launch: it may start before the kernel ahead of it has ended, or lets
 * another start before it has ended itself.
 */
#define GP_CALL_CAPTURED     0x8000u
#define GP_CALL_COOPERATIVE  0x4000u
#define GP_CALL_OVERLAPPING  0x2000u
#define GP_CALL_CODE(status) ((status)&0x1fffu)

enum gp_memory_op {
	GP_MEMORY_ALLOC = 1, /* `bytes` came into being at `address` */
	GP_MEMORY_FREE = 2,  /* what was at `address` is gone; `bytes` is 0, the allocation knows */
	/*
	 * These three are about GP_MEMORY_PHYSICAL, whose `address` is a handle.  A free of a handle gives up one
	 * ownership of it; the memory is gone once no ownership and no mapping is left.
	 */
	GP_MEMORY_MAP = 3, /* `bytes` of the handle in `pool` appeared at the virtual `address` */
	GP_MEMORY_UNMAP =
		4, /* what was mapped within `bytes` from the virtual `address` is not any more */
	GP_MEMORY_RETAIN = 5, /* one more ownership of the handle `address` */
};

enum gp_memory_kind {
	GP_MEMORY_DEVICE = 1, /* cudaMalloc and its relatives */
	GP_MEMORY_ASYNC = 2,  /* stream-ordered, from a pool */
	GP_MEMORY_MANAGED = 3,
	GP_MEMORY_PINNED = 4,     /* page-locked host memory from CUDA */
	GP_MEMORY_REGISTERED = 5, /* the program's host memory, page-locked by CUDA */
	GP_MEMORY_ARRAY = 6,      /* arrays and mipmapped arrays; `address` is the handle */
	GP_MEMORY_PHYSICAL = 7,   /* cuMemCreate; `address` is the handle */
	GP_MEMORY_IPC = 8, /* another process's allocation, mapped here: not this process's bytes */
	GP_MEMORY_KINDS
};

/*
 * A call that allocated or freed memory; it takes the place of its gp_record_call.  It succeeded, or it is a free that
 * came after the end of CUDA (code 4, in a static destructor): the memory is gone all the same.  Or it is an allocation that
 * failed: `address` is 0 and `bytes` what it asked for, without what rows of an array would be padded with.
 */
struct gp_record_memory {
	struct gp_record_call call;
	uint64_t address; /* or handle, by memory_kind */
	uint64_t bytes;
	uint64_t
		pool; /* memory pool handle of an asynchronous allocation; of a map the handle; else 0 */
	uint8_t op;          /* enum gp_memory_op */
	uint8_t memory_kind; /* enum gp_memory_kind; of a free: the family of its API call */
	uint16_t
		device_id; /* device of the memory where the call names one, else that of the context */
	uint32_t zero;
};

/* A kernel that ran.  start_ns = end_ns = 0: the device gave no timestamps for it. */
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

/* CUPTI's numbers for what copies go from and to; A stands for arrays of the device, P for peers. */
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

/* And for the memory itself, of copies and sets. */
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

#define GP_COPY_ASYNC 1u /* in flags of copies and sets */

/* A memory copy that ran. */
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

	uint32_t source_device_id; /* peer copies; else equal to device_id */
	uint32_t destination_device_id;
	uint32_t source_context_id;
	uint32_t destination_context_id;
	uint64_t copy_count; /* copies merged in one record; 0 = unknown */
	uint64_t zero;
};

/* A memset that ran. */
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

/* Time that CUPTI or the driver says it took from the program. */
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

/* What GP_RECORD_STRING names. */
enum gp_string_space {
	GP_STRING_KERNEL = 1, /* id = name_id: the mangled name */
	GP_STRING_API = 2,    /* id = api; value = enum gp_api_class */
	/* id = thread id: the thread's name; a later one replaces it, but not one with value GP_NAME_GIVEN by one without */
	GP_STRING_THREAD = 3,
	GP_STRING_DEVICE = 4,   /* id = device_id; value GP_NAME_GIVEN: what the program calls it */
	GP_STRING_INFO = 5,     /* id = enum gp_info */
	GP_STRING_RANGE = 6,    /* id = text_id of a range: its message */
	GP_STRING_DOMAIN = 7,   /* id = domain_id of a range */
	GP_STRING_CATEGORY = 8, /* id = category of a range; value = its domain_id */
	GP_STRING_STREAM = 9,   /* id = stream id; value = context id; a later one replaces it */
	GP_STRING_CONTEXT = 10, /* id = context id */
	GP_STRING_SCHEMA = 11,  /* id = schema id of a payload: what its bytes mean, see below */
	GP_STRING_PAYLOAD =
		12, /* id = payload_id of a range; value = schema id: its bytes as they are */
	GP_STRING_MODULE = 13, /* id = module id: the path of its file */
	GP_STRING_CODE = 14,   /* id = code id: a Python code object, see below */
	GP_STRING_STACK_COPY =
		15, /* id = of the frame that has it: registers and stack, see below */
};

#define GP_NAME_GIVEN 1u /* by the program, through NVTX */

/*
 * The text of a GP_STRING_SCHEMA: lines that end in \n, of fields with a tab between.  The first line: type (1 static,
 * 2 dynamic), size of the payload in bytes (0 = not fixed), name.  Each further one is an entry: flags, type, offset in
 * bytes, array or union detail, name; numbers are decimal and those of NVTX (nvToolsExtPayload.h), a type that is a
 * schema is that schema's id here plus GP_SCHEMA_TYPE_FIRST.  Offsets are filled in where the program left them to be
 * found by the rules for structs.  Of an enumeration, the type in the first line is 0, and a further line is: 1 = the value is
 * a set of bits, the value, 0, 0, name.
 *
 * In the bytes of a payload, the place of an address of a string, and that of a registered string, hold the id of its text
 * (GP_STRING_RANGE) as 64 bits, in schemas of the type 1 up to the eighth of them.
 */
#define GP_SCHEMA_TYPE_FIRST 0x1000000u

/* A definition: text of length_bytes follows, the record fills (16 + length_bytes) up to slots. */
struct gp_record_string {
	uint8_t kind;
	uint8_t slots;  /* 0 */
	uint16_t space; /* enum gp_string_space */
	uint32_t id;
	uint32_t value;
	uint32_t length_bytes; /* at most GP_STRING_MAX_BYTES; no terminating NUL */
};
#define GP_STRING_MAX_BYTES 16368u /* 512 slots; longer names are cut and counted */

static inline uint32_t gp_string_slots(uint32_t length_bytes)
{
	return (uint32_t)((sizeof(struct gp_record_string) + length_bytes + GP_SLOT_BYTES - 1) /
			  GP_SLOT_BYTES);
}

/* How a kernel was launched: everything that repeats from launch to launch. */
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
	uint8_t launch_type; /* CUPTI's: 0 regular, 1 cooperative, 2 cooperative on many devices */
	uint64_t local_total_bytes;

	int32_t priority;             /* of the launch; told from CUPTI 13.1 on */
	uint32_t max_cluster_blocks;  /* of launches with clusters: the largest that is possible, */
	uint32_t max_active_clusters; /* and how many the device holds at once; 0 = not told */
	uint8_t cache_requested;      /* CUfunc_cache: 0 no preference, 1 shared, 2 L1, 3 equal */
	uint8_t cache_executed;
	uint8_t has_carveout;     /* the launch's function asks for a share of shared memory: */
	uint8_t carveout_percent; /* this one; 255 = the driver's choice */
	uint8_t shared_limit;     /* CUPTI's: 0 default, 1 opted in for more for each block */
	uint8_t execution_model;  /* CUPTI's: 0 not told, 1 SIMT, 2 tile, 3 hybrid; from 13.3 on */
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
	uint32_t parent_id;       /* of a green context, else 0 */
	uint32_t multiprocessors; /* of a green context, else 0 */
	uint32_t zero;
	uint64_t zero2;
};

/* A context is being destroyed while the program runs: its allocations end here, without a call of their own. */
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
	uint16_t flags; /* CUPTI's: 0 unknown 1 default 2 non-blocking 3 null */
	uint32_t id;
	uint32_t context_id;
	int32_t priority;
	uint32_t
		correlation_id; /* of the call that made it, and its context where that was new; 0 = not known */
	uint32_t zero;
	uint64_t zero2;
};

/* The clocks, read back to back.  One at the start, about one a second, one at the end. */
struct gp_record_anchor {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t gap_ticks; /* between the tick reads around the others: the anchor's error bound */
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t realtime_ns;

	uint64_t cupti_ns;    /* 0 = not read at this anchor */
	uint64_t cupti_ticks; /* tick read that belongs to cupti_ns */
	uint64_t zero2[2];
};

/* Value of a counter of gpuprof/counter.def so far; the last one counts. */
struct gp_record_counter {
	uint8_t kind;
	uint8_t slots;
	uint16_t counter; /* enum gp_counter */
	uint32_t zero;
	uint64_t value;
	uint64_t ticks;
	uint64_t zero2;
};

/* What the driver says of a device's memory, all processes together. */
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
	GP_END_EXIT =
		1, /* the library was closed in an orderly way: nothing published is missing */
	GP_END_TOLD =
		2, /* added by who waited for the process: how it ended, and nothing of what is missing */
};

/* What `status` is. */
enum gp_end_way {
	GP_END_UNKNOWN = 0,
	GP_END_STATUS = 1, /* the exit status */
	GP_END_EXEC = 2,   /* 0: the process became another program, or was about to */
	GP_END_SIGNAL = 3, /* the signal that ended it; of GP_END_TOLD alone */
};

/*
 * Last record of a trace that was closed in an orderly way.  Of one that was not, or does not say how the process ended, or said it too early, there may
 * be one of GP_END_TOLD: the last one counts.
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

/* In a ring that several threads share: the thread of the one record that follows.  Always in that record's chunk. */
struct gp_record_thread {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t id;
	uint64_t zero2[3];
};

/* A synchronisation as CUPTI saw it: what its API call waited for. */
struct gp_record_sync {
	uint8_t kind;
	uint8_t slots;
	uint16_t
		sync_kind; /* CUPTI's: 1 event, 2 a stream waits for an event, 3 stream, 4 context */
	uint32_t correlation_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t context_id;
	uint32_t stream_id; /* GP_NO_STREAM where it is about none */

	uint32_t event_id; /* 0 = no event */
	uint32_t zero;
	uint64_t event_sync_id; /* of the gp_record_event that was waited for; 0 = not known */
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
	uint64_t sync_id; /* of this very recording; 0 = the library does not give one */

	uint64_t device_ns; /* when the device came to it; 0 = not recorded */
	uint64_t zero2[3];
};

/* A launch of a whole graph, where its nodes are not recorded one by one. */
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

/* A function of the program's, as CUDA called it on the host: of a stream, or a node of a graph.  CUPTI 13.1 and later. */
struct gp_record_host_function {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint32_t
		correlation_id; /* of the call that put it into the stream, or launched the graph */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t context_id;
	uint32_t stream_id;

	uint64_t graph_node_id; /* 0 = of no graph */
	uint32_t graph_id;
	uint32_t thread_id; /* that it ran on */
	uint64_t zero[2];
};

/* A node that came into being in a graph: created by the call with this correlation id, or cloned from another node. */
struct gp_record_node {
	uint8_t kind;
	uint8_t slots;
	uint16_t
		node_kind; /* the driver's CUgraphNodeType; 0 also for copies and sets (docs/design/cupti-notes.md, 8) */
	uint32_t correlation_id;
	uint64_t node_id;     /* as graph_node_id of the operations that it makes */
	uint64_t original_id; /* the node that it is a copy of; 0 = none */
	uint32_t graph_id;
	uint32_t zero;
};

/* Work of the compiler inside the driver. */
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

	uint64_t cache_bytes;  /* size of the whole compute cache that was used; 0 = none */
	uint64_t operation_id; /* the operations of one piece of code share it */
	uint64_t zero2[2];
};

/* A memory pool changed. */
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
	uint64_t least_kept_bytes; /* of a trim */
	uint8_t op;                /* 1 created, 2 destroyed, 3 trimmed */
	uint8_t pool_kind;         /* CUPTI's: 1 of this process, 2 imported */
	uint16_t zero;
	uint32_t zero2;
};

/* CUPTI's numbers for what happens to unified memory. */
enum gp_unified_kind {
	GP_UNIFIED_HTOD = 1, /* bytes that moved */
	GP_UNIFIED_DTOH = 2,
	GP_UNIFIED_CPU_FAULT = 3,
	GP_UNIFIED_GPU_FAULT = 4,
	GP_UNIFIED_THRASHING = 5,
	GP_UNIFIED_THROTTLING = 6,
	GP_UNIFIED_REMOTE = 7, /* mapped, not moved */
	GP_UNIFIED_DTOD = 8,
	GP_UNIFIED_KINDS
};

/* Unified memory: a migration, a fault, thrashing. */
struct gp_record_unified {
	uint8_t kind;
	uint8_t slots;
	uint16_t counter_kind; /* enum gp_unified_kind */
	uint32_t flags;        /* CUPTI's, by counter_kind: access type or cause */
	uint64_t start_ns;
	uint64_t end_ns; /* 0 = it has no duration */
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
	GP_RANGE_POP = 2,   /* closes the innermost open one of the same domain on this thread */
	GP_RANGE_START = 3, /* opens a range that any thread may close */
	GP_RANGE_END = 4,   /* closes the one with the same range_id */
	GP_RANGE_MARK = 5,
};

enum gp_payload_kind {
	GP_PAYLOAD_NONE = 0,
	GP_PAYLOAD_UNSIGNED = 1, /* 64 bits */
	GP_PAYLOAD_SIGNED = 2,
	GP_PAYLOAD_FLOATING = 3, /* the bits of a double */
};

/* What the program says it is doing: NVTX, or gpuprof's own functions. */
struct gp_record_range {
	uint8_t kind;
	uint8_t slots;
	uint8_t op;       /* enum gp_range_op */
	uint8_t flags;    /* GP_RANGE_HAS_COLOR */
	uint32_t text_id; /* GP_STRING_RANGE; 0 = no message */
	uint64_t ticks;
	uint64_t range_id;  /* START and END */
	uint32_t domain_id; /* GP_STRING_DOMAIN; 0 = the default domain */
	uint32_t category;  /* GP_STRING_CATEGORY of this domain; 0 = none */

	uint32_t color_argb;
	uint32_t payload_kind; /* enum gp_payload_kind */
	uint64_t payload;
	uint32_t
		payload_id; /* GP_STRING_PAYLOAD, an extended payload, also of POP and END; 0 = none */
	uint32_t zero;
	uint64_t zero2;
};
#define GP_RANGE_HAS_COLOR 1u

enum gp_gate_reason {
	GP_GATE_START = 1,    /* as the options say, at the beginning */
	GP_GATE_PROFILER = 2, /* cudaProfilerStart or cudaProfilerStop */
	GP_GATE_RANGE = 3,    /* the range of --capture-range */
	GP_GATE_TIME = 4,     /* --delay or --duration */
	GP_GATE_COUNT = 5,    /* --after-launches or --launches */
	GP_GATE_SIGNAL = 6,
	GP_GATE_API = 7,  /* gpuprof_start() or gpuprof_stop() */
	GP_GATE_FULL = 8, /* the trace reached --max-file: it ends here */
	GP_GATE_KEPT = 9, /* what was before did not fit --keep-last; the last of these counts */
};

/* Recording began or paused.  A trace without any was recorded from its beginning to its end. */
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
	GP_FRAME_COPY =
		3, /* what is outside of its inner neighbour is to be unwound from a stack copy */
	GP_FRAME_CUT = 4,   /* frames are missing here: the stack is deeper than what is kept */
	GP_FRAME_STUCK = 5, /* the walk could not go on: code without unwind rules */
};

/*
 * A definition: one frame of call stacks.  Stacks are a tree; parent_id is the frame's caller.  Python's frames stand in
 * place of the native frames of its evaluator.
 */
struct gp_record_frame {
	uint8_t kind;
	uint8_t slots;
	uint16_t frame_kind; /* enum gp_frame_kind */
	uint32_t id;
	uint32_t parent_id; /* 0 = none */
	uint32_t origin_id; /* native: gp_record_module, 0 = in none; Python: GP_STRING_CODE */
	uint64_t
		address; /* native: the return address, or the pc of the innermost; Python: offset in bytes in the code */
	uint64_t zero;
};

/*
 * The text of a GP_STRING_CODE: u32 first line, u8 form of the line table (enum gp_line_table), u8 1 = the table is cut, u16 zero,
 * then the file's name and the qualified name, each with its NUL, then the table.
 *
 * The text of a GP_STRING_STACK_COPY: u32 count of registers, u32 zero, the registers (u64 each, in the order of the
 * DWARF numbers of the machine, x86-64: 0 to 16), u64 address of the first byte, then the bytes of the stack.  They are those
 * of the frame below the GP_FRAME_COPY, with the pc in the call, not behind it; what that frame did not know is 0.
 */

/* How versions of Python write which line an instruction is of; what is from 3.11 on is told as 3.10 has it, but was not always. */
enum gp_line_table { GP_LINES_LNOTAB = 1, GP_LINES_3_10 = 2, GP_LINES_3_11 = 3 };

/* A piece of code in memory: one of these for each executable mapping of a module. */
struct gp_record_module {
	uint8_t kind;
	uint8_t slots;
	uint8_t build_id_bytes;
	uint8_t zero;
	uint32_t
		id; /* of the module's path and of its frames; a file that is loaded again has a new one */
	uint64_t start_address;
	uint64_t end_address;
	uint64_t bias; /* address in memory minus address in the file's symbol table */

	uint8_t build_id[20]; /* the first bytes of it */
	uint32_t zero2;
	uint64_t ticks; /* when it was first seen */
};

enum gp_link_kind {
	GP_LINK_PCIE = 1,   /* to the host: generation, lanes */
	GP_LINK_NVLINK = 2, /* to every other GPU, through switches: lanes, lane_mbytes_per_s */
};

/*
 * What joins a device to the host or to its peers, at its best here.  It is added when the process has ended, and only
 * where copies went that way.
 */
struct gp_record_link {
	uint8_t kind;
	uint8_t slots;
	uint16_t device_id;
	uint16_t link_kind;  /* enum gp_link_kind */
	uint16_t generation; /* of PCI Express */
	uint32_t lanes;
	uint32_t lane_mbytes_per_s; /* in one direction; 0 = as the generation says */
	uint64_t zero[2];
};

/* A call that may wait for the device, in which a thread was when its process died.  It is saved with the rings: gpuprof/trace.h. */
struct gp_record_waiting {
	uint8_t kind;
	uint8_t slots;
	uint16_t api;
	uint32_t thread_id;
	uint64_t start_ticks;
	uint64_t zero[2];
};

/*
 * A thread's Python stack, found the same in `count` looks one after the other.  Nothing is said of the times between looks, and of none
 * at all where the thread ran no Python.  The record lies in the ring of the thread that looked.
 */
struct gp_record_sample {
	uint8_t kind;
	uint8_t slots;
	uint16_t zero;
	uint32_t thread_id;      /* the one that was looked at */
	uint64_t start_ticks;    /* the first look */
	uint64_t duration_ticks; /* until the last look */
	uint32_t stack_id;       /* of Python frames alone */
	uint32_t count;
};

/*
 * A kernel that was launched, and of which CUPTI had given no record at a look: it had not ended, or another one of its buffer had not.
 * Where its record is in the trace after all, that tells.
 */
struct gp_record_in_flight {
	uint8_t kind;
	uint8_t slots;
	uint16_t
		unasked; /* 1 = CUPTI had not been asked for its records just before, nor was being asked: it may have ended long ago */
	uint32_t correlation_id;
	uint64_t ticks;   /* of the look */
	uint32_t name_id; /* GP_STRING_KERNEL, defined in any ring */
	uint32_t era;     /* of streams: below */
	uint64_t stream;  /* below; 0 = not known */
};

/*
 * A call that waited for a stream has returned: what had been launched into it before has ended, record or not.  Written where a launch had none.
 * stream: its handle, of default streams another number, which none has; a handle may be another stream's later, but not in the same era.
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

/* Kind number, name, struct.  Append only. */
#define GP_RECORD_KINDS(X)                                                                         \
	X(1, CALL, call)                                                                           \
	X(2, MEMORY, memory)                                                                       \
	X(3, KERNEL, kernel)                                                                       \
	X(4, COPY, copy)                                                                           \
	X(5, MEMSET, memset)                                                                       \
	X(6, OVERHEAD, overhead)                                                                   \
	X(7, STRING, string)                                                                       \
	X(8, SHAPE, shape)                                                                         \
	X(9, DEVICE, device)                                                                       \
	X(10, CONTEXT, context)                                                                    \
	X(11, STREAM, stream)                                                                      \
	X(12, ANCHOR, anchor)                                                                      \
	X(13, COUNTER, counter)                                                                    \
	X(14, USAGE, usage)                                                                        \
	X(15, END, end)                                                                            \
	X(16, THREAD, thread)                                                                      \
	X(17, CONTEXT_END, context_end)                                                            \
	X(18, SYNC, sync)                                                                          \
	X(19, EVENT, event)                                                                        \
	X(20, GRAPH, graph)                                                                        \
	X(21, NODE, node)                                                                          \
	X(22, JIT, jit)                                                                            \
	X(23, POOL, pool)                                                                          \
	X(24, UNIFIED, unified)                                                                    \
	X(25, RANGE, range)                                                                        \
	X(26, GATE, gate)                                                                          \
	X(27, FRAME, frame)                                                                        \
	X(28, MODULE, module)                                                                      \
	X(29, LINK, link)                                                                          \
	X(30, WAITING, waiting)                                                                    \
	X(31, HOST_FUNCTION, host_function)                                                        \
	X(32, SAMPLE, sample)                                                                      \
	X(33, IN_FLIGHT, in_flight)                                                                \
	X(34, STREAM_WAIT, stream_wait)

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

/* An API call's id: the driver API's numbers have the top bit set.  cbid is CUPTI's, stable. */
#define GP_API_DRIVER         0x8000u
#define GP_API_CBID(api)      ((api)&0x7fffu)
#define GP_API_IS_DRIVER(api) (((api)&GP_API_DRIVER) != 0)

/* What an API call is for; the reader groups and checks by it. */
enum gp_api_class {
	GP_API_OTHER = 0,
	GP_API_LAUNCH = 1,       /* one kernel: must have exactly one kernel record */
	GP_API_GRAPH_LAUNCH = 2, /* any number of records */
	GP_API_COPY = 3,         /* a copy: usually one record; none within the host */
	GP_API_MEMSET = 4,
	GP_API_ALLOC = 5,
	GP_API_FREE = 6,
	GP_API_SYNC = 7,
	GP_API_CAPTURE_BEGIN = 8, /* of a graph; which calls are captured, GP_CALL_CAPTURED says */
	GP_API_CAPTURE_END = 9,
	GP_API_CONTROL = 10, /* contexts, streams, graphs, profiler control */
	GP_API_EVENT = 11,   /* an event is recorded into a stream */
	GP_API_MODULE = 12,  /* code is loaded, looked up, unloaded */
	GP_API_HOST = 13,    /* a function of the host is put into a stream */
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
	GP_INFO_OPTIONS =
		13, /* NAME=VALUE of every option that is not at its default, newlines between */
	GP_INFO_CLOCK = 14, /* "tsc" or "monotonic" */
	GP_INFO_RANK = 15,  /* from RANK, OMPI_COMM_WORLD_RANK, SLURM_PROCID, ...; absent = none */
	GP_INFO_BOOT_ID = 16,
	GP_INFO_START_TIME =
		17, /* field 22 of /proc/self/stat: with pid and boot id, this very process */
	GP_INFO_NOTE =
		18, /* one sentence that the summary prints: a limitation met while recording */
	GP_INFO_LIMIT
};

#pragma GCC diagnostic pop

#endif

/*
 * model: one process's trace in memory, on one timeline, joined.
 *
 * All times are ns since model.base_unix_ns (Unix time), host and GPU alike: ticks and CUPTI times
 * are converted through the trace's anchors.  Everything that analyses and exporters need is in
 * here; they never see the file. Indices instead of pointers; GP_NONE where there is none.
 */
#ifndef REPORT_MODEL_MODEL_H
#define REPORT_MODEL_MODEL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/counter.h"
#include "gpuprof/record.h"
#include "report/model/host_clock.h"
#include "report/trace/api_table.h"

#define GP_NONE UINT32_MAX

/* Numbers of devices in a model are lower. */
#define GP_DEVICE_LIMIT 256u

/* An API call, sorted by (thread, start). */
struct gp_call {
	uint64_t start_ns;
	uint64_t duration_ns;
	uint32_t correlation_id;
	uint32_t thread_id;
	uint32_t context_id;
	uint32_t stack;    /* index in frames of the innermost one, or GP_NONE */
	uint16_t api;      /* name and class: gp_model_api() */
	uint16_t status;   /* GP_CALL_CODE() of it */
	bool is_estimated; /* the stack is that of a similar call (gp_stack_estimate) */
	bool captured;     /* it became a node of a graph: rightly without operations */
	bool cooperative;  /* a launch whose blocks may wait for each other */
	bool overlapping;  /* a programmatic dependent launch */
	/* the first operation that it started, by next_op the others; or GP_NONE */
	uint32_t first_op;
	uint32_t memory; /* index in memory[], or GP_NONE */
};

static inline uint64_t gp_call_end_ns(const struct gp_call *call)
{
	return call->start_ns + call->duration_ns;
}

/* GRAPH: a whole graph launch, where nodes are not recorded one by one. */
enum gp_op_kind { GP_OP_KERNEL, GP_OP_COPY, GP_OP_SET, GP_OP_GRAPH };

/*
 * Something that a device did, sorted by (device, context, stream, start, end).  64 bytes: a line
 * of the cache.
 */
struct gp_op {
	uint64_t start_ns;
	uint64_t end_ns; /* >= start_ns */
	uint64_t bytes;  /* of copies and memsets */
	uint32_t graph_id;
	uint32_t correlation_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t detail;  /* for gp_model_detail() */
	uint32_t name;    /* kernels: index in names[], or GP_NONE */
	uint32_t shape;   /* kernels: index in shapes[], or GP_NONE */
	uint32_t call;    /* the call that started it, or GP_NONE */
	uint32_t next_op; /* the next one of the same call, by start */
	uint16_t device_id;
	uint16_t kind : 2; /* enum gp_op_kind */
	/* copies, memsets: GP_COPY_ASYNC; kernels: it ran in a hw_window, which changed its time */
	uint16_t flags : 1;
	/*
	 * no timestamps: start = end = the call's start; or ones that cannot be right
	 * (report/model/build/bad_timestamps.h): end = start; in no sum of times
	 */
	uint16_t untimed : 1;
	/* CUPTI's kinds; GP_OP_KIND_UNKNOWN: one that does not fit */
	uint16_t copy_kind : 4;
	uint16_t source_kind : 4;
	uint16_t destination_kind : 4; /* of a memset, the kind of its memory */
};
#define GP_OP_KIND_UNKNOWN 15u

/* A copy from host to host, which CUPTI reports with a device and a stream: no work of the GPU. */
static inline bool gp_op_is_on_host(const struct gp_op *op)
{
	return op->copy_kind == GP_COPY_HTOH && op->kind == GP_OP_COPY;
}
static_assert(sizeof(struct gp_op) == 64, "operations are most of a model");

/* Whether it ran alone while its hardware counters were read: its time is not that of the program. */
static inline bool gp_op_is_in_window(const struct gp_op *op)
{
	return op->kind == GP_OP_KERNEL && op->flags != 0;
}

/* How long it had a GPU; 0 where that is not known, or it was a copy from host to host. */
static inline uint64_t gp_op_gpu_ns(const struct gp_op *op)
{
	return op->untimed || gp_op_is_on_host(op) ? 0 : op->end_ns - op->start_ns;
}

/* An operation whose time its stream contradicts: it is untimed, at its start. */
struct gp_contradiction {
	struct gp_op stated; /* with the device's times */
	uint32_t op;         /* its index in ops */
	uint32_t clashes;    /* so many of its stream ran within that time, or more */
};

/* Fields that many operations share and few readers ask for: kept once. */
struct gp_op_detail {
	uint64_t graph_node_id;
	uint32_t channel_id;
	uint32_t channel_type;
	uint32_t source_device_id; /* peer copies */
	uint32_t destination_device_id;
	uint32_t source_context_id;
	uint32_t destination_context_id;
	uint32_t capture_call; /* of a graph's node: the call that became it, or GP_NONE */
	uint32_t set_value;    /* the value that a memset writes */
};

/* An allocation or a free, in order of time. */
struct gp_memory_event {
	uint64_t time_ns; /* the end of the call that allocates, the start of the one that frees */
	uint64_t address;
	uint64_t bytes;      /* of a free: the allocation's, 0 if that is not known */
	uint64_t pool;       /* handle of the pool that an allocation named; 0 = none */
	uint32_t call;       /* GP_NONE: no call freed it, its context was destroyed */
	uint32_t other;      /* the free of an allocation and the reverse, or GP_NONE */
	uint16_t device_id;  /* of a free: the allocation's */
	uint8_t op;          /* GP_MEMORY_ALLOC or _FREE; only calls that took effect are here */
	uint8_t memory_kind; /* enum gp_memory_kind; of a free: the allocation's */
};

/* A call that mapped, unmapped or retained physical memory. */
struct gp_mapping {
	uint64_t time_ns; /* of its effect */
	uint64_t address; /* virtual; of a retain, the handle */
	uint64_t bytes;   /* 0 of a retain */
	uint64_t handle;  /* of a map */
	uint32_t call;    /* index in calls */
	uint8_t op;       /* enum gp_memory_op */
};

/* An allocation that failed, and its size; not known of arrays. */
struct gp_refusal {
	uint64_t bytes;
	uint32_t call; /* index in calls */
};

struct gp_overhead {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t overhead_kind;
	uint32_t thread_id;
	uint32_t correlation_id; /* 0 = not known */
	uint32_t zero;
};

struct gp_api {
	const char *name; /* as the program wrote it; "runtime cbid 123" where it was never named */
	uint8_t class;    /* enum gp_api_class */
};

struct gp_thread {
	uint32_t id;
	bool is_given;    /* the name: by the program, through NVTX */
	const char *name; /* "" if not known */
};

/* gp_record_energy on the timeline */
struct gp_energy {
	uint64_t time_ns;
	uint64_t energy_mj;
	uint32_t power_mw, reasons;
	uint16_t clock_mhz, device_id;
	bool is_from_power;
};

/* Its time is not converted yet. */
static inline struct gp_energy gp_energy_of(const struct gp_record_energy *r)
{
	return (struct gp_energy){
		.time_ns = r->monotonic_ns,
		.energy_mj = r->energy_mj,
		.power_mw = r->power_mw,
		.reasons = r->reasons,
		.clock_mhz = r->clock_mhz,
		.device_id = r->device_id,
		.is_from_power = (r->flags & GP_ENERGY_FROM_POWER) != 0,
	};
}

struct gp_usage {
	uint64_t time_ns;
	uint64_t free_bytes;
	uint64_t total_bytes;
	uint16_t device_id;
};

/* How the names of PyTorch's steps begin; its profiler makes a range for each. */
#define GP_PYTORCH_STEP "ProfilerStep#"

/*
 * A range or mark of the program (NVTX), sorted by (thread, start, longest first). Its operations
 * are those whose call began within it on its thread; of a start/end range, on any thread of the
 * process. A mark has none.
 */
struct gp_range {
	uint64_t start_ns;
	uint64_t end_ns; /* of a mark: start_ns; of one that was never closed: the trace's end */
	uint64_t gpu_start_ns; /* the first timed operation's start ... */
	uint64_t gpu_end_ns;   /* ... and the last one's end; 0, 0 = it started none */
	uint64_t gpu_busy_ns;  /* sum of its operations' durations */
	uint64_t op_count;     /* timed or not */
	uint64_t children_ns;  /* push/pop: how much of it those directly inside took */
	uint64_t payload;
	uint32_t thread_id;     /* that opened it */
	uint32_t end_thread_id; /* that closed it */
	uint32_t parent;   /* push/pop: the innermost one that it lies in, same thread and domain */
	uint32_t text;     /* index in range_texts, or GP_NONE; equal texts have one index */
	uint32_t domain;   /* index in domains; equal names have one index */
	uint32_t category; /* its number; 0 = none; named by gp_model_category() */
	uint32_t children; /* how many those are */
	uint32_t color_argb;       /* 0 = none */
	uint32_t extended_payload; /* index in texts, for gp_payload_decode(), or GP_NONE */
	uint16_t level; /* push/pop: number of ranges that it lies in, same thread and domain */
	uint8_t style;  /* enum gp_range_style */
	uint8_t payload_kind; /* enum gp_payload_kind */
	bool open;            /* never closed */
	/*
	 * of a part of a process: not all its operations are in the model, and nothing is known of
	 * them
	 */
	bool is_cut;
};

enum gp_range_style { GP_STYLE_PUSH_POP, GP_STYLE_START_END, GP_STYLE_MARK };

/*
 * A definition behind a number, for the lookups below and gp_payload_decode(). The text may hold
 * NULs; a NUL follows each.
 */
struct gp_text {
	uint16_t space; /* enum gp_string_space */
	uint32_t id, value;
	uint32_t length;
	char *bytes;
};

/*
 * A frame of call stacks, which are a tree: from a call's innermost frame the parents lead to the
 * outermost one, GP_FRAME_DEPTH frames at most.
 */
struct gp_frame {
	/* native: the return address, or the pc of the innermost; Python: offset in the code */
	uint64_t address;
	uint32_t id;
	/* index of its caller's, always lower than its own; GP_NONE = it is the outermost */
	uint32_t parent;
	/* native: index in modules; Python: of its GP_STRING_CODE in texts; or GP_NONE */
	uint32_t origin;
	uint16_t kind;    /* enum gp_frame_kind */
	bool has_no_root; /* its callers are not in the trace */
};
#define GP_FRAME_DEPTH 2048

/* Recording began or paused. */
struct gp_gate {
	uint64_t time_ns;
	bool on;
	uint8_t reason; /* enum gp_gate_reason */
	/* where it opens: of the operations that begin then or later, the first; or GP_NONE */
	uint32_t first_op;
};

/*
 * A call that may wait for the device, in which a thread was when its rings were read: of a process
 * that lives, or was killed.
 */
struct gp_waiting {
	uint64_t start_ns;
	uint32_t thread_id;
	uint16_t api;
};

/*
 * A launch whose kernel had no record at a check and has none in the trace, and for which no call
 * has waited since: sorted by the starts of the calls. With sums alone: of which none came after
 * the check, sorted by their numbers.
 */
struct gp_in_flight {
	uint64_t time_ns; /* of the check */
	uint64_t stream;  /* of GP_RECORD_STREAM_WAIT; 0 = not known */
	uint32_t era;     /* the same */
	uint32_t correlation_id;
	uint32_t call; /* index in calls; GP_NONE where there are totals alone */
	uint32_t name; /* index in names */
	bool asked;    /* CUPTI was asked for its records just before */
};

/* A call that waited for a stream: launches into it before, in the same era, have ended. */
struct gp_stream_wait {
	uint64_t stream;
	uint64_t start_ns; /* of the call; 0 where there are totals alone */
	uint32_t era;
	uint32_t correlation_id;
};

/*
 * A thread's Python stack, found the same by `count` samples one after the other, sorted by
 * (thread, start). It tells where a thread was between calls; the time between two samples is not
 * known.
 */
struct gp_sample {
	uint64_t start_ns; /* of the first sample */
	uint64_t end_ns;   /* of the last one */
	uint32_t thread_id;
	/* index in frames of the innermost one, or GP_NONE; Python's frames alone */
	uint32_t stack;
	uint32_t count;
	uint32_t zero;
};

/*
 * Of a recording with --stacks=sample: launches, copies, memsets and waits with a stack of
 * their own, and those with that of a similar one (report/model/build/stack_estimate.c).  For the
 * error, those with their own are estimated from the others, but for the first of each kind;
 * checked and wrong count the launches that they stand for.
 */
struct gp_stack_estimate {
	uint64_t sampled_calls, estimated_calls, unknown_calls;
	uint64_t sampled_ns, estimated_ns; /* GPU time of their operations */
	uint64_t checked_calls, wrong_calls, checked_ns, wrong_ns;
};

/* Losses and their reasons. The summary prints all of them. */
struct gp_losses {
	uint64_t damaged_bytes;     /* of the file, skipped */
	uint64_t unknown_records;   /* of kinds not known here, or that refer to nothing */
	uint64_t recovered_records; /* from the rings of the dead, saved or not: not lost */
	bool cut;                   /* the file ends within a chunk */
	bool closed;                /* an END record is there: nothing published is missing */
	bool live;                  /* the process still runs */
	bool in_rings;              /* the recovered records are in the rings alone so far */
	bool killed;                /* its rings were left, without a writer */
	uint8_t end_way;            /* enum gp_end_way: how the process ended, if known */
	uint8_t end_status;         /* by that an exit status or a signal */
	uint32_t stuck_number;      /* of calls and operations alike: nothing is joined by it */
	/* failures to join: calls of class LAUNCH without an operation, ... */
	uint64_t launches_without_op; /* though they succeeded */
	uint64_t graphs_without_op;   /* of other recorders, whose graphs may be empty as well */
	uint64_t launches_captured;   /* recorded into a graph: rightly without one */
	uint64_t launches_failed;     /* returned an error */
	uint64_t launches_unnumbered; /* with that number */
	uint64_t launches_left_out;   /* of kernels that --kernels leaves out, by their names */
	/* without an operation, but it has ended: a call waited for its stream */
	uint64_t launches_waited_for;
	/* copies and memsets without one, after the last call with one */
	uint64_t copies_in_flight;
	uint64_t ops_without_call; /* operations whose correlation id no recorded call has */
	uint64_t ops_untimed;
	uint64_t ops_reversed; /* end before start: changed to start */
	/*
	 * their stream ran others meanwhile: they are untimed (report/model/build/bad_timestamps.h)
	 * ...
	 */
	uint64_t ops_contradicted;
	uint64_t ops_clashing;  /* ... and pairs of times of one stream of which one is wrong */
	uint64_t ops_early;     /* began before their call */
	uint64_t frees_unknown; /* frees of an address without an allocation in the trace */
	/* readings of the host's ticks that contradict the system's clock */
	uint64_t clock_misfits;
	uint64_t range_ends_unknown; /* ends of ranges without a start in the trace */
	/* The same where recording paused, which explains them: none of them is in the above. */
	uint64_t launches_outside, ops_outside, frees_outside, range_ends_outside;
};

/*
 * Facts that a recorder does not tell: the model's values for them mean nothing. A trace of gpuprof
 * tells all.
 */
#define GP_UNKNOWN_STATUS 1u /* whether calls succeeded: status is 0 */
#define GP_UNKNOWN_ALLOCATIONS                                                                     \
	2u /* addresses and sizes of CUDA's allocations: none of them is in memory[] */
#define GP_UNKNOWN_SHARED_PARTS                                                                    \
	4u /* static and dynamic shared memory: dynamic_shared_bytes is their sum */
#define GP_UNKNOWN_LOCAL      8u  /* local memory of kernels */
#define GP_UNKNOWN_CONTEXTS   16u /* contexts of calls, which are 0 */
#define GP_UNKNOWN_SET_VALUES 32u /* the values that memsets write */
#define GP_UNKNOWN_ORDER      64u /* which operations of a stream may overlap */

/* Names of functions as they are in the trace: for report/symbols/frame_names.h. */
struct gp_packed_names {
	uint8_t *bytes; /* NULL = there are none */
	size_t length;
	uint64_t text_bytes; /* of the packed names */
};

/*
 * A window in which the kernels of a context ran one after the other, and were measured
 * (--counters).  By start.
 */
struct gp_hw_window {
	uint64_t start_ns, end_ns;  /* with setting up and reading the counters */
	uint64_t first_ns, last_ns; /* kernels launched in this part were measured */
	uint32_t id, thread_id;
	uint32_t launches, measured; /* kernels; those with values */
	uint16_t device_id;
	bool has_records; /* CUPTI's kernel records added instructions to the kernels */
};

/* A hardware counter's value for one kernel; of one kernel, they are adjacent. */
struct gp_counted {
	/* of the kernel's turn, by the profiler: in the order of the launches */
	uint64_t start_ns;
	uint32_t kernel; /* index in counter_texts, as counter */
	uint32_t counter;
	double value;
	uint32_t
		op; /* the kernel's operation, or GP_NONE: of other recorders, or it has no record */
	uint32_t window; /* index in hw_windows, or GP_NONE */
};

struct gp_totals;

/*
 * The time of which a model is a part of its process: the events that begin in it are its own. More
 * is loaded around it; of the rest only definitions.
 */
struct gp_part {
	bool is_one;             /* else the model is of all */
	uint64_t from_ns, to_ns; /* to_ns is not in it any more */
};

struct gp_model {
	char *path; /* of the trace file */
	/*
	 * sums in place of calls and operations (report/model/sums/totals.h); NULL = the model has
	 * these
	 */
	struct gp_totals *totals;
	struct gp_part part;
	struct gp_packed_names frame_names;
	uint64_t file_bytes;    /* its length, if something may be appended; else 0 */
	uint64_t next_sequence; /* of a chunk that is appended */
	const char *recorder;   /* the recorder, such as "torch.profiler"; NULL = gpuprof */
	/* of an export of a trace without one (report/model/no_end.h); else NULL */
	const char *why_no_end;
	uint32_t unknown; /* GP_UNKNOWN_ bits */
	/*
	 * the recorder had each call of Python's functions, and the stack samples are read from them
	 * at this interval; 0 = a thread took them
	 */
	uint32_t function_interval_ns;
	uint64_t base_unix_ns;      /* all times count from here: the first anchor */
	uint64_t base_monotonic_ns; /* the same moment by CLOCK_MONOTONIC; 0 = not known */
	uint64_t anchor_error_ns; /* of an anchor in the middle of all: half of the time it took */
	struct gp_host_clock clock; /* of a job of several hosts; the times are aligned by it */
	/* when its rings were read, by the clock of this machine; 0 = there were none */
	uint64_t rings_monotonic_ns;
	uint64_t first_ns, last_ns; /* over all calls and timed operations */
	uint64_t first_call_ns,
		last_call_ns; /* over all calls: the first one's start, the last end */
	uint64_t end_ns;      /* the trace's last sign of life: its END, or its last anchor */
	/* the process recorded before 0, and none of that is kept (--keep-last) */
	uint64_t before_ns;
	uint64_t last_delivery_ns; /* when CUPTI last delivered GPU records; 0 = never */
	char *info[GP_INFO_LIMIT]; /* by enum gp_info, NULL if absent; COMMAND's NULs are spaces */
	char **notes;              /* GP_INFO_NOTE, in order */
	uint32_t note_count;
	char **counter_texts;
	uint32_t counter_text_count;
	uint32_t pid;
	bool shares_rank; /* with another process (report/model/process_name.h) */

	/* calls and call_count, ops and op_count, ... */
#define GP_MODEL_ARRAY(element, array, count)                                                      \
	element *array;                                                                            \
	uint32_t count;
#include "report/model/array.def"
	struct gp_contradiction *contradictions;
	char **names;             /* kernel names as recorded (mangled) */
	char **device_names;      /* parallel to devices; includes the program's own name for it */
	uint32_t *stream_calls;   /* parallel to streams: for gp_model_stream_call() */
	const char **range_texts; /* messages, each once */
	const char **domains;     /* [0] = "", the default domain */
	uint32_t contradiction_count, name_count, range_text_count, domain_count;
	uint32_t own_work_count; /* of overheads, GP_OVERHEAD_OWN_WORK */

	struct gp_stack_estimate stack_estimate;
	uint64_t counters[GP_COUNTERS];
	double ns_per_tick;
	struct gp_losses losses;
	void *private; /* struct gp_api_table, for gp_model_api() */
};

/*
 * Converts the times of the energy samples from CLOCK_MONOTONIC to the timeline.  Those before it
 * begins are dropped.
 */
void gp_model_time_energies(struct gp_model *model);

/* Whether it has all calls and operations of its process: else failed joins mean nothing. */
static inline bool gp_model_is_whole(const struct gp_model *model)
{
	return !model->totals && !model->part.is_one;
}

void gp_model_free(struct gp_model *model);

/*
 * Frees most of its events and their texts.  Facts about the process, its devices and losses stay;
 * afterwards only these may be read.
 */
void gp_model_shrink(struct gp_model *model);

/* Name and class of an API call; never NULL, never fails. */
struct gp_api gp_model_api(const struct gp_model *model, uint16_t api);

/* The class alone, inline: for loops over all calls. */
static inline uint8_t gp_model_api_class(const struct gp_model *model, uint16_t api)
{
	return gp_api_table_class(model->private, api);
}

/*
 * For loops over a model's calls and ranges together, both sorted by thread and start: whether that
 * range comes before that call. Either index may be past the last.
 */
bool gp_model_range_is_next(const struct gp_model *model, uint32_t call, uint32_t range);

/* Whether memory that CUDA moves by itself may exist; not known without a recorded allocation. */
bool gp_model_may_have_managed_memory(const struct gp_model *model);

/*
 * Whether a recorded call has that name, with or without an ending for the per-thread default
 * stream.
 */
bool gp_model_calls_api(const struct gp_model *model, const char *name);

/* Whether all operations ran on one device. */
bool gp_model_uses_one_gpu(const struct gp_model *model);

/* That link of a device, or NULL: it has none, or nothing is known of it. */
const struct gp_record_link *gp_model_link(const struct gp_model *model, uint16_t device_id,
					   enum gp_link_kind kind);

/* The recorded (mangled) name of a kernel; "(unknown kernel)" if there is none. */
const char *gp_model_kernel_name(const struct gp_model *model, const struct gp_op *op);

/*
 * The operation as the device told it, with times that were not believed: for outputs that show
 * records. NULL: it told none.
 */
const struct gp_op *gp_model_stated(const struct gp_model *model, const struct gp_op *op);

/* Whether it is known where an operation was among others: it has a time, or it has but no end. */
bool gp_model_has_place(const struct gp_model *model, const struct gp_op *op);

/* Never NULL: zeros where nothing is known. */
const struct gp_op_detail *gp_model_detail(const struct gp_model *model, const struct gp_op *op);

/*
 * How a kernel was launched, as a shape has it.  CUPTI calls every launch with attributes
 * cooperative; where the call is known that launched it, and does not ask for that, it is regular.
 */
uint8_t gp_model_launch_type(const struct gp_model *model, const struct gp_op *op);

/*
 * The call that an operation is due to, or NULL: of a graph's node the one that became it, where
 * that is known, else the one that started it.
 */
const struct gp_call *gp_model_op_cause(const struct gp_model *model, const struct gp_op *op);

/* Whether a context is a green one: a part of another's device. */
bool gp_model_context_is_green(const struct gp_model *model, uint32_t context_id);

/*
 * The call whose stack tells where an operation comes from, or NULL: that one; of a graph's node the
 * graph's launch where its own call has no stack.
 */
const struct gp_call *gp_model_op_stack_call(const struct gp_model *model, const struct gp_op *op);

/* Index of its stack in frames, or GP_NONE. */
uint32_t gp_model_op_stack(const struct gp_model *model, const struct gp_op *op);

/* The thread's record, or NULL; its name, "" if it has none. */
const struct gp_thread *gp_model_thread(const struct gp_model *model, uint32_t id);
const char *gp_model_thread_name(const struct gp_model *model, uint32_t id);

/*
 * The end of all that is known: the last sign of life or the end of the last call or operation,
 * whichever is later.
 */
uint64_t gp_model_end_ns(const struct gp_model *model);

/* The message of a range; "" if it has none. */
const char *gp_model_range_text(const struct gp_model *model, const struct gp_range *range);

/* The name of a category of a domain (an index in domains); "" if it has none. */
const char *gp_model_category(const struct gp_model *model, uint32_t domain, uint32_t category);

/* The program's name for a stream or a context, or "". */
const char *gp_model_stream_name(const struct gp_model *model, uint32_t context_id,
				 uint32_t stream_id);
const char *gp_model_context_name(const struct gp_model *model, uint32_t context_id);

/* The definition with that key, or NULL; value counts only for streams and categories. */
const struct gp_text *gp_model_text(const struct gp_model *model, enum gp_string_space space,
				    uint32_t value, uint32_t id);

/* The path of a module's file; "" if it is not known. */
const char *gp_model_module_path(const struct gp_model *model,
				 const struct gp_record_module *module);

/* The order of texts: for gp_array_sort(). */
int gp_text_compare(const void *a, const void *b, const void *context);

/*
 * The device that an event of unified memory is about: that memory came to, else that it came from,
 * or that had the fault; of several that fight for it, the first.  GP_NONE: the host, or not known.
 */
uint32_t gp_unified_device(const struct gp_record_unified *event);

/* In the flags of a migration: CUPTI's cause for migrations that the program asked for. */
#define GP_UNIFIED_CAUSE_USER 1u

/* Whether the value of such an event is a number of bytes. */
bool gp_unified_counts_bytes(uint16_t counter_kind);

/*
 * The number of gates before a time or at it: between two times of the same number, recording did
 * not pause.
 */
uint32_t gp_model_gates_until(const struct gp_model *model, uint64_t time_ns);

/* Whether recording was on at that time. */
bool gp_model_records_at(const struct gp_model *model, uint64_t time_ns);

/*
 * The size that a failed allocation asked for. False: the call is none, or its size is not known.
 */
bool gp_model_asked_bytes(const struct gp_model *model, const struct gp_call *call,
			  uint64_t *bytes);

/*
 * Whether a call succeeded, was not captured into a graph, and has no operation, while recording
 * was on.
 */
bool gp_model_has_no_op(const struct gp_model *model, const struct gp_call *call);

/* Whether a call launched a kernel, while recording was on, that has no record. */
bool gp_model_lacks_kernel(const struct gp_model *model, const struct gp_call *call);

/*
 * The same of a graph, of which nothing has a record. gpuprof's own traces have records of all
 * nodes: there it is a graph without work for the GPU.
 */
bool gp_model_lacks_graph(const struct gp_model *model, const struct gp_call *call);

/* Whether recording was off at any time before that. */
bool gp_model_paused_before(const struct gp_model *model, uint64_t time_ns);

/* The stream's record, or NULL. */
const struct gp_record_stream *gp_model_stream(const struct gp_model *model, uint32_t context_id,
					       uint32_t stream_id);

/*
 * Whether two operations of a model are of one stream; one past the last operation of that one's
 * stream.
 */
bool gp_ops_share_stream(const struct gp_op *a, const struct gp_op *b);
uint32_t gp_model_stream_end(const struct gp_model *model, uint32_t op);

/* Whether it is the default stream of its context. */
bool gp_model_is_null_stream(const struct gp_model *model, uint32_t context_id, uint32_t stream_id);

/*
 * The call that made a stream of the model (NULL: of none), or its context: index in calls, or
 * GP_NONE.
 */
uint32_t gp_model_stream_call(const struct gp_model *model, const struct gp_record_stream *stream);
uint32_t gp_model_context_call(const struct gp_model *model, uint32_t context_id);

/* The device of a context; 0 where the context is not known. */
uint16_t gp_model_context_device(const struct gp_model *model, uint32_t context_id);

/* The device's record, or NULL. */
const struct gp_record_device *gp_model_device(const struct gp_model *model, uint16_t device_id);

#endif

/*
 * importing: shared code of the importers. They turn what they read into records like those of
 * gpuprof's traces, and the loader joins the records.
 *
 * All times are ns of one clock, that of the other trace, from gp_import_time(). Functions return
 * 0, -ENOMEM or -EOVERFLOW.
 */
#ifndef REPORT_IMPORT_IMPORTING_H
#define REPORT_IMPORT_IMPORTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace/decode.h"
#include "report/codec/interner.h"
#include "report/model/build/build.h"

/* A range of a thread, or a Python function that it was in. */
struct gp_import_span {
	uint64_t start_ns, end_ns;
	uint32_t thread_id;
	uint32_t text; /* message of a range; code of a function */
	uint32_t category;
	uint32_t domain; /* 0 = the default domain */
	uint32_t color_argb;
	uint32_t end_thread_id; /* thread that closed a start/end range */
	/*
	 * for Python samples: the number of samples, and whether the function is a module's code
	 * that its caller imported
	 */
	uint32_t samples;
	uint32_t line; /* the line at first */
	uint32_t line_change,
		line_change_count; /* later lines: [line_change, line_change + line_change_count) of im->line_changes */
	bool is_imported;
	bool is_python;  /* a Python function, not an operator */
	uint32_t caller; /* frame of the Python function that called an operator; 0 = unknown */
	uint8_t style;   /* enum gp_range_style; push/pop spans of a thread and domain may cross */
};
#define GP_IMPORT_OPEN UINT64_MAX /* end of a range that was never closed */

/*
 * Time 0 of the other trace. So each time of it, also a negative one, is a time of a record, where 0
 * means that there is none.
 */
#define GP_IMPORT_ZERO_NS (UINT64_C(1) << 62)

static inline uint64_t gp_import_time(int64_t ns)
{
	const int64_t most = (int64_t)(GP_IMPORT_ZERO_NS - 1);

	ns = ns > most ? most : ns < -most ? -most : ns;
	return GP_IMPORT_ZERO_NS + (uint64_t)ns;
}

/* From this time on a function was sampled at another line. */
struct gp_import_line_change {
	uint64_t time_ns;
	uint32_t line;
};

struct gp_import_spans {
	struct gp_import_span *spans;
	uint32_t count, capacity;
};

/* The number of events of a kind that is not read. */
struct gp_import_left_out {
	char kind[32];
	uint64_t count;
};
#define GP_IMPORT_LEFT_OUT 8u /* kinds; more are counted together, by the last one */

/* A process of the other trace; devices may appear as processes, too. */
struct gp_import_process {
	uint32_t pid;
	char name[256];
};
#define GP_IMPORT_PROCESSES 64u

struct gp_importing {
	struct gp_model_builder *builder;
	struct gp_interner kernels, shapes, apis, messages, codes, domains, frames, counters, wide;
	struct gp_import_spans ranges, functions, samples;
	uint32_t open_samples[GP_FRAME_DEPTH]; /* indices of the open samples, innermost last */
	uint32_t open_sample_count;
	struct gp_import_line_change *line_changes;
	uint32_t line_change_count, line_change_capacity;
	uint64_t counters_left_out; /* dropped values */
	uint64_t first_ns, last_ns; /* of all records */
	uint64_t range_id;          /* the last one for start/end ranges */
	uint64_t unfinished;        /* events without an end, left out */
	uint64_t untimed;           /* events at time 0 without a length, left out */
	uint32_t wide_count;        /* numbers that were replaced */
	char process[256];          /* the pid of the calls, or its name */
	struct gp_import_left_out left_out[GP_IMPORT_LEFT_OUT];
	struct gp_import_process processes[GP_IMPORT_PROCESSES];
	uint32_t process_count;
	bool is_cut; /* the file is truncated or damaged */
};

/* Zeroes the struct and sets first_ns to UINT64_MAX. */
void gp_importing_begin(struct gp_importing *im, struct gp_model_builder *b);
void gp_importing_free(struct gp_importing *im);

/*
 * Call it after all records: makes ranges and stacks from the spans, and sets the clocks. unix_ns:
 * Unix time of the other trace's time 0.
 */
int gp_importing_finish(struct gp_importing *im, uint64_t unix_ns);

/*
 * Call it after the loader has joined calls and operations: marks copies and memsets started by
 * ...Async calls as asynchronous.
 */
void gp_import_mark_asynchronous(struct gp_model *model);

/*
 * Sets the recorder of the trace, GP_UNKNOWN_ bits of facts that it does not record, and a sentence
 * for the user, or NULL.
 */
int gp_import_recorder(struct gp_importing *im, const char *recorder, uint32_t unknown,
		       const char *note);

/*
 * Whether a record that needs its times has no start, or an end before it. Counts it then; it is to
 * be left out.
 */
bool gp_import_is_unfinished(struct gp_importing *im, uint64_t start_ns, uint64_t end_ns);

#define GP_IMPORT_TORCH "torch.profiler"
#define GP_IMPORT_NSYS  "nsys"

/*
 * The name of the recorder that an export of gpuprof names, for gp_import_recorder(); NULL: gpuprof,
 * or an unknown one.
 */
const char *gp_import_recorder_named(const char *name);

/* Counts an event of a kind that is not read. */
void gp_import_leave_out(struct gp_importing *im, const char *kind);

/* Adds the note "text: COUNT" unless the count is 0. */
int gp_import_note_count(struct gp_importing *im, uint64_t count, const char *text);

/* Extends first_ns..last_ns; 0 is no time. */
void gp_import_note_time(struct gp_importing *im, uint64_t start_ns, uint64_t end_ns);

/* Adds a record without a thread, or of a thread. Sets its kind and slots. */
int gp_import_record(struct gp_importing *im, enum gp_record_kind kind,
		     union gp_any_record *record);
int gp_import_record_of(struct gp_importing *im, uint32_t thread_id, enum gp_record_kind kind,
			union gp_any_record *record);

/* Adds a string definition; cuts text that does not fit into a record. */
int gp_import_string(struct gp_importing *im, enum gp_string_space space, uint32_t id,
		     uint32_t value, const char *text, size_t bytes);
int gp_import_info(struct gp_importing *im, enum gp_info info, const char *text);
/* The fact as an export has it, which is as the model has it. */
int gp_import_restore_info(struct gp_importing *im, enum gp_info info, const char *text);

/* Adds a hardware counter of a kernel. Counters of a kernel come in the order of its launches. */
int gp_import_counter(struct gp_importing *im, uint64_t start_ns, const char *kernel,
		      const char *counter, double value);

/* Recording goes on or off, for the reason of that name. */
int gp_import_gate(struct gp_importing *im, uint64_t time_ns, bool on, const char *reason);

/* Numbers for use in records; new texts are defined in the model. 0: no memory. */
uint32_t gp_import_kernel_name(struct gp_importing *im, const char *name, size_t bytes);
uint32_t gp_import_message(struct gp_importing *im, const char *text, size_t bytes);
/*
 * A number of the other trace that is only a name, such as a stream's: one that does not fit into
 * 32 bits is replaced by one above GP_IMPORT_WIDE. GP_NONE: no memory.
 */
#define GP_IMPORT_WIDE 1000000u
uint32_t gp_import_number(struct gp_importing *im, int64_t number);
/* All members but the id are set. */
uint32_t gp_import_shape(struct gp_importing *im, struct gp_record_shape *shape);
/* The meaning of the line of a Python function. */
enum gp_import_line {
	GP_IMPORT_LINE_OF_CODE,  /* the one in its text: of a call, or the function's first one */
	GP_IMPORT_LINE_OF_FRAME, /* each frame's address is its line */
};
/* Python code: "file.py(12): function", or a name without a file. */
uint32_t gp_import_code(struct gp_importing *im, const char *text, size_t bytes,
			enum gp_import_line line);
/* All members but the id are set. The caller's frame must be added before. */
uint32_t gp_import_frame(struct gp_importing *im, const struct gp_record_frame *frame);

/*
 * An API call. cbid: CUPTI's number; 0 = unknown, then each name gets a number of its own.
 * context_id: 0 = unknown.
 */
struct gp_import_call {
	uint64_t start_ns, end_ns;
	const char *name;
	size_t name_bytes;
	uint32_t cbid;
	uint32_t correlation_id;
	uint32_t thread_id;
	uint32_t context_id;
	uint32_t stack; /* from gp_import_frame(); 0 = unknown */
	uint16_t status;
	uint16_t flags; /* GP_CALL_CAPTURED and the like */
	bool is_driver;
	/* memory that was allocated or freed; NULL = none or unknown */
	const struct gp_import_memory *memory;
};

struct gp_import_memory {
	uint64_t address, bytes, pool; /* 0 = no pool */
	uint16_t device_id;
	uint8_t op;   /* enum gp_memory_op */
	uint8_t kind; /* enum gp_memory_kind */
};
int gp_import_call(struct gp_importing *im, const struct gp_import_call *call);

int gp_import_span(struct gp_import_spans *spans, const struct gp_import_span *span);

/*
 * Begins a sampled function (end_thread_id: its track), or ends the innermost function of the track
 * begun last. Tracks come one after the other. Line changes follow the beginning, in their order.
 */
int gp_import_begin_sample(struct gp_importing *im, const struct gp_import_span *span);
int gp_import_change_line(struct gp_importing *im, const struct gp_import_line_change *line_change);
void gp_import_end_sample(struct gp_importing *im, uint32_t track, uint64_t time_ns);

/* Writes the line for the user about a failed read. */
void gp_import_explain(int error, const char *path, char *message, size_t message_bytes);

/* In spans.c, for gp_importing_finish(). gp_import_stacks() sorts the functions. */
int gp_import_ranges(struct gp_importing *im);
int gp_import_stacks(struct gp_importing *im);
int gp_import_samples(struct gp_importing *im);
/* In function_samples.c, after gp_import_stacks(). */
int gp_import_function_samples(struct gp_importing *im);

#endif

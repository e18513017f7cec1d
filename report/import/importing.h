/*
 * importing: what the importers of others' traces have in common: what they read becomes records,
 * as a trace of ours has them, and the loader joins them.
 *
 * All times are ns of one clock, the other trace's. Functions return 0, -ENOMEM or -EOVERFLOW.
 */
#ifndef REPORT_IMPORT_IMPORTING_H
#define REPORT_IMPORT_IMPORTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/trace/decode.h"
#include "report/codec/interner.h"
#include "report/model/build/build.h"

/* Something that a thread was in: a range, or a function of Python's. */
struct gp_import_span {
	uint64_t start_ns, end_ns;
	uint32_t thread_id;
	uint32_t text; /* of a range: its message; of a function: its code */
	uint32_t category;
	uint32_t domain; /* 0 = the default domain */
	uint32_t color_argb;
	uint32_t end_thread_id; /* of a start/end range: who closed it */
	/*
	 * of what looks at a thread found: how many did, and whether it is a module's code that its
	 * caller imported
	 */
	uint32_t looks;
	uint32_t line;             /* where it was found first */
	uint32_t turn, turn_count; /* the others: [turn, turn + turn_count) of im->turns */
	bool is_imported;
	uint8_t style; /* enum gp_range_style; push/pop spans of a thread and domain may cross */
};
#define GP_IMPORT_OPEN UINT64_MAX /* the end of a range that was never closed */

/* From then on looks found a function at another line. */
struct gp_import_turn {
	uint64_t time_ns;
	uint32_t line;
};

struct gp_import_spans {
	struct gp_import_span *spans;
	uint32_t count, capacity;
};

struct gp_importing {
	struct gp_model_builder *builder;
	struct gp_texts kernels, shapes, apis, messages, codes, domains, frames, counters;
	struct gp_import_spans ranges, functions, looks;
	uint32_t open_looks[GP_FRAME_DEPTH]; /* that have begun, by index, the innermost last */
	uint32_t open_look_count;
	struct gp_import_turn *turns;
	uint32_t turn_count, turn_capacity;
	uint32_t counted_capacity, counter_text_capacity; /* of the model's */
	uint64_t counters_left_out;                       /* values for which there was no room */
	uint64_t first_ns, last_ns;                       /* of all that was taken */
	uint64_t range_id;                                /* the last one of start/end ranges */
	bool is_cut; /* the file ends before its end, or goes on with what cannot be read */
};

/* Zeros, and first_ns = UINT64_MAX. */
void gp_importing_begin(struct gp_importing *im, struct gp_model_builder *b);
void gp_importing_free(struct gp_importing *im);

/*
 * When everything was taken: ranges and stacks are made of the spans, and the clocks are set.
 * unix_ns: Unix time of the clock's 0.
 */
int gp_importing_finish(struct gp_importing *im, uint64_t unix_ns);

/*
 * After the loader joined calls and operations: copies and sets that calls named ...Async started
 * are asynchronous.
 */
void gp_import_mark_asynchronous(struct gp_model *model);

/*
 * Who recorded the trace, GP_UNKNOWN_ bits of what that does not say, and a sentence for the user
 * about it, or NULL.
 */
int gp_import_recorder(struct gp_importing *im, const char *recorder, uint32_t unknown,
		       const char *note);

/* Widen first_ns and last_ns. */
void gp_import_note_time(struct gp_importing *im, uint64_t start_ns, uint64_t end_ns);

/* A record as it is, of no thread or of that one; its kind and slots are set here. */
int gp_import_record(struct gp_importing *im, enum gp_record_kind kind,
		     union gp_any_record *record);
int gp_import_record_of(struct gp_importing *im, uint32_t thread_id, enum gp_record_kind kind,
			union gp_any_record *record);

/* A definition: cut where the record has no room for more. */
int gp_import_string(struct gp_importing *im, enum gp_string_space space, uint32_t id,
		     uint32_t value, const char *text, size_t bytes);
int gp_import_info(struct gp_importing *im, enum gp_info info, const char *text);

/* A hardware counter of a kernel, which was that one's in the order of launches. */
int gp_import_counter(struct gp_importing *im, uint64_t start_ns, const char *kernel,
		      const char *counter, double value);

/* The numbers by which records refer to it, told to the model when they are new.  0: no memory. */
uint32_t gp_import_kernel_name(struct gp_importing *im, const char *name, size_t bytes);
uint32_t gp_import_message(struct gp_importing *im, const char *text, size_t bytes);
/* shape: all but its id. */
uint32_t gp_import_shape(struct gp_importing *im, struct gp_record_shape *shape);
/* What the line of a function of Python's is. */
enum gp_import_line {
	GP_IMPORT_LINE_OF_FUNCTION, /* it begins there: which line called is not known */
	GP_IMPORT_LINE_OF_CALL,
	GP_IMPORT_LINE_OF_FRAME, /* none: each frame's address is its own */
};
/* Code of Python's: "file.py(12): function", or the name of what has no file. */
uint32_t gp_import_code(struct gp_importing *im, const char *text, size_t bytes,
			enum gp_import_line line);
/* frame: all but its id; its caller's was given before. */
uint32_t gp_import_frame(struct gp_importing *im, const struct gp_record_frame *frame);

/*
 * An API call. cbid: CUPTI's number, 0 = not known: then calls of a name get one of their own.
 * context_id: 0 = not known.
 */
struct gp_import_call {
	uint64_t start_ns, end_ns;
	const char *name;
	size_t name_bytes;
	uint32_t cbid;
	uint32_t correlation_id;
	uint32_t thread_id;
	uint32_t context_id;
	uint32_t stack; /* of gp_import_frame(), 0 = not known */
	uint16_t status;
	bool is_driver;
	const struct gp_import_memory *memory; /* that came or went; NULL = not known to */
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
 * A function that looks at a thread found begins (end_thread_id: its track), or the innermost one
 * of the track that was begun last ends. Tracks come one after the other.  Its turns come right
 * after its beginning, in their order.
 */
int gp_import_begin_look(struct gp_importing *im, const struct gp_import_span *span);
int gp_import_turn_look(struct gp_importing *im, const struct gp_import_turn *turn);
void gp_import_end_look(struct gp_importing *im, uint32_t track, uint64_t time_ns);

/* One line for the user: why the file cannot be read, by the negative errno value. */
void gp_import_explain(int error, const char *path, char *message, size_t message_bytes);

/* spans.c: by gp_importing_finish(). */
int gp_import_ranges(struct gp_importing *im);
int gp_import_stacks(struct gp_importing *im);
int gp_import_looks(struct gp_importing *im);

#endif

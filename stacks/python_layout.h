/*
 * python_layout: where CPython keeps what a stack needs, version by version.  The only file that knows.
 *
 * All numbers are offsets in bytes on x86-64, in builds with the global lock.  Read-only.
 */
#ifndef STACKS_PYTHON_LAYOUT_H
#define STACKS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* What a frame says of the instruction it is at. */
enum gp_python_instruction {
	GP_PYTHON_BYTES,   /* int, offset in the code */
	GP_PYTHON_UNITS,   /* int, offset in the code, in units of two bytes */
	GP_PYTHON_POINTER, /* its address */
};

/* Which frames one activation of the evaluator, a C function, runs. */
enum gp_python_activation {
	GP_PYTHON_EACH, /* one frame */
	GP_PYTHON_ENTRY, /* up to one that is marked; a chain of records on the C stack goes with the activations */
	GP_PYTHON_SHIM, /* up to a frame that is no function's, which lies on the C stack */
};

struct gp_python_layout {
	uint8_t minor;       /* 3.minor */
	uint8_t instruction; /* enum gp_python_instruction */
	uint8_t activation;  /* enum gp_python_activation */
	uint8_t table_form;  /* enum gp_line_table, of the interpreter's own */
	struct {
		uint16_t frame;      /* address of the frame, or ... */
		int16_t chain_frame; /* -1, or where the frame is in what `frame` points at ... */
		uint16_t chain_next; /* ... and what that one was before */
		uint16_t thread_id;
	} thread;
	struct {
		uint16_t code;
		uint16_t previous;
		uint16_t instruction;
		uint16_t owner;
	} frame;
	struct {
		uint16_t file;
		uint16_t name;
		uint16_t first_line;
		uint16_t table;
		uint16_t version; /* 0 = has none */
		uint16_t first_traceable;
		uint16_t start;
	} code;
	struct {
		uint16_t ascii;
		uint16_t other;
	} text;
};

/* Where all threads of an interpreter's are found: from its runtime, along two lists. */
struct gp_python_list {
	uint16_t interpreters;     /* in the runtime: the first interpreter */
	uint16_t next_interpreter; /* in an interpreter */
	uint16_t threads;          /* in an interpreter: its first thread */
	uint16_t next;             /* in a thread */
	uint16_t interpreter;      /* in a thread: that it is of */
};

/* The layout of a version, as in PY_VERSION_HEX; NULL = not known. */
const struct gp_python_layout *gp_python_layout_of(uint32_t version_hex);

/*
 * Whether the interpreter says the same of itself: from 3.13 on its runtime begins with a table of offsets.  True for older ones.
 */
bool gp_python_layout_agrees(const struct gp_python_layout *layout, uint32_t version_hex,
			     const void *runtime);

/* The same for the lists of an interpreter that agrees; from 3.13 on it is the interpreter that says where they are. */
struct gp_python_list gp_python_layout_list(const struct gp_python_layout *layout,
					    const void *runtime);

#endif

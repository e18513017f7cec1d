/*
 * python_layout: the layout of CPython's structures for call stacks, by version.  All knowledge
 * about it is here.
 *
 * All numbers are offsets in bytes on x86-64, in builds with the global lock.  Read-only.
 */
#ifndef STACKS_PYTHON_LAYOUT_H
#define STACKS_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* The form of the current instruction in a frame. */
enum gp_python_instruction {
	GP_PYTHON_BYTES,   /* int, offset in the code */
	GP_PYTHON_UNITS,   /* int, offset in the code, in units of two bytes */
	GP_PYTHON_POINTER, /* its address */
};

/* The frames that one activation of the evaluator, a C function, runs. */
enum gp_python_activation {
	GP_PYTHON_EACH, /* one frame */
	/* up to a marked frame; the version has a chain of activation records on the C stack */
	GP_PYTHON_ENTRY,
	GP_PYTHON_SHIM, /* up to a frame without a function, which lies on the C stack */
};

struct gp_python_layout {
	uint8_t minor;       /* 3.minor */
	uint8_t instruction; /* enum gp_python_instruction */
	uint8_t activation;  /* enum gp_python_activation */
	uint8_t table_form;  /* enum gp_line_table, in the interpreter */
	struct {
		uint16_t frame;      /* address of the frame, or ... */
		int16_t chain_frame; /* -1, or offset of the frame in the object at `frame` ... */
		uint16_t chain_next; /* ... and offset of the previous such object */
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

/* The lists of all threads: from the interpreter's runtime, along two lists. */
struct gp_python_list {
	uint16_t interpreters;     /* in the runtime: the first interpreter */
	uint16_t next_interpreter; /* in an interpreter */
	uint16_t threads;          /* in an interpreter: its first thread */
	uint16_t next;             /* in a thread */
	uint16_t interpreter;      /* in a thread: its interpreter */
};

/* The layout of a version, as in PY_VERSION_HEX; NULL = unknown. */
const struct gp_python_layout *gp_python_layout_of(uint32_t version_hex);

/*
 * Whether the interpreter confirms the layout: from 3.13 on its runtime begins with a table of
 * offsets.  True for older ones.
 */
bool gp_python_layout_agrees(const struct gp_python_layout *layout, uint32_t version_hex,
			     const void *runtime);

/*
 * The offsets of the lists; from 3.13 on they come from the interpreter, whose layout must agree.
 */
struct gp_python_list gp_python_layout_list(const struct gp_python_layout *layout,
					    const void *runtime);

#endif

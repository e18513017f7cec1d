/*
 * python: the Python call stack of the calling thread, read from the interpreter's own frames.
 *
 * Needs no lock of Python's: a thread's frames change only while that thread runs Python, and it is in here; each frame keeps its
 * code object alive.  One function of the interpreter is called, PyGILState_GetThisThreadState(), which reads a thread-specific
 * value and needs no lock either.  Nothing of the interpreter is written.
 *
 * CPython 3.8 to 3.14 (stacks/python_layout.h).  What is not known is left alone, and said once in the trace.
 */
#ifndef STACKS_PYTHON_H
#define STACKS_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/code.h"
#include "stacks/modules.h"
#include "stacks/tree.h"

struct gp_python_frame {
	uint64_t code;
	uint64_t instruction;
	/* Of the last frame of an activation of the evaluator: an address within the C frame of that, or 1 where there is none; else 0. */
	uint64_t activation;
	uint64_t hash;    /* of this frame and all its callers */
	uint64_t address; /* the interpreter's own */
	uint32_t code_id;
};

struct gp_python_walk {
	uint32_t count;
	uint32_t current;                                 /* which of the two the last walk is in */
	bool is_cut;                                      /* there are more frames outside */
	struct gp_python_frame frames[2][GP_STACK_DEPTH]; /* innermost first */
	struct gp_code_scratch scratch;
};

/* A module was met: is there an interpreter in it? */
void gp_python_notice(const struct gp_module *module);

/* Before the next walk, a little earlier: lets the caches bring what the last one read. */
void gp_python_prepare(const struct gp_python_walk *walk);

/*
 * The number (stacks/hash.h) of the calling thread's Python stack, with where its activations end; 0 = it has none.  The frames are in
 * gp_python_frames() until the next walk.
 */
uint64_t gp_python_walk(struct gp_python_walk *walk);

const struct gp_python_frame *gp_python_frames(const struct gp_python_walk *walk);

/* Whether each activation is a native frame in this function, having no address in it (Python 3.8 to 3.10). */
bool gp_python_is_evaluator(uint64_t pc);

/* Offset in bytes in the code object of what a frame is executing. */
uint64_t gp_python_offset(const struct gp_python_frame *frame);

#endif

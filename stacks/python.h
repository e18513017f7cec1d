/*
 * python: the Python call stack of the calling thread, read from the interpreter's own frames.
 *
 * Needs no lock of Python's: a thread's frames change only while that thread runs Python, and it is in here; each frame keeps its
 * code object alive.  One function of the interpreter is called, PyGILState_GetThisThreadState(), which reads a thread-specific
 * value and needs no lock either.  Nothing of the interpreter is written.
 *
 * CPython 3.8 to 3.15 (stacks/python_layout.h).  What is not known is left alone, and said once in the trace.
 */
#ifndef STACKS_PYTHON_H
#define STACKS_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/python_code.h"
#include "stacks/modules.h"
#include "stacks/stack_tree.h"

/* Stacks that a thread remembers, in sets. */
#define GP_PYTHON_WAYS  4u
#define GP_PYTHON_SETS  8u
#define GP_PYTHON_PASTS (GP_PYTHON_SETS * GP_PYTHON_WAYS)

/* Those that a thread has from the start, for a walk and the one to compare it with; for the others see stacks/thread_memory.h. */
#define GP_PYTHON_FIRST_PASTS 2u

/* Frames of the interpreter's: for each of Python's there may be one that is none of its functions. */
#define GP_PYTHON_LINKS (2u * GP_STACK_DEPTH)

struct gp_python_frame {
	/* Of the last frame of an activation of the evaluator: an address within the C frame of that, or 1 where there is none; else 0. */
	uint64_t activation;
	uint64_t hash; /* of this frame and all its callers */
	uint32_t code_id;
	uint32_t offset; /* in bytes in the code object, of what it is executing */
};

/* A frame of the interpreter's, and what was in it. */
struct gp_python_link {
	uint64_t address;
	uint64_t code;
	uint64_t instruction;
	uint32_t
		mark; /* of the code: what tells it from others at its address; 0 = that takes more */
	uint16_t frame; /* which it is of the stack, if it is shown */
	uint8_t owner;
	bool is_shown;
};

/* A stack that was, innermost first. */
struct gp_python_past {
	uint32_t count;
	uint32_t link_count;
	bool is_cut; /* there are more frames outside */
	bool may_come_again;
	bool is_numbered; /* every frame's hash is that of what it says and of its callers */
	uint64_t number;  /* the innermost hash */
	struct gp_python_link links[GP_PYTHON_LINKS];
	struct gp_python_frame frames[GP_STACK_DEPTH];
};

/* What every walk uses comes last, beside that of the native walk (stacks/stack.c). */
struct gp_python_walk {
	struct gp_python_code_scratch scratch;
	struct gp_python_past pasts[GP_PYTHON_PASTS];
	uint64_t thread;             /* of the interpreter's; 0 = there is none */
	struct gp_python_past *last; /* what came out */
	uint32_t module_id;          /* of the interpreter */
	uint32_t next_way;           /* of a set, to be forgotten next */
	uint32_t taken; /* pasts that there is memory for, beside the first, a bit each */
	uint32_t tags[GP_PYTHON_SETS][GP_PYTHON_WAYS]; /* of the innermost frame of each past */
};

/* What a walk of another thread's frames needs to know of the interpreter; by addresses. */
struct gp_python_known {
	struct gp_python_layout layout;
	struct gp_python_list list;
	uint64_t runtime;
	uint64_t code_type;
	uint64_t text_type;
	uint64_t bytes_type;
};

/* False: no interpreter was met yet, or none that is understood, or it was unloaded.  Any thread. */
bool gp_python_know(struct gp_python_known *known);

/* A module was met, in which the caller executes: is there an interpreter in it? */
void gp_python_notice(const struct gp_module *module);

/*
 * By one thread of ours, where none was met: is there an interpreter in any module, and has it been started?  Where no module came or went since the
 * last time that costs next to nothing.  It takes the lock of the loader's list (stacks/modules.h says why it may), and makes no system call.
 * True: gp_python_meet() makes it known.
 */
bool gp_python_search(void);
void gp_python_meet(void);

/* Before a walk, a little earlier: asks the interpreter for the thread, and lets the caches bring what the walk will read. */
void gp_python_begin(struct gp_python_walk *walk);

/*
 * The number (stacks/stack_hash.h) of the calling thread's Python stack, with where its activations end; 0 = it has none.  Its frames are in
 * walk->last.
 */
uint64_t gp_python_walk(struct gp_python_walk *walk);

/* Whether each activation is a native frame in this function, having no address in it (Python 3.8 to 3.10). */
bool gp_python_is_evaluator(uint64_t pc);

#endif

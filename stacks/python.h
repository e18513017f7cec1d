/*
 * python: the Python call stack of the calling thread, read from the interpreter's own frames.
 *
 * Needs no lock of Python: a thread's frames change only while that thread runs Python, and it is
 * in here; each frame keeps its code object alive.  The only interpreter function called is
 * PyGILState_GetThisThreadState(), which reads a thread-specific value without a lock.  Nothing of
 * the interpreter is written.
 *
 * CPython 3.8 to 3.15 (stacks/python_layout.h).  An unknown interpreter is left alone, and reported
 * once in the trace.
 */
#ifndef STACKS_PYTHON_H
#define STACKS_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/python_code.h"
#include "stacks/modules.h"
#include "stacks/stack_tree.h"

/* Stacks that a thread remembers, as a set-associative cache. */
#define GP_PYTHON_WAYS  4u
#define GP_PYTHON_SETS  8u
#define GP_PYTHON_PASTS (GP_PYTHON_SETS * GP_PYTHON_WAYS)

/*
 * Initially allocated, for a walk and the stack to compare it with; for the others see
 * stacks/thread_memory.h.
 */
#define GP_PYTHON_FIRST_PASTS 2u

/* Interpreter frames: each Python frame may come with one that belongs to no function. */
#define GP_PYTHON_LINKS (2u * GP_STACK_DEPTH)

struct gp_python_frame {
	/*
	 * For the last frame of an activation of the evaluator: an address within its C frame, or 1
	 * if there is none; else 0.
	 */
	uint64_t activation;
	uint64_t hash; /* of this frame and all its callers */
	uint32_t code_id;
	uint32_t offset; /* of the executed instruction, in bytes within the code object */
};

/* A frame of the interpreter and its content. */
struct gp_python_link {
	uint64_t address;
	uint64_t code;
	uint64_t instruction;
	uint32_t mark;  /* distinguishes the code from others at its address; 0 = not enough */
	uint16_t frame; /* its index in the stack, if it is shown */
	uint8_t owner;
	bool is_shown;
};

/* A remembered stack, innermost first. */
struct gp_python_past {
	uint32_t count;
	uint32_t link_count;
	bool is_cut; /* there are more frames outside */
	bool may_come_again;
	bool is_numbered; /* the hash of every frame is up to date */
	uint64_t number;  /* hash of the innermost frame */
	struct gp_python_link links[GP_PYTHON_LINKS];
	struct gp_python_frame frames[GP_STACK_DEPTH];
};

/* The members that every walk uses come last, next to those of the native walk (stacks/stack.c). */
struct gp_python_walk {
	struct gp_python_code_scratch scratch;
	struct gp_python_past pasts[GP_PYTHON_PASTS];
	uint64_t thread;             /* the interpreter's thread state; 0 = none */
	struct gp_python_past *last; /* the result */
	uint32_t module_id;          /* of the interpreter */
	uint32_t next_way;           /* of a set, to be overwritten next */
	uint32_t taken;              /* bit mask of the pasts with memory, except the first */
	uint32_t tags[GP_PYTHON_SETS][GP_PYTHON_WAYS]; /* from the innermost frame of each past */
};

/* The data about the interpreter for walks of other threads' frames, by address. */
struct gp_python_known {
	struct gp_python_layout layout;
	struct gp_python_list list;
	uint64_t runtime;
	uint64_t code_type;
	uint64_t text_type;
	uint64_t bytes_type;
};

/* False: no supported interpreter was found yet, or it was unloaded.  Any thread. */
bool gp_python_get_known(struct gp_python_known *known);

/* Check a module, in which the caller executes, for an interpreter, if none was found yet. */
void gp_python_notice(const struct gp_module *module);

/*
 * By one profiler thread, while no interpreter is known: search all modules for a started
 * interpreter.  Almost free if no module came or went since the last time.  Takes the loader's list
 * lock (stacks/modules.h explains why that is safe), and makes no system call.  True:
 * gp_python_adopt() makes the interpreter known.
 */
bool gp_python_search(void);
void gp_python_adopt(void);

/* The interpreter is not known any more: a further recording finds it again. */
void gp_python_forget(void);

/*
 * Shortly before a walk: gets the thread state from the interpreter, and prefetches the data of the
 * walk.
 */
void gp_python_begin(struct gp_python_walk *walk);

/*
 * The hash (stacks/stack_hash.h) of the calling thread's Python stack, including the ends of its
 * activations; 0 = none.  Its frames are in walk->last.
 */
uint64_t gp_python_walk(struct gp_python_walk *walk);

/*
 * Whether each activation is a native frame of this function without an address in it (Python 3.8
 * to 3.10).
 */
bool gp_python_is_evaluator(uint64_t pc);

#endif

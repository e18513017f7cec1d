/*
 * walk: the native call stack of the calling thread, exact and fast.
 *
 * A walk goes from frame to frame by the rules of stacks/rules.h.  Each step depends on the state (pc, sp, rbp) and on what it
 * reads: the slot of the return address, and that of the saved rbp.  So a thread keeps its last walk: where a frame has the same state
 * as then, and the slots hold what they held, the caller has the same state as then, too, and so on outwards until a slot
 * differs; from there on the walk goes step by step, until it meets a frame of the last walk again.  What comes out is what a walk without
 * memory gives, for a fraction of the time; nothing is read that such a walk would not read.
 *
 * A stack with a frame that no rule expresses ends there with a copy of the rest (stacks/copy.h).
 *
 * Only the thread itself walks its stack.  Other stacks than its own (fibers, signal stacks) are followed as well.
 */
#ifndef STACKS_WALK_H
#define STACKS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/copy.h"
#include "stacks/frame.h"
#include "stacks/rule.h"
#include "stacks/tree.h"

/* Pages of other stacks than its own that a walk remembers. */
#define GP_WALK_PAGES 16u

/* What every walk uses comes first, in as few cache lines as can be. */
struct gp_walk {
	uint32_t count;
	uint32_t epoch; /* of gp_modules_epoch(), when `frames` was made */
	/* what frames[0] hangs on: 0, or a node that says why the stack ends there */
	uint32_t root;
	uint32_t fresh_count;
	uint64_t high;         /* end of the thread's own stack */
	uint64_t low;          /* from here to there all of it is known to be readable */
	uint64_t stepped;      /* frames of all walks, for tests and benchmarks ... */
	uint64_t validated;    /* ... and those that were taken over */
	bool is_on_own;        /* the walk that goes on began on the own stack */
	uint32_t next_page;    /* how many pages of other stacks it asked for; see below */
	struct gp_place place; /* where it began */
	struct gp_frame fresh[GP_STACK_DEPTH];  /* of it, innermost first */
	struct gp_frame frames[GP_STACK_DEPTH]; /* of the last one, outermost first */
	uint64_t hashes[GP_STACK_DEPTH];        /* of the same frames, each with all its callers */
	uint64_t limit;                /* below here the own stack is known not to be readable */
	uint64_t pages[GP_WALK_PAGES]; /* of other stacks, that were readable */
	struct gp_copy_scratch copy;
};

/* Once a thread, zeroed memory. */
void gp_walk_init(struct gp_walk *walk);

/*
 * The number (stacks/hash.h) of the stack from `place` on, whose frames are in walk->frames.  Keeps errno; no system call, lock or
 * allocation unless an address is met for the first time in the process.
 */
uint64_t gp_walk(struct gp_walk *walk, struct gp_place place);

#endif

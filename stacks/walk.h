/*
 * walk: the native call stack of the calling thread, exact and fast.
 *
 * A walk goes from frame to frame by the rules of stacks/rules.h.  Each step depends on the state (pc, sp, rbp) and on what it
 * reads: the slot of the return address, and that of the saved rbp.  So a thread remembers walks: where a frame has the same state
 * as in one of them, and the slots hold what they held, the caller has the same state as then, too, and so on outwards until a slot
 * differs; from there on the walk goes step by step, until it meets a frame of that one again.  What comes out is what a walk without
 * memory gives, for a fraction of the time; nothing is read that such a walk would not read.
 *
 * Programs call by turns from a few dozens of places.  Those that differ begin at different depths of the stack, mostly: a walk has
 * for its memory the last one that began at the same sp, where that is remembered, else the last of all.
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

/* Walks that a thread remembers: sets of as many as have their tags in one cache line. */
#define GP_WALK_WAYS  16u
#define GP_WALK_SETS  2u
#define GP_WALK_PASTS (GP_WALK_SETS * GP_WALK_WAYS)

/* A walk that was. */
struct gp_past {
	uint32_t count;
	uint32_t epoch; /* of gp_modules_epoch(), when it was made */
	/* what frames[0] hangs on: 0, or a node that says why the stack ends there */
	uint32_t root;
	uint64_t number;                        /* the last of the hashes */
	struct gp_frame frames[GP_STACK_DEPTH]; /* outermost first */
	uint64_t hashes[GP_STACK_DEPTH];        /* of the same frames, each with all its callers */
};

/* What every walk uses comes first, in as few cache lines as can be. */
struct gp_walk {
	struct gp_past *last; /* what came out */
	uint32_t fresh_count;
	uint32_t epoch;     /* the last that was seen */
	uint64_t high;      /* end of the thread's own stack */
	uint64_t low;       /* from here to there all of it is known to be readable */
	uint64_t stepped;   /* frames of all walks, for tests and benchmarks ... */
	uint64_t validated; /* ... and those that were taken over */
	bool is_on_own;     /* the walk that goes on began on the own stack */
	uint32_t next_page; /* how many pages of other stacks it asked for; see below */
	uint32_t next_way;  /* of a set, to be forgotten next */
	uint32_t last_tag;  /* of `last` */
	uint32_t tags[GP_WALK_SETS][GP_WALK_WAYS]; /* of the sp that each past began at */
	struct gp_place place;                     /* where it began */
	struct gp_frame fresh[GP_STACK_DEPTH];     /* of the walk that goes on, innermost first */
	uint64_t limit;                /* below here the own stack is known not to be readable */
	uint64_t pages[GP_WALK_PAGES]; /* of other stacks, that were readable */
	struct gp_copy_scratch copy;
	struct gp_past pasts[GP_WALK_PASTS];
};

/* Once a thread, zeroed memory. */
void gp_walk_init(struct gp_walk *walk);

/*
 * The number (stacks/hash.h) of the stack from `place` on, whose frames are in walk->last.  Keeps errno; no system call, lock or
 * allocation unless an address is met for the first time in the process.
 */
uint64_t gp_walk(struct gp_walk *walk, struct gp_place place);

#endif

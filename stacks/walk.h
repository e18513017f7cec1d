/*
 * walk: the native call stack of the calling thread, exact and fast.
 *
 * A walk goes from frame to frame by the rules of stacks/rule_table.h.  Each step depends only on
 * the state (pc, sp, rbp) and on two slots: the return address and the saved rbp.  So a thread
 * remembers walks.  If a frame has the same state as in a remembered walk, and its slots are
 * unchanged, then its caller has the same state as then, and so on outwards until a slot differs.
 * From there the walk goes step by step, until it meets a frame of the remembered walk again.  The
 * result is that of a full walk, for a fraction of the time, and no memory is read that a full walk
 * would not read.
 *
 * Usually nothing has changed at all.  When a walk repeats its frames, the relevant slots are
 * collected: return addresses, and a saved rbp if a caller uses it, which is rare.  While these are
 * unchanged, the result is the same, and neither frames nor rules are read.
 *
 * Programs alternate between a few dozen call sites, most of which start at different stack depths:
 * a walk is compared with the last one from the same sp, if remembered, else with the last of all.
 *
 * A stack with a frame that no rule expresses ends there with a copy of the rest
 * (stacks/stack_copy.h).
 *
 * A thread walks only its own stack, and follows other stacks (fibers, signal stacks) as well.
 */
#ifndef STACKS_WALK_H
#define STACKS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/stack_copy.h"
#include "stacks/frame.h"
#include "stacks/unwind_rule.h"
#include "stacks/stack_tree.h"

/* Remembered pages of other stacks. */
#define GP_WALK_PAGES 16u

/* Remembered walks per thread, as sets whose tags fit one cache line. */
#define GP_WALK_WAYS  16u
#define GP_WALK_SETS  2u
#define GP_WALK_PASTS (GP_WALK_SETS * GP_WALK_WAYS)

/* Initially allocated; the others get memory on demand (stacks/thread_memory.h). */
#define GP_WALK_FIRST_PASTS 1u

/* Maximum number of collected slots, and their maximum distance from the start. */
#define GP_WALK_SLOTS (GP_STACK_DEPTH + 128u)
#define GP_WALK_REACH ((uint64_t)UINT16_MAX)

/*
 * A remembered walk.  If nothing has changed, the next one from the same place reads only the
 * members before `frames`.
 */
struct gp_past {
	uint32_t count;
	uint32_t epoch; /* of gp_modules_epoch(), when it was made */
	/* parent of frames[0]: 0, or a node with the reason why the stack ends there */
	uint32_t root;
	uint32_t repeated;   /* number of repetitions of the same frames */
	uint32_t slot_count; /* 0 = unknown */
	bool begins_with_bp; /* the initial rbp is one of them */
	uint64_t number;     /* hash of the innermost frame */
	uint64_t pc;         /* start of the walk */
	uint64_t sp;
	uint64_t bp;
	/* relevant words, as offsets from sp, innermost first, ... */
	uint16_t slots[GP_WALK_SLOTS];
	uint64_t words[GP_WALK_SLOTS];          /* ... and their values */
	struct gp_frame frames[GP_STACK_DEPTH]; /* outermost first */
	uint64_t hashes[GP_STACK_DEPTH];        /* of the same frames, each including its callers */
};

/* The members that every walk uses come first, in as few cache lines as possible. */
struct gp_walk {
	struct gp_past *last; /* the result */
	uint32_t fresh_count;
	uint32_t epoch;     /* the latest known epoch */
	uint64_t high;      /* end of the thread's own stack */
	uint64_t low;       /* everything from here to `high` is known to be readable */
	uint64_t stepped;   /* frames of all walks, for tests and benchmarks ... */
	uint64_t validated; /* ... and those reused from remembered walks */
	bool is_on_own;     /* the current walk began on the thread's own stack */
	uint32_t next_page; /* number of checked pages of other stacks; see below */
	uint32_t next_way;  /* of a set, to be overwritten next */
	uint32_t taken;     /* bit mask of the pasts with memory */
	uint32_t last_tag;  /* of `last` */
	uint32_t tags[GP_WALK_SETS][GP_WALK_WAYS]; /* from the start sp of each past */
	struct gp_place place;                     /* start of the walk */
	struct gp_frame fresh[GP_STACK_DEPTH];     /* of the current walk, innermost first */
	uint64_t limit; /* below here the thread's own stack is known to be unreadable */
	uint64_t pages[GP_WALK_PAGES]; /* readable pages of other stacks */
	struct gp_stack_copy_scratch copy;
	struct gp_past pasts[GP_WALK_PASTS];
};

/* Once per thread, on zeroed memory. */
void gp_walk_init(struct gp_walk *walk);

/*
 * The hash (stacks/stack_hash.h) of the stack from `place` on, whose frames are in walk->last.
 * Preserves errno; no system call, lock or allocation unless an address is new to the process.
 */
uint64_t gp_walk(struct gp_walk *walk, struct gp_place place);

#endif

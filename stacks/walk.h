/*
 * walk: the native call stack of the calling thread, exact and fast.
 *
 * A walk goes from frame to frame by the rules of stacks/rule_table.h.  Each step depends on the state (pc, sp, rbp) and on what it
 * reads: the slot of the return address, and that of the saved rbp.  So a thread remembers walks: where a frame has the same state
 * as in one of them, and the slots hold what they held, the caller has the same state as then, too, and so on outwards until a slot
 * differs; from there on the walk goes step by step, until it meets a frame of that one again.  What comes out is what a walk without
 * memory gives, for a fraction of the time; nothing is read that such a walk would not read.
 *
 * Mostly nothing has changed at all.  When a walk has given the same frames once more, the slots that it went by are put together: return
 * addresses, and a saved rbp where a frame outside goes by it, which is seldom.  While they hold what they held, the result is the same, and
 * neither frames nor rules are looked at.
 *
 * Programs call by turns from a few dozens of places.  Those that differ begin at different depths of the stack, mostly: a walk has
 * for its memory the last one that began at the same sp, where that is remembered, else the last of all.
 *
 * A stack with a frame that no rule expresses ends there with a copy of the rest (stacks/stack_copy.h).
 *
 * Only the thread itself walks its stack.  Other stacks than its own (fibers, signal stacks) are followed as well.
 */
#ifndef STACKS_WALK_H
#define STACKS_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/stack_copy.h"
#include "stacks/frame.h"
#include "stacks/unwind_rule.h"
#include "stacks/stack_tree.h"

/* Pages of other stacks than its own that a walk remembers. */
#define GP_WALK_PAGES 16u

/* Walks that a thread remembers: sets of as many as have their tags in one cache line. */
#define GP_WALK_WAYS  16u
#define GP_WALK_SETS  2u
#define GP_WALK_PASTS (GP_WALK_SETS * GP_WALK_WAYS)

/* Those that a thread has from the start; memory for the others is taken when they are wanted (stacks/thread_memory.h). */
#define GP_WALK_FIRST_PASTS 1u

/* Most slots of a walk that are kept by themselves, and how far from where it began. */
#define GP_WALK_SLOTS (GP_STACK_DEPTH + 128u)
#define GP_WALK_REACH ((uint64_t)UINT16_MAX)

/* A walk that was.  Where nothing has changed, the next one from the same place reads what comes before the frames, and no more. */
struct gp_past {
	uint32_t count;
	uint32_t epoch; /* of gp_modules_epoch(), when it was made */
	/* what frames[0] hangs on: 0, or a node that says why the stack ends there */
	uint32_t root;
	uint32_t repeated;   /* how often the same frames came out of steps */
	uint32_t slot_count; /* 0 = they are not known */
	bool begins_with_bp; /* the rbp that it began with is one of them */
	uint64_t number;     /* the last of the hashes */
	uint64_t pc;         /* where it began */
	uint64_t sp;
	uint64_t bp;
	uint16_t slots[GP_WALK_SLOTS]; /* words from sp on that lead on, innermost first, ... */
	uint64_t words[GP_WALK_SLOTS]; /* ... and what was in them */
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
	uint32_t taken;     /* pasts that there is memory for, a bit each */
	uint32_t last_tag;  /* of `last` */
	uint32_t tags[GP_WALK_SETS][GP_WALK_WAYS]; /* of the sp that each past began at */
	struct gp_place place;                     /* where it began */
	struct gp_frame fresh[GP_STACK_DEPTH];     /* of the walk that goes on, innermost first */
	uint64_t limit;                /* below here the own stack is known not to be readable */
	uint64_t pages[GP_WALK_PAGES]; /* of other stacks, that were readable */
	struct gp_stack_copy_scratch copy;
	struct gp_past pasts[GP_WALK_PASTS];
};

/* Once a thread, zeroed memory. */
void gp_walk_init(struct gp_walk *walk);

/*
 * The number (stacks/stack_hash.h) of the stack from `place` on, whose frames are in walk->last.  Keeps errno; no system call, lock or
 * allocation unless an address is met for the first time in the process.
 */
uint64_t gp_walk(struct gp_walk *walk, struct gp_place place);

#endif

/*
 * copy: what is kept of a stack that the rules cannot follow: the registers of the frame where they end, and the stack from there on,
 * GP_STACK_COPY_WORDS at most.  The reader unwinds it; a program's thread never does.
 *
 * What counts of a copy are the words that are addresses in code or on the stack: where these are the same, so are the callers, and the
 * copy that was kept serves again.  Bounded: after GP_STACK_COPIES copies no more are kept.
 */
#ifndef STACKS_STACK_COPY_H
#define STACKS_STACK_COPY_H

#include <stdint.h>

#include "stacks/frame.h"

#define GP_STACK_COPY_REGISTERS 17u /* by their DWARF numbers */
#define GP_STACK_COPY_WORDS     2027u
#define GP_STACK_COPIES         1024u

/* The text of a GP_STRING_STACK_COPY. */
struct gp_stack_copy {
	uint32_t register_count;
	uint32_t zero;
	uint64_t registers[GP_STACK_COPY_REGISTERS];
	uint64_t address; /* of words[0] */
	uint64_t words[GP_STACK_COPY_WORDS];
};

#define GP_STACK_COPY_PLACES 8u

/* Of a thread: where the last copies' registers were.  To find it out takes the unwind information of every frame. */
struct gp_stack_copy_scratch {
	struct gp_stack_copy_places {
		uint64_t number; /* of the frames; 0 = free */
		uint64_t addresses
			[GP_KEPT_REGISTERS]; /* 0 = the register is as it was where the walk began */
	} places[GP_STACK_COPY_PLACES];
	struct gp_stack_copy copy;
};

/* Once.  0 or -ENOMEM. */
int gp_stack_copy_init(void);

/*
 * The tree's node for the callers of frames[count - 1]; frames are those of the walk that began at place, innermost first, on the thread's
 * own stack, which ends at `high`.  0: none can be had, which is counted where the bound is the reason.  scratch: zeroed at first.
 */
uint32_t gp_stack_copy_keep(struct gp_stack_copy_scratch *scratch, const struct gp_place *place,
			    const struct gp_frame *frames, uint32_t count, uint64_t high);

#endif

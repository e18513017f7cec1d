/*
 * stack_copy: copies stacks that the rules cannot follow: the registers of the frame where they
 * end, and up to GP_STACK_COPY_WORDS of the stack from there on.  The reader unwinds it; a program
 * thread never does.
 *
 * The significant words of a copy are the addresses of code and of the stack: if these are equal,
 * so are the callers, and the earlier copy is used again.  Bounded: after GP_STACK_COPIES copies no
 * more are made.
 *
 * On aarch64 no copies are made: such a stack ends where the rules end.
 */
#ifndef STACKS_STACK_COPY_H
#define STACKS_STACK_COPY_H

#include <stdint.h>

#include "stacks/frame.h"

#define GP_STACK_COPY_REGISTERS 17u /* by DWARF number */
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

/*
 * Per thread: the register locations of the last copies.  Determining them takes the unwind
 * information of every frame.
 */
struct gp_stack_copy_scratch {
	struct gp_stack_copy_places {
		uint64_t number; /* hash of the frames; 0 = free */
		/* 0 = the register is unchanged since the start of the walk */
		uint64_t addresses[GP_KEPT_REGISTERS];
	} places[GP_STACK_COPY_PLACES];
	struct gp_stack_copy copy;
};

/* Once.  0 or -ENOMEM. */
int gp_stack_copy_init(void);

/* For gp_stack_forget(): nothing is known, and the memory is free; init may come again. */
void gp_stack_copy_forget(void);

/*
 * The stack tree's node for the callers of frames[count - 1].  The frames are those of the walk
 * that began at place, innermost first, on the thread's own stack, which ends at `high`.  0: no
 * copy; counted if the limit is the reason.  scratch: initially zeroed.
 */
uint32_t gp_stack_copy_keep(struct gp_stack_copy_scratch *scratch, const struct gp_place *place,
			    const struct gp_frame *frames, uint32_t count, uint64_t high);

#endif

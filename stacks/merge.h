/*
 * merge: combines the native and the Python frames of a thread into one stack.
 *
 * An activation of the Python evaluator is one native frame and one or more Python frames.  They
 * are matched by address: the evaluator's data of an activation lies within its native frame.  The
 * Python frames replace that frame.  Other frames of the interpreter are left out, and so are those
 * of CUDA and gpuprof at the inner end.
 *
 * Done once for each pair of stacks, then cached.  No lock; bounded.
 */
#ifndef STACKS_MERGE_H
#define STACKS_MERGE_H

#include <stdint.h>

#include "stacks/python.h"
#include "stacks/walk.h"

/* Log2 of the number of recently merged pairs that a thread remembers. */
#define GP_MERGE_LAST_BITS 7u

struct gp_merge_step {
	uint32_t kind; /* enum gp_frame_kind */
	uint32_t origin;
	uint64_t address;
};

/* Per thread. */
struct gp_merge {
	struct {
		uint64_t pair;            /* 0 = none */
		uint32_t id;              /* the merged stack */
	} last[1u << GP_MERGE_LAST_BITS]; /* indexed by the pair */
	uint32_t count;
	struct gp_merge_step steps[2 * GP_STACK_DEPTH + 2]; /* innermost first */
};

/* Once.  0 or -ENOMEM. */
int gp_merge_init(void);

/* For gp_stack_forget(): nothing is known, and the memory is free; init may come again. */
void gp_merge_forget(void);

/*
 * The stack tree's id of a stack.  native: hash of the native frames in `walk`; python: hash of the
 * Python frames (0 = none).  The trace knows all frames of the result.  GP_NO_NODE: the tree is
 * full.
 */
uint32_t gp_merge_stacks(struct gp_merge *merge, const struct gp_walk *walk, uint64_t native,
			 const struct gp_python_walk *python_walk, uint64_t python);

#endif

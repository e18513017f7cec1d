/*
 * merge: one stack of a thread's native and Python frames.
 *
 * An activation of Python's evaluator is one native frame and one or more Python frames.  They belong together by address: what the
 * evaluator keeps of an activation lies within its native frame.  The Python frames take that frame's place; the other frames of the
 * interpreter's own code are left out, as are those of CUDA and ours at the inner end.
 *
 * Done once for each pair of stacks, then looked up.  No lock; bounded.
 */
#ifndef STACKS_MERGE_H
#define STACKS_MERGE_H

#include <stdint.h>

#include "stacks/python.h"
#include "stacks/walk.h"

/* Of the pairs that were merged last a thread remembers up to so many. */
#define GP_MERGE_LAST_BITS 7u

struct gp_merge_step {
	uint32_t kind; /* enum gp_frame_kind */
	uint32_t origin;
	uint64_t address;
};

/* Of the thread. */
struct gp_merge {
	struct {
		uint64_t pair;            /* 0 = none */
		uint32_t id;              /* what came out */
	} last[1u << GP_MERGE_LAST_BITS]; /* by the pair */
	uint32_t count;
	struct gp_merge_step steps[2 * GP_STACK_DEPTH + 2]; /* innermost first */
};

/* Once.  0 or -ENOMEM. */
int gp_merge_init(void);

/*
 * The tree's id of the stack whose native frames are in `walk` and have the number native, and whose Python frames have the number python
 * (0 = there are none); the trace knows its frames.  GP_NO_NODE: the tree is full.
 */
uint32_t gp_merge_stacks(struct gp_merge *merge, const struct gp_walk *walk, uint64_t native,
			 const struct gp_python_walk *python_walk, uint64_t python);

#endif

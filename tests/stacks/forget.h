/* forget: makes the next walk one without memory. */
#ifndef TESTS_STACKS_FORGET_H
#define TESTS_STACKS_FORGET_H

#include "stacks/walk.h"

static inline void forget_walks(struct gp_walk *walk)
{
	for (uint32_t i = 0; i < GP_WALK_PASTS; i++)
		walk->pasts[i].count = 0;
}

#endif

/* stuck: the marker frame of a walk that stopped without a rule. */
#ifndef TESTS_STACKS_STUCK_H
#define TESTS_STACKS_STUCK_H

#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"
#include "stacks/walk.h"

/* The same frame under the same caller has the same id. */
static inline uint32_t stuck_at_outermost(const struct gp_past *past)
{
	return gp_stack_tree_child(0, GP_FRAME_STUCK, gp_rule_module(past->frames[0].rule),
				   past->frames[0].pc);
}

#endif

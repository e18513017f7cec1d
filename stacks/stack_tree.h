/*
 * stack_tree: ids for call stacks.  A stack is the id of its innermost frame; a frame is a node
 * under its caller's.
 *
 * One tree for all threads, without locks; nodes stay for the life of the process.  Bounded: when
 * it is full, new stacks have no id.  A node becomes a GP_RECORD_FRAME only when a recorded stack
 * needs it.
 */
#ifndef STACKS_STACK_TREE_H
#define STACKS_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * Maximum number of frames of a stack: a longer one keeps the innermost frames and gets a
 * GP_FRAME_CUT outside of them.
 */
#define GP_STACK_DEPTH 512u

/* In place of an id: the tree is full. */
#define GP_NO_NODE UINT32_MAX

/* Once.  0 or -ENOMEM. */
int gp_stack_tree_init(void);

/* For gp_stack_forget(): nothing is known, and the memory is free; init may come again. */
void gp_stack_tree_forget(void);

/*
 * The id of a frame under its caller's.  GP_NO_NODE: the tree is full, or the parent is GP_NO_NODE.
 */
uint32_t gp_stack_tree_child(uint32_t parent, uint32_t kind, uint32_t origin, uint64_t address);

/* A node that is not shared with other stacks. */
uint32_t gp_stack_tree_single(uint32_t parent, uint32_t kind, uint32_t origin, uint64_t address);

/*
 * Emit the unemitted frames of a stack, callers first.  False: the trace lacks some of them,
 * because rings were full.
 */
bool gp_stack_tree_emit(uint32_t id);

/* Whether more than half of the nodes are used: the rest is reserved for stacks of API calls. */
bool gp_stack_tree_is_half_full(void);

#endif

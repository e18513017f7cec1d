/*
 * stacks: the part of a training step that a launch's call stack belongs to, as far as PyTorch's
 * autograd knows it: an operator of the forward pass, a node of the backward pass, or the engine's
 * own work between nodes.
 *
 * The operator is the one whose function in torch::autograd::VariableType is on the stack: there the
 * node is made.  In a PyTorch without symbols it is the outermost operator of a kind that has nodes.
 */
#ifndef REPORT_ANALYSIS_BACKWARD_STACKS_H
#define REPORT_ANALYSIS_BACKWARD_STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/base/group_by.h"
#include "report/model/model.h"
#include "report/symbols/symbols.h"

enum gp_autograd_role {
	GP_AUTOGRAD_NONE,    /* no operator that autograd records */
	GP_AUTOGRAD_FORWARD, /* such an operator */
	/* these are of the backward pass */
	GP_AUTOGRAD_NODE, /* of an operator */
	GP_AUTOGRAD_FIT,  /* a gradient becomes one of its input's shape or type, after a node */
	GP_AUTOGRAD_SUM,  /* the gradients of a tensor with several uses are added */
	GP_AUTOGRAD_PARAMETER, /* a gradient is added to its parameter's */
	GP_AUTOGRAD_OWN,       /* the user's code: a function's backward, or a recomputation */
	GP_AUTOGRAD_COMMUNICATION,
	GP_AUTOGRAD_FUNCTION, /* a library's function in Python, or compiled code */
	GP_AUTOGRAD_ENGINE,   /* other work */
	GP_AUTOGRAD_ROLES
};

struct gp_autograd_stack {
	uint64_t site;    /* of a node: the address of its call that launched */
	uint32_t kind;    /* number of the operator's or node's kind, or GP_NONE */
	uint32_t line;    /* number of the innermost line of the user's, or GP_NONE */
	uint32_t call;    /* of an operator: the frame of its call */
	uint8_t role;     /* enum gp_autograd_role */
	bool has_no_kind; /* an operator's is not known by symbols */
	bool is_read;
};

struct gp_autograd_stacks {
	const struct gp_model *model;
	struct gp_symbols *symbols;
	struct gp_autograd_stack *rows; /* by frame */
	uint8_t *phases;                /* by frame */
	struct gp_groups kinds, lines;  /* only keys */
	bool *has_nodes;                /* by kind */
	uint32_t has_nodes_count, has_nodes_capacity;
};

/* Whether a stack may have anything of autograd: false for programs without PyTorch. */
bool gp_autograd_is_used(const struct gp_model *model);

/* The model must outlive it. Call gp_autograd_stacks_close(). */
void gp_autograd_stacks_open(struct gp_autograd_stacks *stacks, const struct gp_model *model);
void gp_autograd_stacks_close(struct gp_autograd_stacks *stacks);

/* Of a stack, an index in frames. */
const struct gp_autograd_stack *gp_autograd_stack_of(struct gp_autograd_stacks *stacks,
						     uint32_t stack);

/* After all stacks were read: the kinds of operators without symbols. */
void gp_autograd_stacks_finish(struct gp_autograd_stacks *stacks);

static inline bool gp_autograd_is_backward(enum gp_autograd_role role)
{
	return role >= GP_AUTOGRAD_NODE;
}

/* The number of a kind; GP_NONE: no stack has it. */
uint32_t gp_autograd_kind(const struct gp_autograd_stacks *stacks, const char *kind);

#endif

/*
 * backward: the line of the model that each launch of PyTorch's backward pass belongs to.
 *
 * The engine's thread has no function of the user's on its stack.  But the nodes that it runs are
 * those of the operators of the forward pass, in reverse (match.h).  The work between nodes belongs
 * to its neighbors:
 *
 *   a gradient that is summed to its input's shape, or converted: to the one operator there that
 *     takes inputs of several shapes; this is certain
 *   the sum of the gradients of a tensor with several uses: likely to the use whose node came last
 *   a gradient that is added to its parameter's: likely to the operator before
 *   a node whose operator launches nothing forward, such as a view's: likely to the line of both its
 *     neighbors, if that is one
 *
 * A line is certain if the stacks of the node and of all operators that it may belong to were
 * recorded, in this step or in one with the same launches.  If it may be one of several lines, or
 * anything contradicts the order, none is given.
 */
#ifndef REPORT_ANALYSIS_BACKWARD_BACKWARD_H
#define REPORT_ANALYSIS_BACKWARD_BACKWARD_H

#include <stdint.h>

#include "report/model/model.h"

enum gp_backward_answer {
	GP_BACKWARD_NOT, /* the launch is not of a backward pass */
	GP_BACKWARD_CERTAIN,
	GP_BACKWARD_LIKELY,
	/* these have no line: it may be one of several */
	GP_BACKWARD_SEVERAL,
	GP_BACKWARD_WITHOUT_OPERATOR, /* its operator launches nothing in the forward pass */
	GP_BACKWARD_COMMUNICATION,
	GP_BACKWARD_FUNCTION, /* compiled code, or a library's function in Python */
	GP_BACKWARD_UNMATCHED,
	GP_BACKWARD_ANSWERS
};

/* By index in calls; NULL: there is no backward pass. */
struct gp_backward {
	/*
	 * index in frames: the stack of a launch of the operator in the forward pass; of the user's
	 * own code in the backward pass, its own; of another launch whose stack is estimated, the
	 * one that was recorded in a step with the same launches; GP_NONE = there is none
	 */
	uint32_t *stacks;
	uint8_t *answers; /* enum gp_backward_answer */
};

/* Call gp_backward_free(). */
void gp_backward_of(struct gp_backward *backward, const struct gp_model *model);
void gp_backward_free(struct gp_backward *backward);

/* Of a call of the model, or NULL; its stack above, or GP_NONE. */
enum gp_backward_answer gp_backward_answer_of(const struct gp_backward *backward,
					      const struct gp_model *model,
					      const struct gp_call *call, uint32_t *stack);

/* Why there is no line: "one of several lines"; "" if there is one. */
const char *gp_backward_reason(enum gp_backward_answer answer);

#endif

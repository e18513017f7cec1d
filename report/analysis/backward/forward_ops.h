/*
 * forward_ops: the operators of forward passes, and those that the nodes of a backward pass belong
 * to.
 *
 * There are two views of a forward pass.  In the strict one, each launch is an operator of its own,
 * but for the second kernel of a product in parts: so there are too many rather than too few.  In the
 * natural one, launches of different kernels from one call are one operator.
 */
#ifndef REPORT_ANALYSIS_BACKWARD_FORWARD_OPS_H
#define REPORT_ANALYSIS_BACKWARD_FORWARD_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/backward/match.h"
#include "report/analysis/backward/runs.h"

/* Different kernels of one operator that are told apart. */
#define GP_KERNELS_OF_OP 16u

enum gp_forward_view { GP_VIEW_STRICT, GP_VIEW_NATURAL, GP_VIEWS };

struct gp_forward_ops {
	struct gp_forward_op *rows;
	uint32_t count, capacity;
	uint32_t unknown;
	/* by index: for gp_match_has_line(), and the number of unknown ones before */
	uint32_t *run_ends, *next, *unknown_before;
	bool is_matched;
	struct gp_match *matches; /* by node */
	/* of the last one */
	uint32_t call, kernels[GP_KERNELS_OF_OP], kernel_count;
};

struct gp_forward {
	struct gp_autograd_stacks *stacks;
	const struct gp_launch_runs *runs;
	const uint32_t *kinds; /* of the nodes, in the order of the backward pass */
	uint32_t node_count;
	struct gp_forward_ops views[GP_VIEWS];
	uint32_t thread_id; /* that launches them */
	uint32_t *scratch;  /* by kind */
};

/* Kinds have lower numbers; this one less is that of an operator whose kind is not known. */
static inline uint32_t gp_forward_kinds(const struct gp_forward *forward)
{
	return forward->stacks->kinds.count + 1;
}

/*
 * Match the nodes of a run's backward pass with the operators of its forward pass.  Where it lacks
 * any, those of the runs before it count, too: several backward passes may share them.  With members
 * up to node_count set; no view is matched if the order is not known.  Free it with
 * gp_forward_free().
 */
void gp_forward_search(struct gp_forward *forward, uint32_t run);
void gp_forward_free(struct gp_forward *forward);

#endif

/* pass: the lines of the launches of one run's backward pass. */
#ifndef REPORT_ANALYSIS_BACKWARD_PASS_H
#define REPORT_ANALYSIS_BACKWARD_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/backward/backward.h"
#include "report/analysis/backward/runs.h"
#include "report/analysis/backward/stacks.h"

/* What is known of kinds, by number. */
struct gp_kind_traits {
	bool is_forward;  /* the forward pass has operators of the kind that launch */
	bool fits_shapes; /* takes inputs of several shapes or types */
};

struct gp_backward_line {
	uint32_t stack;  /* as in gp_backward */
	uint32_t answer; /* enum gp_backward_answer */
};

struct gp_pass_context {
	struct gp_autograd_stacks *stacks;
	const struct gp_launch_runs *runs;
	const struct gp_kind_traits *traits; /* by kind, and one more for no kind */
};

/*
 * Of the launches of a run's backward pass, in their order.  Where its forward pass lacks
 * operators, those of the runs before it count, too: several backward passes may share them.
 */
void gp_pass_lines(const struct gp_pass_context *context, uint32_t run,
		   struct gp_backward_line *lines);

#endif

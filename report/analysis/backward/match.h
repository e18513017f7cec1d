/*
 * match: which operator of a forward pass made each node of its backward pass.
 *
 * The engine of autograd runs the nodes of a device in the reverse of the order in which the forward
 * pass made them.  So the nodes, in reverse, are a subsequence of the operators of their kinds: not
 * all of those make a node that launches something.  The last places that all nodes can have
 * together, and the first ones, bound the place of each: between the two lies the operator that made
 * it.  If all operators of its kind there are of one line, this is its line.
 */
#ifndef REPORT_ANALYSIS_BACKWARD_MATCH_H
#define REPORT_ANALYSIS_BACKWARD_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* An operator of the forward pass. */
struct gp_forward_op {
	uint32_t kind, line; /* equal numbers: the same one */
	uint32_t stack;      /* index in the model's frames */
	/* its kind and line were recorded; else they are estimated, and may be any others */
	bool is_known;
};

/* The first and last operator that a node may belong to. */
struct gp_match {
	uint32_t first, last;
};

/*
 * Of the nodes in the order of the backward pass, by kind.  any_unknown: an operator that is not
 * known may be of any kind.  False: there are no such places.
 */
bool gp_match_nodes(const struct gp_forward_op *ops, uint32_t op_count, bool any_unknown,
		    const uint32_t *kinds, uint32_t node_count, struct gp_match *matches);

/*
 * For each operator, the last one of those that follow it with its kind, and of them all with its
 * line: for gp_match_has_line().
 */
void gp_match_find_runs(const struct gp_forward_op *ops, uint32_t op_count, uint32_t kind_count,
			uint32_t *last_of_kind, uint32_t *run_ends, uint32_t *next);

/* Whether all operators of its kind that a node may belong to are of the first one's line. */
bool gp_match_has_line(const struct gp_match *match, const uint32_t *run_ends,
		       const uint32_t *next);

#endif

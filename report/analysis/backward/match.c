#include "report/analysis/backward/match.h"

#include "report/model/model.h"

static bool fits(const struct gp_forward_op *op, uint32_t kind, bool any_unknown)
{
	return op->kind == kind || (any_unknown && !op->is_known);
}

bool gp_match_nodes(const struct gp_forward_op *ops, uint32_t op_count, bool any_unknown,
		    const uint32_t *kinds, uint32_t node_count, struct gp_match *matches)
{
	uint32_t at = op_count;

	for (uint32_t i = 0; i < node_count; i++) {
		do {
			if (at-- == 0)
				return false;
		} while (!fits(&ops[at], kinds[i], any_unknown));
		matches[i].last = at;
	}
	at = 0;
	for (uint32_t i = node_count; i-- > 0; at++) {
		while (!fits(&ops[at], kinds[i], any_unknown))
			at++;
		matches[i].first = at;
	}
	return true;
}

void gp_match_find_runs(const struct gp_forward_op *ops, uint32_t op_count, uint32_t kind_count,
			uint32_t *last_of_kind, uint32_t *run_ends, uint32_t *next)
{
	for (uint32_t i = 0; i < kind_count; i++)
		last_of_kind[i] = GP_NONE;
	for (uint32_t i = op_count; i-- > 0;) {
		uint32_t follower = last_of_kind[ops[i].kind];

		next[i] = follower;
		run_ends[i] = follower != GP_NONE && ops[follower].line == ops[i].line
				      ? run_ends[follower]
				      : i;
		last_of_kind[ops[i].kind] = i;
	}
}

bool gp_match_has_line(const struct gp_match *match, const uint32_t *run_ends, const uint32_t *next)
{
	uint32_t other = next[run_ends[match->first]];

	return other == GP_NONE || other > match->last;
}

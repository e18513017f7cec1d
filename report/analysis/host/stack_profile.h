/*
 * stack_profile: the cost of the processes' calls by call stack: GPU time, time in the API, memory.
 *
 * A call tree (report/symbols/call_tree.h) that goes on below the program's functions: with the API
 * function, and with the GPU's operation. Kernels of a graph stand below the captured call, if the
 * trace knows it.
 */
#ifndef REPORT_ANALYSIS_HOST_STACK_PROFILE_H
#define REPORT_ANALYSIS_HOST_STACK_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/analysis/host/host_place.h"
#include "report/symbols/call_tree.h"
#include "report/model/slice_filter.h"
#include "report/model/stack_metric.h"
#include "report/model/model.h"
#include "report/symbols/names.h"

#define GP_RECENT_LEAVES 1024u

struct gp_stack_profile {
	struct gp_call_tree tree;
	uint64_t (*values)[GP_STACK_METRICS];     /* of each node itself, without its callees */
	uint64_t totals[GP_STACK_METRICS];        /* of all nodes */
	uint64_t without_stack[GP_STACK_METRICS]; /* of these, of calls that have no stack */
	struct gp_stack_estimate estimate;        /* of all processes */
	bool is_of_parts; /* of a recording with --stacks=sample, whose parts have no estimates */
	const char *recorder; /* of a process that gpuprof did not record; NULL = there is none */
	uint64_t start_unix_ns,
		end_unix_ns; /* from the first process's beginning to the last one's end */
	uint32_t capacity;
	/* The part whose calls, operations and allocations are added; fill in before. */
	struct gp_slice_choice choice;
	struct gp_names *names;        /* of kernels */
	struct gp_host_places *places; /* of samples; NULL before the first one */
	bool full_names;
	uint32_t leaves[GP_RECENT_LEAVES]; /* nodes that were found last, by parent and name */
};

/* with_lines as for gp_call_tree_open().  Returns 0 or -ENOMEM; to be closed in either case. */
int gp_stack_profile_open(struct gp_stack_profile *profile, bool with_lines, bool full_names);
void gp_stack_profile_close(struct gp_stack_profile *profile);

/* Add a process, which may be freed after that.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_stack_profile_add(struct gp_stack_profile *profile, const struct gp_model *model);

/*
 * The node of a call that is in the profile, or of calls without a stack where call is NULL; the
 * profile's tree uses the model.
 */
uint32_t gp_stack_profile_call(struct gp_stack_profile *profile, const struct gp_model *model,
			       const struct gp_call *call);

/*
 * The same inverted: operations at the roots, their callers below; each value is at its outermost
 * caller. Returns 0, -ENOMEM or -EOVERFLOW; close `inverted` in either case.
 */
int gp_stack_profile_invert(const struct gp_stack_profile *profile, enum gp_stack_metric value,
			    struct gp_stack_profile *inverted);

/* Of a node itself. */
static inline uint64_t gp_stack_profile_value(const struct gp_stack_profile *profile, uint32_t node,
					      enum gp_stack_metric measure)
{
	return node < profile->capacity ? profile->values[node][measure] : 0;
}

/*
 * A line for the user, if there is something to say: that a measure is nothing, or that its calls
 * have no stacks, and how to get some, or estimated ones; and which modules' functions have no
 * names.
 */
void gp_stack_profile_explain(const struct gp_stack_profile *profile, enum gp_stack_metric measure,
			      FILE *out);

#endif

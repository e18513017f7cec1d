/*
 * critical_path: the chain of causes of a process, from its last call or operation back to its
 * first.
 *
 * An operation waits for the one before it in its stream or for its launch; a launch for its
 * thread's steps before; a call that waits, for the operation that ended in it. Time before a
 * thread's first call is the main thread's, and if that was in no call for the whole life of other
 * threads, it waited for the last of them. Steps on this path determine the length of the run;
 * other steps might take longer without an effect.
 *
 * Records do not say for which event an operation waited. If it began long after its launch and the
 * end of the one before it, it is taken to have waited for the operation of another stream that
 * ended just then.
 */
#ifndef REPORT_ANALYSIS_IDLE_CRITICAL_PATH_H
#define REPORT_ANALYSIS_IDLE_CRITICAL_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"

enum gp_path_kind {
	GP_PATH_OPERATION,
	GP_PATH_CALL, /* a thread was in it */
	GP_PATH_HOST, /* a thread was in no call: index is the call that it made next, or GP_NONE */
	/* the same, while other threads made calls: no record says whether it waited for them */
	GP_PATH_BESIDE,
	GP_PATH_LAUNCH, /* from the end of the call to the operation's start */
	GP_PATH_STEP,   /* from the end of another operation to this one's start */
};

/* Steps touch each other: each ends where the one before it, which is later, began. */
struct gp_path_step {
	uint64_t start_ns, end_ns;
	uint32_t index; /* of the operation or call; GP_NONE: of none */
	uint8_t kind;
};

/* Whether the step is about an operation, not a call. */
static inline bool gp_path_is_of_op(const struct gp_path_step *step)
{
	return step->kind == GP_PATH_OPERATION || step->kind == GP_PATH_LAUNCH ||
	       step->kind == GP_PATH_STEP;
}

/* The last one first.  Free steps. */
struct gp_path {
	struct gp_path_step *steps;
	uint32_t count, capacity;
};

/* Returns 0, -ENOMEM or -EOVERFLOW; gp_path_free() in either case. */
int gp_path_of(struct gp_path *path, const struct gp_model *model);
void gp_path_free(struct gp_path *path);

#endif

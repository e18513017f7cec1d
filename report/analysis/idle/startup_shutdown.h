/*
 * startup_shutdown: the time of a process before its first GPU operation and after its last one,
 * and its known parts: making contexts, ending them, loading code, allocating and freeing memory,
 * and NCCL, whose functions are ranges of the domain "NCCL".
 *
 * These are one-time costs: a large part of a short run is small in a long one.
 */
#ifndef REPORT_ANALYSIS_IDLE_STARTUP_SHUTDOWN_H
#define REPORT_ANALYSIS_IDLE_STARTUP_SHUTDOWN_H

#include <stdint.h>

#include "report/model/model.h"

/* Time that is of several is of the first of them. */
enum gp_end_part {
	GP_END_NCCL,
	GP_END_CONTEXT,
	GP_END_NO_CONTEXT,
	GP_END_CODE,
	GP_END_MEMORY,
	GP_END_FREE,
	GP_END_PARTS
};

/* From a process's beginning to its first call: less is usual. */
#define GP_LEAST_BEFORE_NS 500000000u

struct gp_end {
	uint64_t start_ns;              /* on the model's timeline */
	uint64_t ns;                    /* before the first operation, or after the last */
	uint64_t part_ns[GP_END_PARTS]; /* of that; the rest is not known */
	uint64_t own_ns;                /* of the rest, in no call of any thread */
	const char *nccl;               /* the range of NCCL's with most of it; NULL = none */
	const struct gp_call *ending;   /* that ended contexts, the longest; NULL = none */
};

struct gp_startup_shutdown {
	/* from the process's beginning to its first call, to 10 ms; 0 = not known */
	uint64_t before_ns;
	/*
	 * from the first call to the first operation's start; 0 where only the last part was kept,
	 * or a part cannot be read
	 */
	struct gp_end first;
	/* from the last operation's end to the last call's; 0 where operations may be missing */
	struct gp_end last;
	/* of a process that had no operation for sure, from the first call to the last; else 0 */
	struct gp_end whole;
	/* Wherever they lie: while NCCL made communicators, and while it ended them. */
	uint64_t nccl_make_ns, nccl_end_ns;
	const char *nccl_make; /* the range with most of it; NULL = none */
	uint32_t nccl_made;    /* calls that made communicators */
	/*
	 * of the calls, or groups of calls, of 1 ms and more that made some, the shortest; 0 =
	 * there was one at most
	 */
	uint64_t nccl_least_ns;
	/*
	 * on the model's timeline, when NCCL was first used after it had made the last of them;
	 * that of the last call = never
	 */
	uint64_t nccl_use_ns;
};

/*
 * All 0 but whole of a process that had no timed operation; all 0 where only parts were recorded.
 */
void gp_startup_shutdown_of(struct gp_startup_shutdown *ends, const struct gp_model *model);

/*
 * "NCCL", "making contexts", "ending contexts", "loading code", "allocating memory", "freeing
 * memory"
 */
const char *gp_end_part_name(enum gp_end_part part);

#endif

/* limits: the limits that several rules share (struct gp_limit). */
#ifndef REPORT_ADVICE_RULES_LIMITS_H
#define REPORT_ADVICE_RULES_LIMITS_H

#include "report/advice/advice.h"

#define GP_SHARED_LIMITS(LIMIT)                                                                    \
	LIMIT(GP_LOOP_ITERATIONS, 8, COUNT,                                                        \
	      "a loop with fewer is mostly first and last iteration")                              \
	LIMIT(GP_SAMPLE_ITERATIONS, 3, COUNT, "a torch.profiler trace has a few steps of many")    \
	LIMIT(GP_SAMPLE_PART, 10, COUNT, "of a threshold: enough in such a trace")                 \
	LIMIT(GP_LOOP_PART, 20, COUNT, "a main loop counts as at least this part of the run")      \
	LIMIT(GP_RUN_PART, 400, COUNT, "a smaller part is not worth a change of the loop")         \
	LIMIT(GP_RETURN_NS, 50000, NS, "a wait returns sooner; the rest is preemption")            \
	LIMIT(GP_USUAL_GAPS, 10, COUNT, "a gap of more than this many medians is an exception")    \
	LIMIT(GP_SPOT_SAMPLES, 5, COUNT, "fewer samples do not show a line")                       \
	LIMIT(GP_SHARE_SAMPLES, 10, COUNT, "fewer samples show a place, but not its share")        \
	LIMIT(GP_NAMED_FUNCTIONS, 3, COUNT, "a sentence with more is hard to read")                \
	LIMIT(GP_NAMED_PART, 20, COUNT, "less of the largest share is not worth naming")           \
	LIMIT(GP_OTHER_PART, 4, COUNT, "less of another thread does not block this one")           \
	LIMIT(GP_COMPILER_PART, 5, COUNT, "a compiler with less of the time is not its cause")     \
	LIMIT(GP_HOST_PERCENT, 10, PERCENT, "less of a gap is not worth naming")                   \
	LIMIT(GP_WHOLE_SHARE, 230, COUNT, "of 255: nearly all of a gap has one cause")             \
	LIMIT(GP_NEW_CODE_NS, 10000000, NS, "a library compiles for no shorter time")              \
	LIMIT(GP_NEW_CODE_PART, 10, COUNT, "of the steps: in fewer, code is loaded for once")      \
	LIMIT(GP_LOOK_BACK, 1000, COUNT, "calls back to the last one with a stack")                \
	LIMIT(GP_BATCH_CALLS, 64, COUNT, "calls that one step of a program makes at most")         \
	LIMIT(GP_CALLED_PART, 10, COUNT,                                                           \
	      "a function or place with less of the time is not its cause")                        \
	LIMIT(GP_LOOP_CALLS, 16, COUNT, "calls of one site, function and thread are a loop")       \
	LIMIT(GP_STAGED_BYTES, 65536, BYTES, "the driver sends up to this with the command")       \
	LIMIT(GP_RESULT_BYTES, 4096, BYTES, "a copy of less takes as long as one of a byte")       \
	LIMIT(GP_BLOCKING_NS, 20000, NS, "a call that only enqueues a copy is shorter")            \
	LIMIT(GP_ENOUGH_PERCENT, 50, PERCENT,                                                      \
	      "of an SM's threads: most kernels gain nothing from more")                           \
	LIMIT(GP_OPERATION_GAP_NS, 1000, NS,                                                       \
	      "always lies between two operations, even in a graph")                               \
	LIMIT(GP_CONTEXT_GIB, 2, COUNT, "GiB of a context and its code; an H200 needs 0.5 to 1.5") \
	LIMIT(GP_OWN_TIME_NS, 100000000, NS, "a shorter start or end is usual")                    \
	LIMIT(GP_OWN_TIME_PART, 5, COUNT, "less of a start or end is not its cause")               \
	LIMIT(GP_OWN_PIECE_PART, 10, COUNT, "a shorter piece is one of many, not a place")         \
	LIMIT(GP_GROWTH_ITERATIONS, 20, COUNT, "a cache is full sooner")                           \
	LIMIT(GP_ONCE_BLOCKS, 16, COUNT, "this many with no launch in between are model weights")  \
	LIMIT(GP_PLACES_NAMED, 3, COUNT, "places of launches in a sentence")                       \
	LIMIT(GP_UNTOLD_PART, 4, COUNT, "less of the time without a finding needs no explanation") \
	LIMIT(GP_UNTOLD_NS, 20000000, NS, "the same")                                              \
	LIMIT(GP_MANAGED_BYTES, 1048576, BYTES, "less managed memory cannot migrate for long")

enum { GP_SHARED_LIMITS(GP_LIMIT_VALUE) };
extern const struct gp_limit gp_shared_limits[];

#endif

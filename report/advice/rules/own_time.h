/*
 * own_time: what a program did for itself at its start or its end, as the rules of these tell it:
 * the time in which no thread was in a call of CUDA.
 */
#ifndef REPORT_ADVICE_RULES_OWN_TIME_H
#define REPORT_ADVICE_RULES_OWN_TIME_H

#include <stdbool.h>
#include <stdio.h>

#include "report/analysis/idle/startup_shutdown.h"
#include "report/advice/rules/advisor.h"

struct gp_own_time {
	uint64_t ns, whole_ns; /* of that much */
	uint64_t calls;        /* the text of the calls around most of it */
	bool has_looks;        /* Python's part of it is known */
};

/*
 * From then until the start of the last call that began by to_ns, in that start or end of the
 * present process.  False: it is less than a fifth of that, without what NCCL took, or short.
 */
bool gp_own_time_find(struct gp_advisor *advisor, const struct gp_end *end, uint64_t from_ns,
		      uint64_t to_ns, struct gp_own_time *own);

/* The case of what was found, with what looks at that thread's Python say of it. */
void gp_own_time_put(struct gp_advisor *advisor, struct gp_case *found, const struct gp_end *end,
		     uint32_t thread, struct gp_own_time *own);

/*
 * "until the first operation, for 400.0ms of 402.0ms, the program was in no recorded call of CUDA;
 * ...", with these words for "until the first".
 */
void gp_own_time_tell(const struct gp_advisor *advisor, const struct gp_case *found,
		      const struct gp_own_time *own, const char *when, FILE *out);

#endif

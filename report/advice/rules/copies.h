/* copies: what the rules on copies between host and device ask of them. */
#ifndef REPORT_ADVICE_RULES_COPIES_H
#define REPORT_ADVICE_RULES_COPIES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

/*
 * The copy that a call made between host and device; NULL = it made none, or none that has times.
 */
const struct gp_op *gp_host_copy(const struct gp_advisor *advisor, const struct gp_call *call);

bool gp_copy_is_pageable(const struct gp_op *op);

/* For how long the GPU was at work during the call before the copy began. */
uint64_t gp_copy_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call,
			   const struct gp_op *op);

/*
 * Whether the call held up the host mostly by that: it took much longer than to put a copy into a
 * stream.  Not an asynchronous one of pageable memory to the device: page-locking is what helps it.
 */
bool gp_copy_waits_for_others(const struct gp_advisor *advisor, const struct gp_call *call,
			      const struct gp_op *op);

/* The case of that place and direction, which is its detail: CUPTI's kind of copy. */
struct gp_case *gp_copy_case(struct gp_advisor *advisor, const struct gp_call *call,
			     const struct gp_op *op);

/* What such a rule keeps of a case. */
struct gp_copies {
	uint64_t pageable;           /* copies from or to such memory */
	uint64_t most_ns;            /* that a call takes for its copy, and no more */
	uint64_t copied_ns, peak_ns; /* what they took, and at their peak had */
	uint64_t without_peak;       /* copies whose peak is not known */
	uint64_t first_ns, last_ns;  /* from the first one's call to the end of the last one's */
};

/*
 * Gather the copies that the filter takes, are not staged, and do not wait for others, in cases:
 * the time in the call; of that could be saved what it did not wait, and what the GPU had to wait
 * then. Of a call that is far slower than most of its case only so much as they took; of calls of
 * several threads at the same time, that time once.
 */
typedef bool gp_copy_filter(const struct gp_op *op);
void gp_copies_look(struct gp_advisor *advisor, gp_copy_filter *filter);

/*
 * Whether they are of so few bytes, on average, that they take as long as one of a byte: no rate
 * tells anything of them.
 */
bool gp_copies_are_results(const struct gp_case *found);

/* Writes what helps where the host waits for results. */
void gp_copies_advise_less(const struct gp_advisor *advisor, const struct gp_case *found,
			   FILE *out);

/*
 * "; 19.4 GB/s, 30.8 % of the link's peak", as far as it is known, of a case that was gathered so.
 */
void gp_copies_tell_rate(const struct gp_case *found, FILE *out);

#endif

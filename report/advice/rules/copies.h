/* copies: copies between host and device, for the rules that are about them. */
#ifndef REPORT_ADVICE_RULES_COPIES_H
#define REPORT_ADVICE_RULES_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/advice/rules/advisor.h"

/* The copy of a call between host and device; NULL: it made none, or none with times. */
const struct gp_op *gp_host_copy(const struct gp_advisor *advisor, const struct gp_call *call);

bool gp_copy_is_pageable(const struct gp_op *op);

/* How long the GPU was busy during the call before the copy began. */
uint64_t gp_copy_waited_ns(const struct gp_advisor *advisor, const struct gp_call *call,
			   const struct gp_op *op);

/*
 * Whether the call blocked the host mostly for other work, and much longer than it takes to enqueue
 * a copy.  Not an asynchronous copy of pageable memory to the device: page-locking helps there.
 */
bool gp_copy_waits_for_others(const struct gp_advisor *advisor, const struct gp_call *call,
			      const struct gp_op *op);

/* The case of that call site and CUPTI's kind of copy, which is its detail. */
struct gp_case *gp_copy_case(struct gp_advisor *advisor, const struct gp_call *call,
			     const struct gp_op *op);

struct gp_copies {
	uint64_t pageable;           /* the copies from or to pageable memory */
	uint64_t most_ns;            /* the longest time of a call that counts */
	uint64_t copied_ns, peak_ns; /* of the copies, and at the peak of their links */
	uint64_t without_peak;       /* the copies whose peak is unknown */
	uint64_t first_ns, last_ns;  /* from the first call to the end of the last one */
	bool both_ways;              /* about as many copies of their size go the other way */
};

/*
 * Make the cases of the copies that the filter takes and that are neither staged nor waiting for
 * other work.  The saving is the time of the calls without their waits, each moment of overlapping
 * calls once, and the GPU's idle time after them.
 */
typedef bool gp_copy_filter(const struct gp_op *op);
void gp_copies_look(struct gp_advisor *advisor, gp_copy_filter *filter);

/* Whether the copies are so small on average that their rate says nothing. */
bool gp_copies_are_results(const struct gp_case *found);

/* copy_kind, pageable_count, is_all_pageable, is_result, gb_per_s and peak_percent. */
void gp_copies_add_values(const struct gp_advisor *advisor, const struct gp_case *found,
			  struct gp_document *values);
#define GP_COPIES_RATE "[; these at {gb_per_s} GB/s[, {peak_percent} % of the link's peak]]"

/* A change for a host that waits for results. */
/* clang-format off */
#define GP_READ_LESS \
	"[{?language=torch}read results (.item(), .cpu(), print) less often, or copy them with .to(\"cpu\", non_blocking=True) and read them an iteration later" \
	"|{?language=jax}read results (float(), numpy.asarray(), print) less often, or those of the previous iteration (copy_to_host_async())" \
	"|{?language=cupy}read results (.get(), float(), print) less often, or with .get(out=..., blocking=False) an iteration later" \
	"|{?language=python}read results less often, or copy them without a wait and read them an iteration later" \
	"|read results less often, or copy them with cudaMemcpyAsync to page-locked memory (cudaMallocHost) and read them an iteration later]"
/* clang-format on */

#endif

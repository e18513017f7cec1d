/*
 * host_work: what threads of Python's did, by the times that looks at them stand for (report/host_looks.h), gathered by function
 * (report/host_place.h).
 */
#ifndef REPORT_HOST_WORK_H
#define REPORT_HOST_WORK_H

#include <stdio.h>

#include "report/breakdown_scope.h"
#include "report/host_place.h"
#include "report/tally.h"

/* The places of a scope, made when they are first asked for; NULL: there is no memory. */
struct gp_host_places *gp_host_places_in(struct gp_scope *scope);

/*
 * Add to a sum, which has any number that the caller likes, what a thread did from start_ns to end_ns on the model's timeline; what the main thread
 * did, where there is no look at that one then: *thread becomes that one.  False: nothing is known.  tally->error tells of errors.
 */
bool gp_host_work_add(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
		      const struct gp_model *model, uint32_t *thread, uint64_t start_ns,
		      uint64_t end_ns);

/* The same of what all other threads did, each by itself, for gp_host_work_busiest(). */
void gp_host_work_add_others(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);

/*
 * The same of the looks alone that fell into that time, GP_HOST_LOOK ns for each: from times that are short, as those of calls, nothing is to be said
 * by what was seen before or after.
 */
#define GP_HOST_LOOK 1000000u
void gp_host_work_add_within(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);

/* The same of all looks at all threads of a model. */
void gp_host_work_add_all(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model);

/* How many looks there were, and how many of them found no stack, or its outer functions alone. */
struct gp_host_looks {
	uint64_t all, lost, outside;
};
void gp_host_work_add_looks(struct gp_host_looks *looks, const struct gp_model *model);

/* Whether those are so many that who reads the sums has to know. */
bool gp_host_work_is_much(uint64_t looks, const struct gp_host_looks *of);

/* A function's part of a sum. */
struct gp_host_function {
	uint64_t total_ns, looks;
	uint64_t
		stayed_ns; /* between looks that found the very same instruction: it was in one call, or waits */
	uint32_t place; /* with most of the time, for gp_host_places_at() */
	uint64_t place_ns;
};

/* Whether it stayed so for nearly all of its time: what runs in Python itself moves on from look to look. */
bool gp_host_function_stays(const struct gp_host_function *function);

/* The functions of a sum, those with most time first; no memory: NULL.  Free it. */
struct gp_host_function *gp_host_work_functions(const struct gp_tally *tally, uint64_t sum,
						const struct gp_host_places *places,
						uint32_t *count);

/*
 * Of gp_host_work_add_others(): what the thread did most that did most at all, where waiting is nothing.  Returns how many threads did anything;
 * 0: there is none, or no memory.
 */
uint32_t gp_host_work_busiest(const struct gp_tally *tally, uint64_t sum,
			      const struct gp_host_places *places,
			      struct gp_host_function *function);

/*
 * "in load (data.py:7)", "in raw_decode (json/decoder.py) < load (data.py:7)", "importing torch._dynamo at <module> (train.py:4)": a library's
 * function, where most of the time was there.
 */
void gp_host_function_print(FILE *out, const struct gp_host_places *places,
			    const struct gp_host_function *function);

#endif

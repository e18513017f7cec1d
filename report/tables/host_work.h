/*
 * host_work: what threads of Python's did, by the times that looks at them stand for
 * (report/analysis/host/python_samples.h), gathered by function
 * (report/analysis/host/host_place.h).
 */
#ifndef REPORT_TABLES_HOST_WORK_H
#define REPORT_TABLES_HOST_WORK_H

#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/analysis/host/host_place.h"
#include "report/base/tally.h"

/* The places of a scope, made when they are first asked for; NULL: there is no memory. */
struct gp_host_places *gp_host_places_in(struct gp_scope *scope);

/*
 * Add to a sum, which has any number that the caller likes, what a thread did from start_ns to
 * end_ns on the model's timeline; what the main thread did, where there is no look at that one
 * then: *thread becomes that one.  False: nothing is known.  tally->error tells of errors.
 */
bool gp_host_work_add(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
		      const struct gp_model *model, uint32_t *thread, uint64_t start_ns,
		      uint64_t end_ns);

/* The same of that thread alone. */
bool gp_host_work_add_of(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			 const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			 uint64_t end_ns);

/*
 * The same without the looks that fell into a recorded call of the thread: what it did then is that
 * call's.
 */
bool gp_host_work_add_own(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			  uint64_t end_ns);

/* The same of what all other threads did, each by itself, for gp_host_work_busiest(). */
void gp_host_work_add_others(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);

/*
 * The same of the looks alone that fell into that time, GP_PYTHON_SAMPLE ns for each: from times
 * that are short, as those of calls, nothing is to be said by what was seen before or after.
 */
#define GP_PYTHON_SAMPLE 1000000u
bool gp_host_work_add_within(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			     const struct gp_model *model, uint32_t thread, uint64_t start_ns,
			     uint64_t end_ns);
void gp_host_work_add_others_within(struct gp_tally *tally, uint64_t sum,
				    struct gp_host_places *places, const struct gp_model *model,
				    uint32_t thread, uint64_t start_ns, uint64_t end_ns);

/* Whether there was any look at that thread. */
bool gp_host_work_knows(const struct gp_model *model, uint32_t thread);

/* The same of all looks at all threads of a model. */
void gp_host_work_add_all(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model);

/* How many looks there were, and how many of them found no stack, or its outer functions alone. */
struct gp_python_samples {
	uint64_t all, lost, outside;
};
void gp_host_work_add_looks(struct gp_python_samples *looks, const struct gp_model *model);

/* Whether those are so many that who reads the sums has to know. */
bool gp_host_work_is_much(uint64_t looks, const struct gp_python_samples *of);

/* A function's part of a sum, or that of one line of it. */
struct gp_host_function {
	uint64_t total_ns, looks;
	/* between looks that found the very same instruction: it was in one call, or waits */
	uint64_t stayed_ns;
	uint64_t line_ns; /* of the line of the user's with most of the time ... */
	uint32_t place;   /* ... and what of it has most, for gp_host_places_at() */
	uint64_t place_ns;
};

/*
 * Whether it stayed so for nearly all of its time: what runs in Python itself moves on from look to
 * look.
 */
bool gp_host_function_stays(const struct gp_host_function *function);

/*
 * Whether one of the user's lines has so much of its time, half or more, that the line is named;
 * and that a library's function has, in that line.
 */
bool gp_host_function_has_line(const struct gp_host_function *function);
bool gp_host_function_has_what(const struct gp_host_function *function,
			       const struct gp_host_place *place);

/*
 * The functions of a sum, or each line of them by itself, those with most time first; no memory:
 * NULL.  Free it.
 */
struct gp_host_function *gp_host_work_functions(const struct gp_tally *tally, uint64_t sum,
						const struct gp_host_places *places,
						uint32_t *count);
struct gp_host_function *gp_host_work_lines(const struct gp_tally *tally, uint64_t sum,
					    const struct gp_host_places *places, uint32_t *count);

/*
 * The user's line that has half of a sum or more, whatever was done there; else the function of the
 * user's that has.  text "": none has, or there is no memory.
 */
struct gp_host_spot {
	const char *text; /* "load (data.py:7)", "load (data.py)" */
	bool is_line;
	uint64_t ns, all_ns; /* of it, and of the sum */
};
struct gp_host_spot gp_host_work_spot(const struct gp_tally *tally, uint64_t sum,
				      const struct gp_host_places *places);

/*
 * Of gp_host_work_add_others(): what the thread did most that did most at all, where waiting is
 * nothing.  Returns how many threads did anything; 0: there is none, or no memory.
 */
uint32_t gp_host_work_busiest(const struct gp_tally *tally, uint64_t sum,
			      const struct gp_host_places *places,
			      struct gp_host_function *function);

/*
 * "in load (data.py:7)", "in raw_decode (json/decoder.py) < load (data.py:7)", "importing
 * torch._dynamo at <module> (train.py:4)": a library's function, and a line, where most of the time
 * was there; else "in load (data.py)".  And the same with its time, which is that of the line where
 * one is named: "in load (data.py:7) for 1.2s (1.9s with other lines)".
 */
void gp_host_function_print(FILE *out, const struct gp_host_places *places,
			    const struct gp_host_function *function);
void gp_host_function_print_time(FILE *out, const struct gp_host_places *places,
				 const struct gp_host_function *function);

/*
 * And of sums of looks within times: "in load (data.py:7) 21 times (25 with other lines)", "in load
 * (data.py) once".
 */
void gp_host_function_print_count(FILE *out, const struct gp_host_places *places,
				  const struct gp_host_function *function);

#endif

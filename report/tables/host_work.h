/*
 * host_work: the work of Python threads by function (report/analysis/host/host_place.h): sums of
 * the times that stack samples represent (report/analysis/host/python_samples.h).
 */
#ifndef REPORT_TABLES_HOST_WORK_H
#define REPORT_TABLES_HOST_WORK_H

#include <stdio.h>

#include "report/tables/breakdown_scope.h"
#include "report/analysis/host/host_place.h"
#include "report/base/tally.h"

/* The places of a scope, created on first use. */
struct gp_host_places *gp_host_places_in(struct gp_scope *scope);

/*
 * What a sample counts for: the time that it represents; the same without samples inside recorded
 * calls of its thread, as that time belongs to the call; or GP_PYTHON_SAMPLE ns for each sample that
 * was taken in the window: in times as short as those of calls, samples before or after prove
 * nothing.
 */
enum gp_host_weight { GP_HOST_TIMES, GP_HOST_TIMES_OUTSIDE_CALLS, GP_HOST_LOOKS };
#define GP_PYTHON_SAMPLE 1000000u

/* From start_ns to end_ns on the model's timeline; sum: a number that the caller chooses. */
struct gp_host_window {
	struct gp_tally *tally; /* errors are in tally->error */
	uint64_t sum;
	struct gp_host_places *places;
	const struct gp_model *model;
	uint64_t start_ns, end_ns;
	enum gp_host_weight weight;
};

/* Add the work of a thread.  False: it has no sample there. */
bool gp_host_work_add(const struct gp_host_window *window, uint32_t thread);

/* Add that of all other threads, each kept separately for gp_host_work_busiest(). */
void gp_host_work_add_others(const struct gp_host_window *window, uint32_t thread);

/* Add that of all threads together, at any time. */
void gp_host_work_add_all(struct gp_tally *tally, uint64_t sum, struct gp_host_places *places,
			  const struct gp_model *model);

/*
 * Take from each place of a sum what the sum 0 of usual has of it, times `times`: what is left is
 * beyond the usual work.
 */
void gp_host_work_subtract(struct gp_tally *tally, uint64_t sum, struct gp_tally *usual,
			   double times);

/* Add a sum to another one, and empty it. */
void gp_host_work_move(struct gp_tally *tally, uint64_t from, uint64_t to);

/* Whether the thread has any sample. */
bool gp_host_work_knows(const struct gp_model *model, uint32_t thread);

/* The number of samples, and of those without a stack, or with outer frames only. */
struct gp_python_samples {
	uint64_t all, lost, outside;
};
void gp_host_work_add_samples(struct gp_python_samples *samples, const struct gp_model *model);

/* Whether the samples are so many, compared with those with a stack, that a reader must know. */
bool gp_host_work_is_much(uint64_t samples, const struct gp_python_samples *of);

/* The part of a function, or of one of its lines, in a sum. */
struct gp_host_function {
	uint64_t total_ns, samples;
	/* between samples at the same instruction: it was in one call, or waits */
	uint64_t stayed_ns;
	uint64_t line_ns; /* of the user's line with most of the time ... */
	uint32_t place;   /* ... and its place with most, for gp_host_places_at() */
	uint64_t place_ns;
};

/*
 * Whether it was at one instruction for nearly all of its time: running Python code moves on from
 * sample to sample.
 */
bool gp_host_function_stays(const struct gp_host_function *function);

/*
 * Whether one of the user's lines has at least half of the time, and so is named; and whether a
 * library's function has, in that line.
 */
bool gp_host_function_has_line(const struct gp_host_function *function);
bool gp_host_function_has_what(const struct gp_host_function *function,
			       const struct gp_host_place *place);

/* The functions of a sum, or each of their lines, largest time first; free it. */
struct gp_host_function *gp_host_work_functions(const struct gp_tally *tally, uint64_t sum,
						const struct gp_host_places *places,
						uint32_t *count);
struct gp_host_function *gp_host_work_lines(const struct gp_tally *tally, uint64_t sum,
					    const struct gp_host_places *places, uint32_t *count);

/*
 * The user's line with at least half of a sum, else the user's function with that.  text "": none
 * has.
 */
struct gp_host_spot {
	const char *text; /* "load (data.py:7)", "load (data.py)" */
	bool is_line;
	uint64_t ns, all_ns; /* of the line or function, and of the sum */
};
struct gp_host_spot gp_host_work_spot(const struct gp_tally *tally, uint64_t sum,
				      const struct gp_host_places *places);

/*
 * For gp_host_work_add_others(): the main work of the busiest thread, not counting waiting.
 * Returns the number of threads that did anything; 0: none.
 */
uint32_t gp_host_work_busiest(const struct gp_tally *tally, uint64_t sum,
			      const struct gp_host_places *places,
			      struct gp_host_function *function);

/*
 * "in load (data.py:7)", "in raw_decode (json/decoder.py) < load (data.py:7)", "importing
 * torch._dynamo at <module> (train.py:4)": names a library's function and a line if most of the
 * time was there; else "in load (data.py)".  The second one adds the time, of the line if one is
 * named: "in load (data.py:7) for 1.2s (all lines: 1.9s)", which are all of the function's.
 */
void gp_host_function_print(FILE *out, const struct gp_host_places *places,
			    const struct gp_host_function *function);
void gp_host_function_print_time(FILE *out, const struct gp_host_places *places,
				 const struct gp_host_function *function);

/*
 * For sums of GP_PYTHON_SAMPLE: "in load (data.py:7) 21 times (all lines: 25)", "in load
 * (data.py) once".
 */
void gp_host_function_print_count(FILE *out, const struct gp_host_places *places,
				  const struct gp_host_function *function);

#endif

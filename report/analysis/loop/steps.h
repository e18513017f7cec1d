/*
 * steps: the parts of a run around the iterations of its main loop.
 *
 * A step is one iteration.  Its length is known if the next one begins where it ends; the last step
 * of a stretch, and the last before recording paused, end with their own last operation.  A step is
 * slow if it takes GP_SLOW_PERCENT or more of the median of the steps of known length after the
 * warm-up.  Slow steps at the very beginning are warm-up: first use of kernels, autotuning, lazy
 * loading.  A step in which gpuprof read hardware counters (--counters) is never slow.  All other
 * steps are the steady state.  If more than 1/GP_SLOW_PART of the steps after the warm-up are slow,
 * that is how the loop is (every fourth step updates the weights, say): then the length that only
 * 1/GP_SLOW_PART of them exceed takes the place of the median.
 *
 * Steady and slow steps recur as long as the program runs.  So does the time between stretches of
 * the loop if there are three or more, such as epochs: each step has its part of it.
 */
#ifndef REPORT_ANALYSIS_LOOP_STEPS_H
#define REPORT_ANALYSIS_LOOP_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/iterations.h"
#include "report/model/model.h"

/* Of the median step: noise of the machine stays below it. */
#define GP_SLOW_PERCENT 130u
#define GP_SLOW_PART    5u

/* Steady steps whose median says how long a step is: of fewer, each may be odd. */
#define GP_STEADY_LEAST 5u

enum gp_run_part {
	GP_RUN_STARTUP, /* before the first step */
	GP_RUN_WARM_UP,
	GP_RUN_STEADY,
	GP_RUN_SLOW,
	GP_RUN_BETWEEN, /* between two stretches of the loop */
	GP_RUN_SHUTDOWN,
	GP_RUN_PARTS
};

/* From start_ns to the next piece. */
struct gp_run_piece {
	uint64_t start_ns; /* on the model's timeline */
	uint8_t part;      /* enum gp_run_part */
};

struct gp_steps {
	uint32_t count; /* 0: no loop was found, and all else is 0 */
	uint32_t counts[GP_RUN_PARTS];
	uint64_t ns[GP_RUN_PARTS]; /* recorded time from the first call to the last */
	/* of the steady steps of known length: the median, and the range of the middle half */
	uint64_t median_ns, spread_ns;
	bool recurs[GP_RUN_PARTS];
	uint8_t *parts; /* of each iteration: enum gp_run_part */
	struct gp_run_piece *pieces;
	uint32_t piece_count;
};

/* Of the model's iterations.  Returns 0 or -ENOMEM; gp_steps_free() in either case. */
int gp_steps_of(struct gp_steps *steps, const struct gp_iterations *iterations,
		struct gp_model *model);
void gp_steps_free(struct gp_steps *steps);

/* The piece at a time. */
uint32_t gp_steps_piece_at(const struct gp_steps *steps, uint64_t time_ns);

/* The part of the run at a time; GP_RUN_STARTUP if there is no loop. */
enum gp_run_part gp_steps_part_at(const struct gp_steps *steps, uint64_t time_ns);

/* The number of steady and slow steps; and the time of all parts that recur. */
uint32_t gp_steps_recurring(const struct gp_steps *steps);
uint64_t gp_steps_recurring_ns(const struct gp_steps *steps);

/* Whether there are enough steady steps for a median. */
bool gp_steps_have_median(const struct gp_steps *steps);

/* The time of all parts that recur, for each steady or slow step; 0: there is none. */
uint64_t gp_steps_mean_ns(const struct gp_steps *steps);

/* "startup", "warm-up", "steady", "slow", "between", "shutdown" */
const char *gp_run_part_id(enum gp_run_part part);

#endif

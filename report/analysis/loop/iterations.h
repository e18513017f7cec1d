/*
 * iterations: the passes of a program's main loop, as the GPU saw them.
 *
 * From the program's ranges where some repeat: those of one thread and one text, numbers in it
 * apart ("ProfilerStep#12", "step 3"), that started GPU work and do not lie in each other, three or
 * more.  ProfilerStep of PyTorch comes first; else those that together started most operations, and
 * of such that started about as many (90 %) the most frequent, unless they are parts of an
 * iteration: where they lie in others of these, and so many that take as long as half of them do
 * make up less than half of the time of those, the others are the loop.  (Not where 32 and more lie
 * in each: an epoch is none that has a long evaluation.) Operators of PyTorch come behind what the
 * program marked, for a thread of PyTorch's launches the backward pass, and more there than in all
 * of a step's range. Ranges of libraries (NCCL, CUB, ...) come last of all.  Where there are none,
 * from the sequence of operations (report/analysis/loop/sequences.h) that makes up most of one
 * stream, if that is half of it: the stream with the most operations, or one that takes data from
 * the host or gives it some and has a quarter as many; of streams that do about as much (90 %), the
 * one whose passes go on for much longer (half as long again); not one operation repeated: that has
 * no passes. If none makes up so much, for passes differ throughout, a sequence that comes at
 * regular distances, eight times or more, over half of the stream: each pass is from one to the
 * next. If no stream has any, the operations of all streams that a thread started, in the order in
 * which it did (report/analysis/loop/launch_order.h), are looked at as one stream: where these have
 * eight passes or more, and do not run side by side in bunches. Of passes that are for two thirds
 * eight or more equal ones, each with a copy from or to the host, these are the passes: what is
 * done after so many of them is an evaluation, a checkpoint.  Where in the sequence a pass begins,
 * and which passes that differ a little count, says report/analysis/loop/iteration_search.h.
 * Operations of tuning (report/analysis/host/tuning.h) count nowhere: neither are they GPU work of
 * a range, nor a part of the stream.
 *
 * An iteration begins when the host began it, but not before the GPU was done with what came before
 * (report/analysis/loop/bounds.h), and lasts to the next one: so what lies between two passes,
 * waiting for data for example, counts.  Where its operations are of several streams, by the one in
 * which it has most GPU time (report/analysis/loop/iteration_starts.h). The last one, the last
 * before recording paused, and the last of a stretch (report/analysis/loop/stretches.h) last to
 * their own last operation's end, or the range's. What was before the first, between stretches and
 * after the last is in none.
 */
#ifndef REPORT_ANALYSIS_LOOP_ITERATIONS_H
#define REPORT_ANALYSIS_LOOP_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/host/tuning.h"
#include "report/analysis/idle/busy.h"
#include "report/model/model.h"

#define GP_ITERATION_NAME_BYTES 128

struct gp_iteration {
	uint64_t start_ns, end_ns; /* on the model's timeline */
	uint32_t first_op;         /* by sequence: index in ops, else GP_NONE */
	uint32_t place;            /* by sequence: of that one, in the order it was found in */
	uint32_t range;            /* by range: index in ranges, else GP_NONE */
	uint64_t op_count; /* by range: started in it; else from there to the next one's place */
	bool ends_stretch; /* the loop was left for long, and begun again */
};

struct gp_iterations {
	struct gp_iteration *rows; /* by start */
	uint32_t count, capacity;
	/* that the iterations make up, in order; on the model's timeline */
	struct gp_interval *stretches;
	uint32_t stretch_count; /* 1 for most loops */
	bool by_range;
	/* by range: that have such ranges, three or more, each in its own loop; this is one's */
	uint32_t threads;
	/*
	 * by sequence: that have such a loop, each its own; this is one's; 0 = it was not looked
	 * for in one
	 */
	uint32_t streams;
	uint32_t passes; /* by sequence: equal ones that make up 90 % of each; 0 = there are none */
	char name[GP_ITERATION_NAME_BYTES]; /* of the ranges, "*" for each number; else "" */
};

/*
 * count is 0 where no loop was found.  Returns 0 or -ENOMEM; gp_iterations_free() in either case.
 */
int gp_iterations_of(struct gp_iterations *iterations, const struct gp_model *model,
		     const struct gp_tuning *tuning);
void gp_iterations_free(struct gp_iterations *iterations);

/*
 * For how long the loop ran within that time: all its stretches, of which the last may end behind
 * all calls.
 */
uint64_t gp_iterations_ns(const struct gp_iterations *iterations, uint64_t start_ns,
			  uint64_t end_ns);

/* The first stretch that had not ended by then; stretch_count: all had. */
uint32_t gp_iterations_stretch_at(const struct gp_iterations *iterations, uint64_t time_ns);

#endif

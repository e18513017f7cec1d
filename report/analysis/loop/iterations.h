/*
 * iterations: the iterations of a program's main loop, as the GPU saw them.
 *
 * First, from the program's ranges: three or more of one thread and one text, without the numbers
 * in it ("ProfilerStep#12", "step 3"), that started GPU work and do not lie in each other.
 * PyTorch's ProfilerStep comes first; else the group with most operations, and among groups with
 * about as many (90 %) the most frequent one, unless its ranges are parts of an iteration: if they
 * lie in those of another group, and so many of them as take as long as half of them do make up
 * less than half of the time of those, the other group is the loop.  (Not if 32 and more lie in
 * each: an epoch with a long evaluation is no iteration.)  PyTorch's operators are no iterations:
 * one of them runs many times in each; nor is what XLA's compiler does, or a part of a module that
 * XLA runs.  Modules are functions that JAX compiled; those of one operation, which JAX runs outside
 * of such functions, count if nothing else tells the loop and they take a twentieth of the time.
 * Ranges of libraries (NCCL, CUB, ...) come last.
 *
 * Else, from the sequence of operations that an iteration is (iteration_sequence.h), in one stream:
 * the one with the most operations, or one that copies data from or to the host and has a quarter as
 * many; of streams with about as many (90 %), the one whose loop lasts half as long again as the
 * others'.  If iterations differ too much, a sequence counts that comes at regular distances, eight
 * times or more, over half of the stream: each iteration is from one to the next.  If no stream has
 * a loop, the operations that one thread started (launch_order.h) are one stream, if these have
 * eight iterations or more that do not run side by side in bunches.  A loop found so is none if it
 * has less than a twentieth of the GPU's work and of the time, or is the layers of a model
 * (module_layers.h).  iteration_search.h decides where in the sequence an iteration begins, and
 * which similar ones count; training_steps.h, whether they are parts of a training's steps.
 *
 * Operations of tuning (report/analysis/host/tuning.h) are neither GPU work of a range nor a part
 * of a stream.
 *
 * An iteration begins when the host began it, but not before the GPU had finished the work before
 * it (report/analysis/loop/bounds.h), and lasts to the next one: so the time between two
 * iterations, such as waits for data, counts.  If its operations are in several streams, the stream
 * with most of its GPU time counts (report/analysis/loop/iteration_starts.h).  The last iteration,
 * the last before recording paused, and the last of a stretch (report/analysis/loop/stretches.h)
 * last to the end of their own last operation, or of the range.  Time before the first iteration,
 * between stretches and after the last belongs to none.
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
	 * by sequence: the streams that have such a loop, each its own; this is one of them; 0 =
	 * found in another way
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

#endif

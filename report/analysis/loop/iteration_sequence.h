/*
 * iteration_sequence: which of a stream's sequences is the iteration of its loop.
 *
 * Candidates are sequences that have half of the stream. The one that has most of it, or a longer
 * one that has about as much (90 %), is the outermost. Of a loop with other work after every 10th
 * and every 37th iteration that is one of 370 iterations, if the trace is long enough; and parts of
 * an iteration repeat as well: layers of a model, batches whose gradients are summed up. So the
 * shortest candidate counts that is a loop itself, by how it comes in runs, one after the other:
 *
 * - Each has a copy from or to the host, and there are eight or more for each outermost one. The
 *   runs are of changing length, or have as many each time, eight or more, and two thirds of what
 *   any candidate has. Layers do not copy, and a few batches, always as many, are one iteration.
 * - Without copies: the runs are of changing length, eight or more for each outermost one. A model
 *   has as many layers in each iteration, in a few runs.
 * - A sequence that comes in runs and has such parts with copies in it, however many in a run: its
 *   parts are the batches of an iteration, and a longer candidate is several iterations.
 *
 * If none is a loop itself, the outermost one is the iteration.
 */
#ifndef REPORT_ANALYSIS_LOOP_ITERATION_SEQUENCE_H
#define REPORT_ANALYSIS_LOOP_ITERATION_SEQUENCE_H

#include "report/analysis/loop/sequences.h"
#include "report/model/model.h"

struct gp_iteration_sequence {
	const struct gp_sequence *sequence; /* of the sequences; NULL = no loop */
	uint32_t parts; /* equal ones in a row that make up 90 % of it; 0 = there are none */
};

void gp_iteration_sequence_choose(struct gp_iteration_sequence *chosen,
				  const struct gp_sequences *sequences,
				  const struct gp_model *model);

/* Whether one of these operations copies from or to the host. */
bool gp_iteration_sequence_has_host_copy(const struct gp_model *model, uint32_t first,
					 uint32_t end);

#endif

/*
 * passes: where the passes of a loop begin in a stream of operations, from the sequence that most
 * of them are.
 *
 * A sequence that repeats may begin anywhere in the loop's body.  It is turned so that it is found
 * whole most often: what is done between two passes now and then (an evaluation, say) then lies
 * between them and cuts none.  Of such turns, and the one that begins with a copy from the host,
 * that with the most passes counts; of those that have as many, the latter, else the first in the
 * stream.
 *
 * Passes that are not quite like that count, too: those that begin with the same operations, as
 * many as tell the beginning from the rest of the sequence, and have two thirds of the sequence in
 * its order until the next one begins.  So a first pass that does more, and one that writes
 * something out, are passes; a forward pass alone in a training is none.  Time grows with the
 * number of operations.
 */
#ifndef REPORT_ANALYSIS_LOOP_ITERATION_SEARCH_H
#define REPORT_ANALYSIS_LOOP_ITERATION_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/sequences.h"
#include "report/model/model.h"

struct gp_pass {
	uint32_t first,
		/* elements: from its first operation to behind the last that is of the sequence */
		end;
};

struct gp_iteration_search {
	struct gp_pass *rows; /* in order, none overlap */
	uint32_t count, capacity;
};

/*
 * Of a sequence in the model's operations that is so many elements from that one on.  Returns 0 or
 * -ENOMEM; gp_iteration_search_free() in either case.
 */
int gp_iteration_search_of(struct gp_iteration_search *passes, const struct gp_sequences *sequences,
			   const struct gp_model *model, uint32_t first, uint32_t length);
void gp_iteration_search_free(struct gp_iteration_search *passes);

#endif

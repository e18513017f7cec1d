/*
 * iteration_search: where the iterations of a loop begin in a stream of operations, from the
 * sequence that most of them are.
 *
 * A sequence that repeats may begin anywhere in the loop's body. It is rotated so that it is whole
 * most often: occasional work between two iterations (an evaluation, say) then lies between them
 * and cuts none. Among such rotations, and the one that begins with a copy from the host, the one
 * with the most iterations counts; of equal ones the one that is whole most often, then the latter,
 * then the first in the stream.
 *
 * Similar iterations count, too: they begin with the same operations, enough of them to tell the
 * beginning from the rest of the sequence, and have two thirds of the sequence in its order until
 * the next one begins. So a first iteration with extra work, and one that writes a checkpoint,
 * count; a forward pass alone in a training does not. Time grows with the number of operations.
 */
#ifndef REPORT_ANALYSIS_LOOP_ITERATION_SEARCH_H
#define REPORT_ANALYSIS_LOOP_ITERATION_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/loop/sequences.h"
#include "report/model/model.h"

struct gp_pass {
	uint32_t first,
		/* elements: from its first operation to past the last one of the sequence */
		end;
};

struct gp_iteration_search {
	struct gp_pass *rows; /* in order, none overlap */
	uint32_t count, capacity;
};

/* Of one of the sequences. Call gp_iteration_search_free(). */
void gp_iteration_search_of(struct gp_iteration_search *passes,
			    const struct gp_sequences *sequences, const struct gp_model *model,
			    const struct gp_sequence *sequence);
void gp_iteration_search_free(struct gp_iteration_search *passes);

#endif

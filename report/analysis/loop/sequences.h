/*
 * sequences: operations of a stream that come in the same order again and again: what a graph would
 * launch at once, or fusion make one of.
 *
 * The stream is read once, from left to right: whatever repeats something further left is taken as
 * a whole, the longest contexts first, at most up to where the repeat itself begins.  So a loop's
 * pass is found at its full length, and what repeats inside the first pass, too.  The most that
 * were found this way are then counted exactly: occurrences that do not overlap, from left to
 * right.  Several of a sequence one after the other, cut anywhere, are none where that one has more
 * of the stream.  Time grows with the number of operations, not with its square.
 *
 * Kernels are the same if their names are, copies if their directions are.  A graph's launch counts
 * as one operation: it is a sequence that somebody has dealt with.  What is of tuning
 * (report/analysis/host/tuning.h) is like nothing else: it repeats until a kernel is chosen, and
 * never again.
 */
#ifndef REPORT_ANALYSIS_LOOP_SEQUENCES_H
#define REPORT_ANALYSIS_LOOP_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/analysis/host/tuning.h"
#include "report/model/model.h"

struct gp_sequence {
	uint32_t first;  /* its first occurrence: index in elements */
	uint32_t length; /* operations, at least 2 */
	uint64_t count;  /* of occurrences, at least 3 */
	/* sums over all of them */
	uint64_t gpu_ns; /* of the operations */
	/* inside, while the stream had nothing to do: what a graph can save at most */
	uint64_t gap_ns;
	uint64_t call_ns; /* of the calls that launched them, a graph's once */
	uint64_t span_ns; /* from the first one's start to the last one's end */
};

/* An operation, or a graph's launch with its nodes: from ops[op] to the next element's. */
struct gp_sequence_element {
	uint32_t symbol; /* equal for equal operations */
	uint32_t op;
};

struct gp_sequences {
	struct gp_sequence *rows; /* by length times count, the most first */
	uint32_t count, capacity;
	struct gp_sequence_element *elements; /* one more than element_count: its op is the end */
	uint32_t element_count;
	uint32_t own_count; /* of these, that are not of tuning: what shares are of */
};

/*
 * Of the operations first to end - 1 of a model, which are one stream's; tuning NULL: none is
 * known.  Returns 0 or -ENOMEM; gp_sequences_free() in either case.
 */
int gp_sequences_of(struct gp_sequences *sequences, const struct gp_model *model,
		    const struct gp_tuning *tuning, uint32_t first, uint32_t end);
void gp_sequences_free(struct gp_sequences *sequences);

/* Whether it is the same operation again and again. */
bool gp_sequence_is_one_operation(const struct gp_sequences *sequences,
				  const struct gp_sequence *sequence);

/*
 * Whether these operations are all one and the same kernel, launched again and again: its sequences
 * are of nothing else, and where one of them begins is chance.
 */
bool gp_sequences_are_of_one_kernel(const struct gp_model *model, uint32_t first, uint32_t end);

/*
 * Call take for each occurrence, from left to right, with the element at which it begins.  Returns
 * 0 or -ENOMEM.
 */
int gp_sequence_each(const struct gp_sequences *sequences, const struct gp_sequence *sequence,
		     void (*take)(void *context, uint32_t element), void *context);

#endif

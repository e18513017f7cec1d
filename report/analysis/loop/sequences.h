/*
 * sequences: operations of a stream that come in the same order again and again: candidates for a
 * graph's single launch, or for fusion.
 *
 * The stream is read once, from left to right: the longest repeat of something further left is
 * taken as a whole, the longest contexts first, at most up to the start of the repeat itself. So a
 * loop's iteration is found at its full length, and repeats inside the first iteration, too. The
 * most frequent ones are then counted exactly: occurrences that do not overlap, from left to right.
 * A sequence that is several of another one in a row, cut anywhere, is left out if the other one
 * has about as much of the stream (90 %). Time grows with the number of operations, not with its square.
 *
 * Kernels are equal if their names are, copies if their directions are. A graph's launch counts as
 * one operation. Operations of tuning (report/analysis/host/tuning.h) equal no others: they repeat
 * until a kernel is chosen, and never again.
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
	/* inside, while the stream was idle: the most that a graph can save */
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
	uint32_t own_count; /* of these, the ones that are no tuning: the base of shares */
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

/* Call take for each occurrence, from left to right, with the element at which it begins. */
void gp_sequence_each(const struct gp_sequences *sequences, const struct gp_sequence *sequence,
		      void (*take)(void *context, uint32_t element), void *context);

#endif

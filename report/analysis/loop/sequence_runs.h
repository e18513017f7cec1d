/*
 * sequence_runs: where a sequence of operations comes several times in a row.
 *
 * A run has whole sequences, and at both ends the parts of one that the operations there are: less
 * than a whole one each, as a whole one would be in the run.
 */
#ifndef REPORT_ANALYSIS_LOOP_SEQUENCE_RUNS_H
#define REPORT_ANALYSIS_LOOP_SEQUENCE_RUNS_H

#include "report/analysis/loop/sequences.h"

struct gp_sequence_run {
	uint32_t first, end; /* elements */
	uint32_t phase;      /* of the first: index in the sequence */
};

struct gp_sequence_runs {
	struct gp_sequence_run *rows; /* in order, none overlap but for their parts */
	uint32_t count, capacity;
};

/* Call gp_sequence_runs_free(). */
void gp_sequence_runs_of(struct gp_sequence_runs *runs, const struct gp_sequences *sequences,
			 const struct gp_sequence *sequence);
void gp_sequence_runs_free(struct gp_sequence_runs *runs);

#endif

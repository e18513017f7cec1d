/*
 * phase_gaps: splits the host's time between two events of a loop over the phases around it.
 *
 * A gap between two events of one phase is of that phase, one between two phases of both: the first
 * goes on after its last call, and the other begins before its first one.  Some phases have no calls
 * at all, such as data loading.  The shares of a gap are, in this order of growing weight:
 *
 *   a table of how long PyTorch's phases go on, and take to begin, on the host (measured on an
 *     H200's host, medians of two trainings); what lies before a copy from the host beyond that is
 *     data loading
 *   the phases that stack samples found in gaps between the same two phases that are about as long,
 *     of all iterations: the table counts as GP_PHASE_GAP_PRIOR samples, or as one where it says
 *     data loading and most samples say something else; a sample whose stack names no phase is of
 *     the phase on both sides, or else other
 *   the samples in the gap itself, where there are two or more: all before counts as
 *     GP_PHASE_GAP_POOL samples
 *
 * Where a range names a phase, its beginning or end is known. What lies between two such ranges is
 * other, but for samples, and data loading before a copy from the host.
 *
 * So the sum over many iterations is about right, with a relative error of one by the square root of
 * the samples in such gaps; a single gap without samples of its own is not known better than by the
 * table.  The time in gaps between two phases is summed up as "split", so that a reader knows how
 * much of a phase rests on this.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_GAPS_H
#define REPORT_ANALYSIS_LOOP_PHASE_GAPS_H

#include "report/analysis/loop/phase_events.h"

#define GP_PHASE_GAP_PRIOR 16u
#define GP_PHASE_GAP_POOL  4u

/* A time of the host in one phase. */
struct gp_phase_piece {
	uint64_t start_ns, end_ns;
	uint32_t stack; /* where it was, as far as it is known; or GP_NONE */
	uint8_t phase;  /* enum gp_phase_kind */
	bool is_split;  /* of a gap between two phases */
};

/* Calls take for all time of the loop's stretches, in order. */
void gp_phase_gaps_split(const struct gp_phase_events *events, const struct gp_model *model,
			 const struct gp_iterations *iterations, enum gp_phase_rules rules,
			 void (*take)(void *context, const struct gp_phase_piece *piece),
			 void *context);

#endif

/*
 * phase_functions: the phases of a program of any kind: the user's functions that its loop calls.
 *
 * The loop's function is the deepest one of the user's that makes nearly all calls of the loop,
 * itself or through others. What it calls of the user's are the phases; what it does itself, in
 * library calls or launches, is a phase by line, and so are the few calls of its callers. A wrapper
 * that makes all calls at one line is not the loop's function: one of its callers is.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_FUNCTIONS_H
#define REPORT_ANALYSIS_LOOP_PHASE_FUNCTIONS_H

#include "report/analysis/loop/phase_marks.h"
#include "report/model/model.h"

/* Nearly all. */
#define GP_PHASE_FUNCTION_PERCENT 90u

struct gp_phase_functions {
	/*
	 * By index in frames, as of gp_phase_marks_of(): numbers from 1 on, the one with most calls
	 * first; GP_PHASE_OTHER: too few calls.
	 */
	uint8_t *marks;
	char *names[GP_PHASE_KINDS]; /* "step (train.py)", "main (train.py:40)"; NULL = no phase */
	uint32_t count;
};

/*
 * calls: by index in frames, how often the loop made a call from that stack. Call
 * gp_phase_functions_free().
 */
void gp_phase_functions_of(struct gp_phase_functions *functions, const struct gp_model *model,
			   const uint32_t *calls);
void gp_phase_functions_free(struct gp_phase_functions *functions);

#endif

/*
 * phase_marks: the phase of a training step that a call stack belongs to, by the functions of known
 * libraries on it, and by the names of the user's functions. The rows in phase_marks.c name them.
 *
 * The outermost function that has a phase decides, unless its phase has others inside: a closure
 * that an optimizer calls is forward and backward, and the optimizer in a gradient scaler is the
 * optimizer. Evaluation, checkpoints and data loading have none: all that they call is theirs.
 */
#ifndef REPORT_ANALYSIS_LOOP_PHASE_MARKS_H
#define REPORT_ANALYSIS_LOOP_PHASE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/model/model.h"
#include "report/symbols/symbols.h"

/* In the order of a step. */
enum gp_phase_kind {
	GP_PHASE_NONE, /* not known */
	GP_PHASE_DATA,
	GP_PHASE_TO_DEVICE,
	GP_PHASE_FORWARD,
	GP_PHASE_BACKWARD,
	GP_PHASE_GRADIENTS, /* clipped or scaled */
	GP_PHASE_OPTIMIZER,
	GP_PHASE_COMMUNICATION,
	GP_PHASE_EVALUATION,
	GP_PHASE_CHECKPOINT,
	GP_PHASE_LOGGING,
	GP_PHASE_OTHER,
	GP_PHASE_KINDS
};

/* The phase that the text of a range names: "forward", "Optimizer.step#Adam.step"; or NONE. */
enum gp_phase_kind gp_phase_of_range(const char *text);

/* The phase that a function names; or NONE.  by_names: also a function of the user's. */
enum gp_phase_kind gp_phase_of_place(const struct gp_place *place, bool by_names);

/* "data loading", "host-to-device", ... */
const char *gp_phase_kind_name(enum gp_phase_kind kind);

/* The phase inside: of a function of the second kind that one of the first called. */
enum gp_phase_kind gp_phase_inside(enum gp_phase_kind outer, enum gp_phase_kind inner);

/*
 * By index in the model's frames: enum gp_phase_kind of the stack that begins there. Free it.
 * by_names: the names of the user's functions count, too.
 */
void gp_phase_marks_of(const struct gp_model *model, bool by_names, uint8_t **marks);

#endif

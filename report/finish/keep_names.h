/*
 * keep_names: what the functions of a trace's native frames are called goes into the trace, as long
 * as their files are there: it can then be read on another machine, outside of the container, or
 * after the program was built anew.
 */
#ifndef REPORT_FINISH_KEEP_NAMES_H
#define REPORT_FINISH_KEEP_NAMES_H

#include "report/model/model.h"

/*
 * Append the names to the trace of the model, a descriptor open for appending and locked.  The
 * model has them from then on, too, as if they had been there when it was loaded: whoever asks for
 * one of these functions does not look into files again.  Nothing is done where the trace has some
 * already, has no frames to name or may not be added to.  Returns 0, or a negative errno value:
 * then the trace is as it was.
 */
int gp_keep_names(int trace, struct gp_model *model);

#endif

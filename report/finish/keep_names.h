/*
 * keep_names: stores the function names of native frames in the trace while the program's files are
 * there. The trace is then readable on another machine, outside the container, or after a rebuild.
 */
#ifndef REPORT_FINISH_KEEP_NAMES_H
#define REPORT_FINISH_KEEP_NAMES_H

#include "report/model/model.h"

/*
 * Appends the names to the model's trace; `trace` is a locked descriptor opened for appending. The
 * model uses the names from then on, and does not read the files again. Does nothing if the trace
 * has names already, has no frames, or may not be written. Returns 0, or a negative errno value;
 * the trace is unchanged then.
 */
int gp_keep_names(int trace, struct gp_model *model);

#endif

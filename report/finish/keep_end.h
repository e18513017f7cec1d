/*
 * keep_end: stores in the model and the trace how the process ended, as its parent saw it. The
 * process's own END record may be missing or wrong: a destructor after ours may crash.
 */
#ifndef REPORT_FINISH_KEEP_END_H
#define REPORT_FINISH_KEEP_END_H

#include "report/model/model.h"

/* status: as from waitpid(). save_to: descriptor of the trace; -1 = do not write. */
void gp_keep_end(struct gp_model *model, int status, int save_to);

#endif

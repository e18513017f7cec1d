/*
 * keep_end: how a process ended goes into its model and its trace, by who has waited for it, where
 * its own END record does not say it, or says something else: a destructor may crash behind ours.
 */
#ifndef REPORT_FINISH_KEEP_END_H
#define REPORT_FINISH_KEEP_END_H

#include "report/model/model.h"

/* status is waitpid()'s; save_to: descriptor of the trace, -1 = it stays as it is. */
void gp_keep_end(struct gp_model *model, int status, int save_to);

#endif

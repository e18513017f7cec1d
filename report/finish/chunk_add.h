/* chunk_add: a chunk at the end of the trace that a model was made of. */
#ifndef REPORT_FINISH_CHUNK_ADD_H
#define REPORT_FINISH_CHUNK_ADD_H

#include "report/model/model.h"
#include "report/trace/chunk_append.h"

/*
 * To that of a model, where it is as it was when that was loaded: sequence is set here.  What
 * cannot be written leaves the trace as it is.
 */
void gp_chunk_add(int trace, struct gp_model *model, struct gp_new_chunk *chunk);

#endif

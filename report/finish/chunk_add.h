/* chunk_add: appends a chunk to the trace of a model. */
#ifndef REPORT_FINISH_CHUNK_ADD_H
#define REPORT_FINISH_CHUNK_ADD_H

#include "report/model/model.h"
#include "report/trace/chunk_append.h"

/*
 * Appends the chunk to the trace if the file is unchanged since the model was loaded. Sets the
 * chunk's sequence. On failure the trace is unchanged.
 */
void gp_chunk_add(int trace, struct gp_model *model, struct gp_new_chunk *chunk);

#endif

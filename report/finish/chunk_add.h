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

/*
 * Packs a record (gpuprof/trace.h): for each field the difference to its prediction.  Returns the
 * end.  A chunk whose payload is at most GP_CHUNK_ROOM bytes long has space for one.
 */
uint8_t *gp_chunk_put_changes(uint8_t *at, uint8_t kind, const int64_t *changes, uint32_t count);
#define GP_CHUNK_ROOM (GP_CHUNK_MAX_BYTES - 256)

#endif

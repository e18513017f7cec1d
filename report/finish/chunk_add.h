/* chunk_add: appends records to the trace of a model whose process has ended. */
#ifndef REPORT_FINISH_CHUNK_ADD_H
#define REPORT_FINISH_CHUNK_ADD_H

#include "collector/encode.h"
#include "report/model/model.h"
#include "report/trace/chunk_append.h"

/*
 * After gp_chunk_begin(), gp_chunk_put() for each record, whose kind and slots are set; gp_chunk_end()
 * appends what is left, and frees.  A chunk is appended only if the file is as it was when the model
 * was loaded; on failure it stays so.
 */
struct gp_chunk_writer {
	int trace;
	struct gp_model *model;
	struct gp_encoder *encoder; /* NULL: there is no memory, and nothing is written */
	struct gp_new_chunk *chunk;
};

void gp_chunk_begin(struct gp_chunk_writer *writer, int trace, struct gp_model *model);
void gp_chunk_put(struct gp_chunk_writer *writer, const struct gp_record *record);
void gp_chunk_end(struct gp_chunk_writer *writer);

#endif

/*
 * chunk_append: a chunk at the end of a trace whose process has ended (gpuprof/trace.h).
 */
#ifndef REPORT_TRACE_CHUNK_APPEND_H
#define REPORT_TRACE_CHUNK_APPEND_H

#include <assert.h>
#include <stdint.h>

#include "gpuprof/trace.h"

struct gp_new_chunk {
	struct gp_chunk_header header;
	uint8_t payload[GP_CHUNK_MAX_BYTES];
};

static_assert(sizeof(struct gp_new_chunk) == sizeof(struct gp_chunk_header) + GP_CHUNK_MAX_BYTES,
	      "a chunk is written in one piece");

/*
 * Write the chunk to the descriptor of a trace, open for appending and locked, whose length is a
 * multiple of 8.  All of its header is set but magic and crc.  Returns 0 or a negative errno value.
 */
int gp_chunk_append(int trace, struct gp_new_chunk *chunk);

#endif

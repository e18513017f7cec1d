/*
 * chunk_append: appends a chunk to the trace of a process that has ended (gpuprof/trace.h).
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
 * Appends the chunk to a locked descriptor of the trace, opened for appending; the file's length is
 * a multiple of 8. The caller sets the header but for magic and crc. Returns 0 or a negative errno
 * value.
 */
int gp_chunk_append(int trace, struct gp_new_chunk *chunk);

#endif

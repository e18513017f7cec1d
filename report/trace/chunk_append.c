#include "report/trace/chunk_append.h"

#include <stddef.h>
#include <string.h>

#include "gpuprof/crc32c.h"
#include "report/base/io.h"

int gp_chunk_append(int trace, struct gp_new_chunk *chunk)
{
	struct gp_chunk_header *h = &chunk->header;
	size_t unchecked = offsetof(struct gp_chunk_header, records);
	uint32_t padded_bytes = gp_chunk_padded_bytes(h->payload_bytes);

	memset(chunk->payload + h->payload_bytes, 0, padded_bytes - h->payload_bytes);
	h->magic = GP_CHUNK_MAGIC;
	h->crc = gp_crc32c((const uint8_t *)chunk + unchecked,
			   sizeof(*h) - unchecked + h->payload_bytes);
	return gp_write_all(trace, chunk, sizeof(*h) + padded_bytes);
}

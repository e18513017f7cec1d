#include "report/chunk_append.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/crc32c.h"
#include "report/write_all.h"

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

void gp_chunk_add(int trace, struct gp_model *model, struct gp_new_chunk *chunk)
{
	struct stat status;

	chunk->header.sequence = model->next_sequence;
	if (model->file_bytes == 0 || model->file_bytes % 8 != 0 || fstat(trace, &status) != 0 ||
	    (uint64_t)status.st_size != model->file_bytes)
		return;
	if (gp_chunk_append(trace, chunk) != 0) {
		(void)!ftruncate(trace, status.st_size);
		return;
	}
	model->next_sequence++;
	model->file_bytes +=
		sizeof(chunk->header) + gp_chunk_padded_bytes(chunk->header.payload_bytes);
}

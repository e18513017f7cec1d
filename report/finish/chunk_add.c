#include "report/finish/chunk_add.h"

#include <sys/stat.h>
#include <unistd.h>

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

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

uint8_t *gp_chunk_put_changes(uint8_t *at, uint8_t kind, const int64_t *changes, uint32_t count)
{
	*at++ = kind;
	at = put_varint(at, (1u << count) - 1);
	for (uint32_t i = 0; i < count; i++)
		at = put_varint(at, (uint64_t)changes[i] << 1 ^ (uint64_t)(changes[i] >> 63));
	return at;
}

#include "report/finish/keep_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/trace/chunk_append.h"
#include "report/symbols/frame_names.h"
#include "report/symbols/symbols.h"

static int append_pieces(int trace, const struct gp_packed_names *packed, uint64_t sequence)
{
	struct gp_new_chunk *chunk = malloc(sizeof(*chunk));
	size_t left = packed->length;
	int result = 0;

	for (uint32_t piece = 0; left > 0 && result == 0; piece++) {
		size_t bytes = left < GP_CHUNK_MAX_BYTES ? left : GP_CHUNK_MAX_BYTES;

		chunk->header = (struct gp_chunk_header){.payload_bytes = (uint32_t)bytes,
							 .sequence = sequence++,
							 .position = packed->text_bytes,
							 .thread = piece,
							 .form = GP_CHUNK_NAMES};
		memcpy(chunk->payload, packed->bytes + packed->length - left, bytes);
		result = gp_chunk_append(trace, chunk);
		left -= bytes;
	}
	free(chunk);
	return result;
}

static int append(int trace, const struct gp_model *model, const struct gp_packed_names *packed)
{
	struct stat status;
	int result;

	if (fstat(trace, &status) != 0)
		return -errno;
	if ((uint64_t)status.st_size != model->file_bytes || model->file_bytes % 8 != 0)
		return -EBUSY; /* the trace has changed since it was loaded */
	result = append_pieces(trace, packed, model->next_sequence);
	if (result != 0)
		/* on failure the end is truncated and reported as such */
		(void)!ftruncate(trace, status.st_size);
	return result;
}

static int keep(int trace, struct gp_model *model, struct gp_symbols *symbols,
		struct gp_frame_names *names)
{
	int result = gp_symbols_collect(symbols, model, names);

	if (result == 0 && gp_frame_names_count(names) > 0)
		result = gp_frame_names_pack(names, &model->frame_names);
	if (result == 0 && model->frame_names.bytes)
		result = append(trace, model, &model->frame_names);
	return result;
}

int gp_keep_names(int trace, struct gp_model *model)
{
	struct gp_symbols *symbols;
	struct gp_frame_names *names;
	int result;

	if (model->file_bytes == 0 || model->frame_names.bytes || model->frame_count == 0)
		return 0;
	symbols = gp_symbols_new();
	names = gp_frame_names_new();
	result = keep(trace, model, symbols, names);
	gp_frame_names_free(names);
	gp_symbols_free(symbols);
	return result;
}

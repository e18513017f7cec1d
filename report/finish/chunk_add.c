#include "report/finish/chunk_add.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void gp_chunk_begin(struct gp_chunk_writer *writer, int trace, struct gp_model *model)
{
	*writer = (struct gp_chunk_writer){
		.trace = trace,
		.model = model,
		.encoder = malloc(sizeof(*writer->encoder)),
		.chunk = malloc(sizeof(*writer->chunk)),
	};
	if (!writer->encoder || !writer->chunk) {
		free(writer->encoder);
		writer->encoder = NULL;
		return;
	}
	gp_encode_init(writer->encoder);
	gp_encode_begin(writer->encoder, writer->chunk->payload, sizeof(writer->chunk->payload));
}

static void add(int trace, struct gp_model *model, struct gp_new_chunk *chunk)
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

static void write_chunk(struct gp_chunk_writer *writer)
{
	writer->chunk->header = (struct gp_chunk_header){
		.payload_bytes = gp_encode_bytes(writer->encoder),
		.records = writer->encoder->records,
		.form = GP_CHUNK_PACKED,
	};
	add(writer->trace, writer->model, writer->chunk);
	gp_encode_begin(writer->encoder, writer->chunk->payload, sizeof(writer->chunk->payload));
}

void gp_chunk_put(struct gp_chunk_writer *writer, const struct gp_record *record)
{
	if (!writer->encoder || gp_encode(writer->encoder, record))
		return;
	write_chunk(writer);
	gp_encode(writer->encoder, record);
}

void gp_chunk_end(struct gp_chunk_writer *writer)
{
	if (writer->encoder && writer->encoder->records > 0)
		write_chunk(writer);
	free(writer->encoder);
	free(writer->chunk);
}

#include "report/finish/keep_end.h"

#include <stdlib.h>
#include <sys/wait.h>

#include "gpuprof/record.h"
#include "report/finish/chunk_add.h"

/*
 * Encodes an END record (gpuprof/trace.h) without ticks. All values but the status fit into one
 * byte of a varint.
 */
static void append(int trace, struct gp_model *model)
{
	struct gp_new_chunk *chunk = calloc(1, sizeof(*chunk));
	const struct gp_losses *losses = &model->losses;
	uint8_t *at = chunk ? chunk->payload : NULL;

	if (!chunk)
		return;
	*at++ = GP_RECORD_END;
	*at++ = 1 | 1u << 2 | 1u << 3; /* reason, way, status */
	*at++ = GP_END_REPORTED << 1;
	*at++ = (uint8_t)(losses->end_way << 1);
	*at++ = (uint8_t)(losses->end_status << 1 | (losses->end_status >= 64 ? 0x80 : 0));
	if (losses->end_status >= 64)
		*at++ = losses->end_status >> 6;
	chunk->header = (struct gp_chunk_header){
		.payload_bytes = (uint32_t)(at - chunk->payload),
		.records = 1,
		.form = GP_CHUNK_PACKED,
	};
	gp_chunk_add(trace, model, chunk);
	free(chunk);
}

void gp_keep_end(struct gp_model *model, int status, int save_to)
{
	struct gp_losses *losses = &model->losses;
	uint8_t way = WIFSIGNALED(status) ? GP_END_SIGNAL : GP_END_STATUS;
	uint8_t number = (uint8_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));

	if (losses->live || losses->end_way == GP_END_EXEC ||
	    (losses->end_way == way && losses->end_status == number))
		return;
	losses->end_way = way;
	losses->end_status = number;
	if (save_to >= 0)
		append(save_to, model);
}

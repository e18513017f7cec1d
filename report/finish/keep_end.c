#include "report/finish/keep_end.h"

#include <sys/wait.h>

#include "gpuprof/record.h"
#include "report/finish/chunk_add.h"

static void append(int trace, struct gp_model *model)
{
	const struct gp_record_end record = {
		.kind = GP_RECORD_END,
		.slots = sizeof(record) / GP_SLOT_BYTES,
		.reason = GP_END_REPORTED,
		.way = model->losses.end_way,
		.status = model->losses.end_status,
	};
	struct gp_chunk_writer writer;

	gp_chunk_begin(&writer, trace, model);
	gp_chunk_put(&writer, (const struct gp_record *)&record);
	gp_chunk_end(&writer);
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

#include "report/model/loss_kind.h"

/* Counters that are not listed are telemetry. */
static const uint8_t concerns[GP_COUNTERS] = {
	[GP_COUNTER_LOST_RING_FULL] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_NESTED] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_NO_RING] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_CUPTI] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_BUFFER_ENDS] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_WRITE_BYTES] = GP_LOSS_LOSS,
	[GP_COUNTER_UNKNOWN_RECORDS] = GP_LOSS_LOSS,
	[GP_COUNTER_DAMAGED_SLOTS] = GP_LOSS_LOSS,
	[GP_COUNTER_EXIT_FLUSH_TIMEOUTS] = GP_LOSS_LOSS,
	[GP_COUNTER_EXIT_FLUSHES_REFUSED] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_DISK_FULL] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_DISK_QUOTA] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_NO_BUFFER] = GP_LOSS_LOSS,
	[GP_COUNTER_BUFFER_WAITS] = GP_LOSS_STRAIN,
	[GP_COUNTER_LOST_FILE_LIMIT] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_WRITE_ERROR] = GP_LOSS_LOSS,
	[GP_COUNTER_TEXTS_UNKNOWN] = GP_LOSS_TEXT_LOSS,
	[GP_COUNTER_CUT_PAYLOADS] = GP_LOSS_STRAIN,
	[GP_COUNTER_CUT_STRINGS] = GP_LOSS_STRAIN,
	[GP_COUNTER_SHARED_RING] = GP_LOSS_STRAIN,
	[GP_COUNTER_RING_WAITS] = GP_LOSS_STRAIN,
	[GP_COUNTER_BUFFERS_EXTRA] = GP_LOSS_STRAIN,
	[GP_COUNTER_LOST_MAX_FILE] = GP_LOSS_LOSS,
	[GP_COUNTER_MAX_MEMORY_REFUSED] = GP_LOSS_STRAIN,
	[GP_COUNTER_LEFT_OUT_OLD] = GP_LOSS_LOSS,
	[GP_COUNTER_LOST_DEFINITIONS] = GP_LOSS_TEXT_LOSS,
};

enum gp_loss_kind gp_loss_kind_of(size_t counter)
{
	return (enum gp_loss_kind)concerns[counter];
}

bool gp_loss_kind_is_counted(const struct gp_model *model, enum gp_loss_kind concern)
{
	for (size_t i = 0; i < GP_COUNTERS; i++)
		if (concerns[i] == concern && model->counters[i] > 0 &&
		    i != GP_COUNTER_LEFT_OUT_OLD)
			return true;
	return false;
}

bool gp_loss_kind_has_lost_operations(const struct gp_model *model)
{
	return gp_loss_kind_is_counted(model, GP_LOSS_LOSS) ||
	       model->losses.launches_without_op > 0;
}

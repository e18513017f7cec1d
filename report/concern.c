#include "report/concern.h"

/* Counters that are not listed are telemetry. */
static const uint8_t concerns[GP_COUNTERS] = {
	[GP_COUNTER_LOST_RING_FULL] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_NESTED] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_NO_RING] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_CUPTI] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_BUFFER_ENDS] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_WRITE_BYTES] = GP_CONCERN_LOSS,
	[GP_COUNTER_UNKNOWN_RECORDS] = GP_CONCERN_LOSS,
	[GP_COUNTER_DAMAGED_SLOTS] = GP_CONCERN_LOSS,
	[GP_COUNTER_EXIT_FLUSH_TIMEOUTS] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_DISK_FULL] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_DISK_QUOTA] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_NO_BUFFER] = GP_CONCERN_LOSS,
	[GP_COUNTER_BUFFER_WAITS] = GP_CONCERN_STRAIN,
	[GP_COUNTER_LOST_FILE_LIMIT] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_WRITE_ERROR] = GP_CONCERN_LOSS,
	[GP_COUNTER_TEXTS_UNKNOWN] = GP_CONCERN_TEXT_LOSS,
	[GP_COUNTER_CUT_PAYLOADS] = GP_CONCERN_STRAIN,
	[GP_COUNTER_CUT_STRINGS] = GP_CONCERN_STRAIN,
	[GP_COUNTER_SHARED_RING] = GP_CONCERN_STRAIN,
	[GP_COUNTER_RING_WAITS] = GP_CONCERN_STRAIN,
	[GP_COUNTER_BUFFERS_EXTRA] = GP_CONCERN_STRAIN,
	[GP_COUNTER_LOST_MAX_FILE] = GP_CONCERN_LOSS,
	[GP_COUNTER_MAX_MEMORY_REFUSED] = GP_CONCERN_STRAIN,
	[GP_COUNTER_LEFT_OUT_OLD] = GP_CONCERN_LOSS,
	[GP_COUNTER_LOST_DEFINITIONS] = GP_CONCERN_TEXT_LOSS,
};

enum gp_concern gp_concern_of(size_t counter)
{
	return (enum gp_concern)concerns[counter];
}

bool gp_concern_is_counted(const struct gp_model *model, enum gp_concern concern)
{
	for (size_t i = 0; i < GP_COUNTERS; i++)
		if (concerns[i] == concern && model->counters[i] > 0 &&
		    i != GP_COUNTER_LEFT_OUT_OLD)
			return true;
	return false;
}

bool gp_concern_has_lost_operations(const struct gp_model *model)
{
	return gp_concern_is_counted(model, GP_CONCERN_LOSS) ||
	       model->losses.launches_without_op > 0;
}

/* counter: the numbers and names of the self-telemetry counters in gpuprof/counter.def. */
#ifndef GPUPROF_COUNTER_H
#define GPUPROF_COUNTER_H

enum gp_counter {
#define GP_COUNTER(NAME, unit, KIND, sentence) GP_COUNTER_##NAME,
#include "gpuprof/counter.def"
#undef GP_COUNTER
	GP_COUNTERS
};

/* The counters of records that the writer dropped, one per cause of a failed write. */
#define GP_WRITE_CAUSES 5

static const enum gp_counter gp_write_causes[GP_WRITE_CAUSES] = {
	GP_COUNTER_LOST_DISK_FULL,   GP_COUNTER_LOST_DISK_QUOTA, GP_COUNTER_LOST_FILE_LIMIT,
	GP_COUNTER_LOST_WRITE_ERROR, GP_COUNTER_LOST_MAX_FILE,
};

#endif

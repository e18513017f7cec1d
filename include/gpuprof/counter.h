/* counter: the numbers and names of the self-telemetry counters in gpuprof/counter.def. */
#ifndef GPUPROF_COUNTER_H
#define GPUPROF_COUNTER_H

enum gp_counter {
#define GP_COUNTER(NAME, unit, meaning) GP_COUNTER_##NAME,
#include "gpuprof/counter.def"
#undef GP_COUNTER
	GP_COUNTERS
};

/* Why the trace could not be written: so many counters, from GP_COUNTER_LOST_DISK_FULL on. */
#define GP_WRITE_CAUSES 4

#endif

/* counter: the numbers and names of the self-telemetry counters in gpuprof/counter.def. */
#ifndef GPUPROF_COUNTER_H
#define GPUPROF_COUNTER_H

enum gp_counter {
#define GP_COUNTER(NAME, unit, meaning) GP_COUNTER_##NAME,
#include "gpuprof/counter.def"
#undef GP_COUNTER
	GP_COUNTERS
};

#endif

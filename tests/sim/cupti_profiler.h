/* The metrics of the simulated chip "SIM100", and their values in samples and ranges. */
#ifndef TESTS_SIM_CUPTI_PROFILER_H
#define TESTS_SIM_CUPTI_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#include "gpuprof/hw_metric.h"
#include "tests/sim/device.h"

/* Those of samples, then those of ranges alone. */
enum sim_metric {
	SIM_LAST_OF_SAMPLES = GP_HW_METRICS - 1,
#define METRIC(ID, name, value) SIM_##ID,
#include "tests/sim/range_metric.def"
#undef METRIC
	SIM_METRICS
};

struct sim_sample {
	uint64_t start, end;
	double values[SIM_METRICS];
};

/* A counter data image. */
struct sim_data {
	size_t capacity, count;
	uint64_t metrics; /* that it has a place for: a bit each, by enum sim_metric */
	struct sim_sample samples[];
};

_Static_assert(SIM_METRICS <= 64, "a bit for each metric");

/* The bits of these metrics; unknown ones have none. */
uint64_t sim_metric_bits(const char *const *metrics, size_t count);

/* The image of a config: each call that adds metrics is a pass; peaks are in all passes. */
#define SIM_MOST_PASSES 7
struct sim_config_image {
	uint64_t count, passes[SIM_MOST_PASSES]; /* bits, as above */
};

bool sim_is_peak(int metric);

/* By the range profiler (cupti_range_profiler.c): a kernel was submitted, and its times are known. */
void sim_range_operation(const struct sim_op *op);

#endif

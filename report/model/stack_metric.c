#include "report/model/stack_metric.h"

#include <string.h>

const struct gp_measure_about gp_measures[GP_MEASURES] = {
	[GP_MEASURE_GPU_TIME] = {"gpu-time", "GPU time by launching stack", "nanoseconds",
				 "--stacks=all"},
	[GP_MEASURE_OPERATIONS] = {"operations", "GPU operations by launching stack", "count",
				   "--stacks=all"},
	[GP_MEASURE_API_TIME] = {"api-time", "time in CUDA calls by stack", "nanoseconds",
				 "--stacks=all"},
	[GP_MEASURE_CALLS] = {"calls", "CUDA calls by stack", "count", "--stacks=all"},
	[GP_MEASURE_ALLOCATED] = {"allocated-bytes", "memory allocated by stack", "bytes",
				  "--stacks=alloc"},
	[GP_MEASURE_ALLOCATIONS] = {"allocations", "allocations by stack", "count",
				    "--stacks=alloc"},
	[GP_MEASURE_LEAKED] = {"leaked-bytes",
			       "memory never freed, caches too, by allocating stack", "bytes",
			       "--stacks=alloc"},
	[GP_MEASURE_PEAK] = {"peak-bytes", "memory held at the peak, by allocating stack", "bytes",
			     "--stacks=alloc"},
	[GP_MEASURE_HOST_TIME] = {"host-time", "host time by Python stack", "nanoseconds",
				  "--host-samples=20"},
};

enum gp_measure gp_measure_find(const char *word)
{
	int i = 0;

	while (i < GP_MEASURES && strcmp(gp_measures[i].word, word) != 0)
		i++;
	return (enum gp_measure)i;
}

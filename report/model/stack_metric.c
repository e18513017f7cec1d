#include "report/model/stack_metric.h"

#include <string.h>

const struct gp_stack_metric_about gp_stack_metrics[GP_STACK_METRICS] = {
	[GP_STACK_METRIC_GPU_TIME] = {"gpu-time", "GPU time by launching stack", "nanoseconds",
				      "--stacks=all"},
	[GP_STACK_METRIC_OPERATIONS] = {"operations", "GPU operations by launching stack", "count",
					"--stacks=all"},
	[GP_STACK_METRIC_API_TIME] = {"api-time", "time in CUDA calls by stack", "nanoseconds",
				      "--stacks=all"},
	[GP_STACK_METRIC_CALLS] = {"calls", "CUDA calls by stack", "count", "--stacks=all"},
	[GP_STACK_METRIC_ALLOCATED] = {"allocated-bytes", "memory allocated by stack", "bytes",
				       "--stacks=alloc"},
	[GP_STACK_METRIC_ALLOCATIONS] = {"allocations", "allocations by stack", "count",
					 "--stacks=alloc"},
	[GP_STACK_METRIC_LEAKED] = {"leaked-bytes",
				    "memory never freed, caches too, by allocating stack", "bytes",
				    "--stacks=alloc"},
	[GP_STACK_METRIC_PEAK] = {"peak-bytes", "memory held at the peak, by allocating stack",
				  "bytes", "--stacks=alloc"},
	[GP_STACK_METRIC_HOST_TIME] = {"host-time", "host time by Python stack", "nanoseconds",
				       "--host-samples=5"},
	[GP_STACK_METRIC_HOST_RUNNING] = {"host-running",
					  "host time by Python stack, without idle threads",
					  "nanoseconds", "--host-samples=5"},
	[GP_STACK_METRIC_STALLS] = {"stalls",
				    "samples of warps by launching stack, kernel, line and reason",
				    "count", "--stalls"},
};

enum gp_stack_metric gp_stack_metric_find(const char *word)
{
	int i = 0;

	while (i < GP_STACK_METRICS && strcmp(gp_stack_metrics[i].word, word) != 0)
		i++;
	return (enum gp_stack_metric)i;
}

/* stack_metric: values that can be added up over call stacks. */
#ifndef REPORT_MODEL_STACK_METRIC_H
#define REPORT_MODEL_STACK_METRIC_H

enum gp_stack_metric {
	GP_STACK_METRIC_GPU_TIME, /* sum of the operations' durations */
	GP_STACK_METRIC_OPERATIONS,
	GP_STACK_METRIC_API_TIME,
	GP_STACK_METRIC_CALLS,
	GP_STACK_METRIC_ALLOCATED,
	GP_STACK_METRIC_ALLOCATIONS,
	GP_STACK_METRIC_LEAKED, /* not freed before the trace ended */
	/*
	 * held when the process had most; of a device's own memory, and of each other kind, at its
	 * own time
	 */
	GP_STACK_METRIC_PEAK,
	GP_STACK_METRIC_HOST_TIME, /* of the samples of Python threads */
	/*
	 * the same without the time in which other threads than the one that calls CUDA most only
	 * waited
	 */
	GP_STACK_METRIC_HOST_RUNNING,
	GP_STACK_METRIC_STALLS, /* samples of warps: kernel, source line, reason to wait */
	GP_STACK_METRICS
};

struct gp_stack_metric_about {
	const char *word;   /* as a user names it */
	const char *title;  /* a few words */
	const char *unit;   /* "nanoseconds", "bytes", "count" */
	const char *record; /* the option that records it */
};

extern const struct gp_stack_metric_about gp_stack_metrics[GP_STACK_METRICS];

/* The measure of that word, or GP_STACK_METRICS. */
enum gp_stack_metric gp_stack_metric_find(const char *word);

/* The one that was chosen; GP_STACK_METRICS = none was: the GPU's time. */
static inline enum gp_stack_metric gp_stack_metric_chosen(enum gp_stack_metric chosen)
{
	return chosen < GP_STACK_METRICS ? chosen : GP_STACK_METRIC_GPU_TIME;
}

#endif

/* measure: what can be added up over call stacks. */
#ifndef REPORT_MODEL_STACK_METRIC_H
#define REPORT_MODEL_STACK_METRIC_H

enum gp_measure {
	GP_MEASURE_GPU_TIME, /* sum of the operations' durations */
	GP_MEASURE_OPERATIONS,
	GP_MEASURE_API_TIME,
	GP_MEASURE_CALLS,
	GP_MEASURE_ALLOCATED,
	GP_MEASURE_ALLOCATIONS,
	GP_MEASURE_LEAKED, /* not freed before the trace ended */
	GP_MEASURE_PEAK, /* held when the process had most; of a device's own memory, and of each other kind, at its own time */
	GP_MEASURE_HOST_TIME, /* that looks at the stacks of Python's threads stand for */
	GP_MEASURES
};

struct gp_measure_about {
	const char *word;   /* as a user names it */
	const char *title;  /* a few words */
	const char *unit;   /* "nanoseconds", "bytes", "count" */
	const char *record; /* the option that records what is needed */
};

extern const struct gp_measure_about gp_measures[GP_MEASURES];

/* The measure of that word, or GP_MEASURES. */
enum gp_measure gp_measure_find(const char *word);

/* The one that was chosen; GP_MEASURES = none was: the GPU's time. */
static inline enum gp_measure gp_measure_chosen(enum gp_measure chosen)
{
	return chosen < GP_MEASURES ? chosen : GP_MEASURE_GPU_TIME;
}

#endif

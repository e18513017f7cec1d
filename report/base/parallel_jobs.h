/*
 * at_once: does things that have nothing to do with each other at the same time, where there are
 * cores for it and memory is not limited.
 */
#ifndef REPORT_BASE_PARALLEL_JOBS_H
#define REPORT_BASE_PARALLEL_JOBS_H

#include <stddef.h>

/*
 * With less memory than that by getrlimit(), no threads are made.  Traces are loaded under such a
 * limit (report/base/memory_limit.h), which is larger on most machines.
 */
#define GP_AT_ONCE_LEAST_BYTES ((size_t)1 << 30)

struct gp_task {
	int (*work)(void *context);
	void *context;
	int result; /* what work() returned, 0 or a negative errno value */
};

/*
 * Each on a thread of its own, the last one on the caller's.  Returns once all are done: 0, or the
 * result of the first that failed, in their order.
 */
int gp_run_parallel(struct gp_task *tasks, size_t count);

#endif

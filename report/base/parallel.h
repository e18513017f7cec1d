/*
 * parallel: runs independent tasks on several threads, if there are cores and memory for them.
 */
#ifndef REPORT_BASE_PARALLEL_H
#define REPORT_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/*
 * Under a lower memory limit of getrlimit(), tasks run one after the other. Traces are loaded under
 * such a limit (report/base/memory_limit.h), which is larger on most machines.
 */
#define GP_PARALLEL_LEAST_BYTES ((size_t)1 << 30)

struct gp_task {
	int (*work)(void *context);
	void *context;
	int result; /* of work(): 0 or a negative errno value */
};

/* The number of cores that this process may run on; 1 if unknown. */
uint32_t gp_core_count(void);

/*
 * Runs each task on a thread of its own, the last one on the caller's. Returns when all are done: 0,
 * or the result of the first task in the array that failed.
 */
int gp_run_parallel(struct gp_task *tasks, size_t count);

#endif

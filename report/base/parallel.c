#include "report/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

#define MOST_THREADS 16u
/* malloc() reserves 128 MiB for each thread, a stack takes 8; as much again for the rest. */
#define THREAD_ADDRESS_BYTES ((rlim_t)256 << 20)

uint32_t gp_core_count(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static void *work(void *context)
{
	struct gp_task *task = context;

	task->result = task->work(task->context);
	return NULL;
}

/*
 * The limit counts the whole stack of each thread, used or not, and parallel tasks need their memory
 * at the same time.
 */
static bool is_tight(int resource, rlim_t least_bytes)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_cur < least_bytes;
}

static bool has_memory_for_threads(void)
{
	return gp_core_count() > 1 && !is_tight(RLIMIT_DATA, GP_PARALLEL_LEAST_BYTES) &&
	       !is_tight(RLIMIT_AS, MOST_THREADS * THREAD_ADDRESS_BYTES);
}

static bool begin(struct gp_task *task, pthread_t *thread)
{
	return pthread_create(thread, NULL, work, task) == 0;
}

int gp_run_parallel(struct gp_task *tasks, size_t count)
{
	pthread_t threads[MOST_THREADS];
	size_t begun = 0, most = has_memory_for_threads() ? MOST_THREADS : 0;

	while (begun + 1 < count && begun < most && begin(&tasks[begun], &threads[begun]))
		begun++;
	for (size_t i = begun; i < count; i++)
		work(&tasks[i]);
	for (size_t i = 0; i < begun; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count; i++)
		if (tasks[i].result < 0)
			return tasks[i].result;
	return 0;
}

/*
 * overload: threads emit records as fast as they can, with both values of --on-overload.
 *
 *	bench/overload [RECORDS]      records of each thread; default 2000000
 *
 * Prints, for 1, 2 and 8 threads, the records per second that the threads pass to gp_emit(), and
 * the share of dropped records.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/atomic.h"
#include "collector/collector.h"

#define MOST_THREADS 8u

static uint64_t each = 2000000;
static uint64_t kept;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void *emit_all(void *unused)
{
	struct gp_record_call call = {.kind = GP_RECORD_CALL, .slots = 1, .api = 211};
	uint64_t taken = 0;

	for (uint64_t i = 0; i < each; i++) {
		call.correlation_id = (uint32_t)i;
		call.start_ticks = gp_clock_ticks();
		call.duration_low_ticks = 7000 + (uint32_t)(i * 7919 % 2000);
		taken += gp_emit((const struct gp_record *)&call);
	}
	gp_add64(&kept, taken);
	return unused;
}

static void measure(const char *name, uint32_t thread_count)
{
	pthread_t threads[MOST_THREADS];
	uint64_t start_ns = now_ns(), total = each * thread_count;

	for (uint32_t i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, emit_all, NULL) != 0)
			exit(1);
	for (uint32_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	printf("%-8s %8u %12.2f %12.3f\n", name, thread_count,
	       (double)total * 1e3 / (double)(now_ns() - start_ns),
	       100.0 * (double)(total - kept) / (double)total);
	fflush(stdout);
}

/* In a child, because a process has only one collector. */
static void measure_in_child(const char *name, enum gp_overload on_overload, uint32_t thread_count)
{
	struct gp_collector_config config = {.trace_path = "/tmp/gpuprof-bench-overload",
					     .on_overload = on_overload};
	pid_t child = fork();
	int error;

	if (child != 0) {
		waitpid(child, NULL, 0);
		return;
	}
	error = gp_collector_start(&config);
	if (error) {
		fprintf(stderr, "gpuprof: the collector did not start: %s\n", strerror(-error));
		_exit(1);
	}
	measure(name, thread_count);
	gp_collector_stop(60000000000u);
	unlink(gp_collector_trace_path());
	_exit(0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		each = strtoull(argv[1], NULL, 10);
	printf("%-8s %8s %12s %12s\n", "", "threads", "million/s", "% dropped");
	fflush(stdout);
	for (uint32_t threads = 1; threads <= MOST_THREADS;
	     threads = threads == 2 ? 8 : 2 * threads) {
		measure_in_child("block", GP_OVERLOAD_BLOCK, threads);
		measure_in_child("drop", GP_OVERLOAD_DROP, threads);
	}
	return 0;
}

/*
 * steady SECONDS: launches kernels and allocates memory as fast as it can for that time, in one
 * permanent thread and in a sequence of short ones.  Prints the counts.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/lib/cuda_start.h"

#define LAUNCHES_AT_ONCE 7
#define ROUNDS_OF_A_LIFE 2000 /* of a thread that ends soon */

static CUcontext context;
static CUfunction kernel;
static time_t end_s;

struct done {
	uint64_t launches, allocations;
};

static void expect(int is_so)
{
	if (!is_so)
		exit(1);
}

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec >= end_s;
}

static void do_round(struct done *done)
{
	CUdeviceptr memory;

	for (int i = 0; i < LAUNCHES_AT_ONCE; i++)
		cuda_check(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	cuda_check(cuMemAlloc_v2(&memory, 4096));
	cuda_check(cuMemFree_v2(memory));
	done->launches += LAUNCHES_AT_ONCE;
	done->allocations++;
}

static void *live_shortly(void *done)
{
	cuda_check(cuCtxSetCurrent(context));
	for (int i = 0; i < ROUNDS_OF_A_LIFE && !is_over(); i++)
		do_round(done);
	return NULL;
}

static void *live_on(void *done)
{
	cuda_check(cuCtxSetCurrent(context));
	while (!is_over())
		do_round(done);
	return NULL;
}

int main(int count, char **arguments)
{
	struct done on = {0, 0}, shortly = {0, 0};
	struct timespec now;
	pthread_t stays, ends;

	clock_gettime(CLOCK_MONOTONIC, &now);
	end_s = now.tv_sec + (count > 1 ? atol(arguments[1]) : 1);
	context = cuda_start();
	cuda_load_kernels(&kernel, 1, "step_kernel_", "");
	expect(pthread_create(&stays, NULL, live_on, &on) == 0);
	while (!is_over()) {
		expect(pthread_create(&ends, NULL, live_shortly, &shortly) == 0);
		pthread_join(ends, NULL);
	}
	pthread_join(stays, NULL);
	cuda_check(cuCtxSynchronize());
	printf("%" PRIu64 " %" PRIu64 "\n", on.launches + shortly.launches,
	       on.allocations + shortly.allocations);
}

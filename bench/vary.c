/*
 * vary: launches, spread over numbers of threads, streams and so on.  For bench/scale.
 *
 *	vary LAUNCHES THREADS STREAMS KERNELS STACKS PROCESSES DEVICES
 *
 * Each process and each of its threads makes an equal part of the launches, alternating between its
 * devices, streams, kernels and call stacks.  STREAMS is the number of streams of each device.  All
 * stacks have the same depth.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/cuda_start.h"

#define LEVELS 14u /* of calls, with two functions at each level */

static struct {
	long launches, threads, streams, kernels, stacks, processes, devices;
} asked;

static struct device {
	CUcontext context;
	CUfunction *kernels;
	CUstream *streams;
} * devices;

static void *room(long count, size_t bytes)
{
	void *memory = calloc((size_t)count, bytes);

	if (!memory)
		exit(1);
	return memory;
}

static void set_up_device(struct device *device, int number)
{
	cuda_check(cuDevicePrimaryCtxRetain(&device->context, number));
	cuda_check(cuCtxSetCurrent(device->context));
	device->kernels = room(asked.kernels, sizeof(*device->kernels));
	device->streams = room(asked.streams, sizeof(*device->streams));
	for (long i = 0; i < asked.streams; i++)
		cuda_check(cuStreamCreate(&device->streams[i], CU_STREAM_NON_BLOCKING));
	cuda_load_kernels(device->kernels, (size_t)asked.kernels, "kernel_", "");
}

static void set_up(void)
{
	cuda_start();
	devices = room(asked.devices, sizeof(*devices));
	for (long i = 0; i < asked.devices; i++)
		set_up_device(&devices[i], (int)i);
}

static void launch(long number)
{
	const struct device *device = &devices[number % asked.devices];

	number /= asked.devices;
	cuda_check(cuLaunchKernel(device->kernels[number % asked.kernels], 1, 1, 1, 32, 1, 1, 0,
				  device->streams[number % asked.streams], NULL, NULL));
}

static void wait_for_all(void)
{
	for (long i = 0; i < asked.devices; i++) {
		cuda_check(cuCtxSetCurrent(devices[i].context));
		cuda_check(cuCtxSynchronize());
	}
}

static void descend(unsigned level, long stack, long number);

/* The statement after the call prevents a tail call, so that each level has a frame. */
__attribute__((noinline)) static void zero(unsigned level, long stack, long number)
{
	descend(level, stack, number);
	__asm__ volatile("# zero" : : : "memory");
}

__attribute__((noinline)) static void one(unsigned level, long stack, long number)
{
	descend(level, stack, number);
	__asm__ volatile("# one" : : : "memory");
}

/*
 * The bits of a stack's number select one of two functions at each level; the lowest bit is for the
 * innermost.
 */
static void descend(unsigned level, long stack, long number)
{
	if (level == 0)
		launch(number);
	else if (stack >> (level - 1) & 1)
		one(level - 1, stack, number);
	else
		zero(level - 1, stack, number);
}

static void *run_thread(void *unused)
{
	long count = asked.launches / asked.threads / asked.processes;

	cuda_check(cuCtxSetCurrent(devices[0].context));
	for (long i = 0; i < count; i++) {
		if (asked.devices > 1)
			cuda_check(cuCtxSetCurrent(devices[i % asked.devices].context));
		descend(LEVELS, i % asked.stacks, i);
		if (i % 1000 == 999)
			wait_for_all();
	}
	return unused;
}

static void run_process(void)
{
	pthread_t *threads = room(asked.threads, sizeof(*threads));

	set_up();
	for (long i = 0; i < asked.threads; i++)
		if (pthread_create(&threads[i], NULL, run_thread, NULL) != 0)
			exit(1);
	for (long i = 0; i < asked.threads; i++)
		pthread_join(threads[i], NULL);
	wait_for_all();
	free(threads);
}

/* The processes run one after the other, so that only their number makes a difference. */
static int run_processes(void)
{
	int failed = 0, status;

	for (long i = 0; i < asked.processes; i++) {
		pid_t child = fork();

		if (child == 0) {
			run_process();
			exit(0);
		}
		failed |= child < 0 || waitpid(child, &status, 0) < 0 || status != 0;
	}
	return failed;
}

int main(int argc, char **argv)
{
	long *const numbers[] = {&asked.launches, &asked.threads,   &asked.streams, &asked.kernels,
				 &asked.stacks,   &asked.processes, &asked.devices};

	for (int i = 0; i < 7; i++) {
		*numbers[i] = i + 1 < argc ? atol(argv[i + 1]) : 0;
		if (*numbers[i] < 1) {
			fprintf(stderr,
				"usage: vary LAUNCHES THREADS STREAMS KERNELS STACKS PROCESSES DEVICES\n");
			return 64;
		}
	}
	if (asked.processes > 1)
		return run_processes();
	run_process();
	return 0;
}

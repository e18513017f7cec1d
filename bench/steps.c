/*
 * steps: training steps as in a PyTorch program, without the computation.  For bench/report and
 * bench/bytes.
 *
 *	steps COUNT
 *
 * A step has 900 launches of 120 kernels, each with its own shape, from 60 call stacks, in ranges
 * for the step, its phases and its layers; a copy in each direction, ten pairs of an asynchronous
 * allocation and its free, and a synchronization.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvtx3/nvToolsExt.h>

#include "tests/lib/cuda_start.h"

#define KERNELS  120u
#define PHASES   3u
#define LAYERS   30u
#define LAUNCHES 10u /* per layer */
#define BUFFERS  10u
#define BYTES    65536u

static CUfunction kernels[KERNELS];
static CUstream stream;
static CUdeviceptr device;
static void *host;

static void set_up(void)
{
	cuda_start();
	cuda_check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	cuda_check(cuMemAlloc(&device, BYTES));
	cuda_check(cuMemAllocHost(&host, BYTES));
	/* names as long as those of C++ templates */
	cuda_load_kernels(kernels, KERNELS, "_ZN2at6native29vectorized_elementwise_kernelILi",
			  "ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_");
}

/* The statement after the call prevents a tail call, so that each level has a frame. */
__attribute__((noinline)) static void launch_below(uint32_t depth, uint32_t kernel)
{
	if (depth > 0)
		launch_below(depth - 1, kernel);
	else
		cuda_check(cuLaunchKernel(kernels[kernel], 1 + kernel, 1, 1, 32 + kernel % 8 * 32,
					  1, 1, 0, stream, NULL, NULL));
	__asm__ volatile("" : : : "memory");
}

static void run_layer(uint32_t phase, uint32_t layer)
{
	static const char *const names[] = {"attention", "linear", "norm"};

	nvtxRangePushA(names[layer % 3]);
	for (uint32_t i = 0; i < LAUNCHES; i++)
		launch_below(10 + (phase * LAYERS + layer) % 60,
			     (phase * 400 + layer * 37 + i * 7) % KERNELS);
	nvtxRangePop();
}

static void run_step(void)
{
	static const char *const phases[PHASES] = {"forward", "backward", "optimizer"};
	CUdeviceptr buffers[BUFFERS];

	nvtxRangePushA("step");
	cuda_check(cuMemcpyHtoDAsync(device, host, BYTES, stream));
	for (uint32_t i = 0; i < BUFFERS; i++)
		cuda_check(cuMemAllocAsync(&buffers[i], BYTES << i % 4, stream));
	for (uint32_t phase = 0; phase < PHASES; phase++) {
		nvtxRangePushA(phases[phase]);
		for (uint32_t layer = 0; layer < LAYERS; layer++)
			run_layer(phase, layer);
		nvtxRangePop();
	}
	for (uint32_t i = 0; i < BUFFERS; i++)
		cuda_check(cuMemFreeAsync(buffers[i], stream));
	cuda_check(cuMemcpyDtoHAsync(host, device, BYTES, stream));
	cuda_check(cuStreamSynchronize(stream));
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? atol(argv[1]) : 0;

	if (count < 1) {
		fprintf(stderr, "usage: steps COUNT\n");
		return 64;
	}
	set_up();
	for (long i = 0; i < count; i++)
		run_step();
	return 0;
}

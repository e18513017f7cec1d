/*
 * ranges [RANGES [INSIDE [OUTSIDE]]]: launches between cudaProfilerStart and cudaProfilerStop and
 * in an NVTX range, and others before each range and after the last one; allocations inside that
 * are freed outside, and the reverse.
 */
#include "check.h"

#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

namespace tool
{
template <typename T> __global__ void k_inside(T *)
{
}
} // namespace tool

__global__ void k_outside()
{
}

static void launch_outside(int count)
{
	for (int i = 0; i < count; i++)
		k_outside<<<1, 32>>>();
}

int main(int argc, char **argv)
{
	int ranges = argument(argc, argv, 1, 3), inside = argument(argc, argv, 2, 100);
	int outside = argument(argc, argv, 3, 50);
	float *before, *within;

	CHECK(cudaMalloc(&before, 4096));
	for (int range = 0; range < ranges; range++) {
		launch_outside(outside);
		CHECK(cudaProfilerStart());
		nvtxRangePushA("inside");
		for (int i = 0; i < inside; i++)
			tool::k_inside<<<1, 32>>>(before);
		CHECK(cudaMalloc(&within, 4096));
		nvtxRangePop();
		CHECK(cudaProfilerStop());
		CHECK(cudaFree(within));
	}
	launch_outside(outside);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(before));
	say("kernel.k_inside", (unsigned long long)ranges * inside);
	say("kernel.k_outside", (unsigned long long)(ranges + 1) * outside);
	return 0;
}

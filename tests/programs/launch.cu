/* launch [COUNT]: launches of every kind on the default stream. */
#include "check.h"

#include <cooperative_groups.h>

extern "C" __global__ void k_empty()
{
}

__global__ void k_arguments(int *out, int value, float scale)
{
	if (out && threadIdx.x == 0)
		*out = (int)(value * scale);
}

__global__ void k_shared()
{
	extern __shared__ float scratch[];

	scratch[threadIdx.x] = threadIdx.x;
}

__global__ void k_cooperative()
{
	cooperative_groups::this_grid().sync();
}

static void launch_configured(int count)
{
	cudaLaunchConfig_t config = {};

	config.gridDim = dim3(2);
	config.blockDim = dim3(64);
	for (int i = 0; i < count; i++)
		CHECK(cudaLaunchKernelEx(&config, k_empty));
}

int main(int argc, char **argv)
{
	int count = argument(argc, argv, 1, 100);

	for (int i = 0; i < count; i++)
		k_empty<<<1, 32>>>();
	for (int i = 0; i < count; i++)
		k_arguments<<<dim3(2, 3), dim3(8, 4)>>>(nullptr, i, 1.5f);
	for (int i = 0; i < count; i++)
		k_shared<<<1, 128, 4096>>>();
	for (int i = 0; i < count; i++)
		CHECK(cudaLaunchCooperativeKernel((void *)k_cooperative, dim3(4), dim3(32), nullptr,
						  0, 0));
	launch_configured(count);
	CHECK(cudaDeviceSynchronize());
	say("kernel.k_empty", 2 * count);
	say("kernel.k_arguments", count);
	say("kernel.k_shared", count);
	say("kernel.k_cooperative", count);
	say("launches", 5 * count);
	return 0;
}

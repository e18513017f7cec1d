/*
 * waits [ROUNDS [1]]: kernels that wait for known reasons at known lines, which a comment marks; 1:
 * resets the device at the end.  For tests/gpu/stalls; tests on the simulated device only load its
 * code.
 */
#include "tests/programs/check.h"

#define BLOCKS 264
#define WARPS  8
#define COUNT  (1u << 26)

/* Each load needs the value of the one before. */
__global__ void chase(const unsigned *next, unsigned *last, int hops)
{
	unsigned at = blockIdx.x * blockDim.x + threadIdx.x;

	for (int i = 0; i < hops; i++)
		at = next[at]; /* mark: chase */
	last[blockIdx.x] = at;
}

/* One warp of a block works, the others wait for it, at the instruction behind the barrier. */
__global__ void meet(volatile float *data, int rounds)
{
	float value = data[threadIdx.x];

	for (int i = 0; i < rounds; i++) {
		if (threadIdx.x < 32)
			for (int k = 0; k < 64; k++)
				value = value * 0.999f + 0.001f;
		__syncthreads();
		value += data[0]; /* mark: meet */
	}
	data[threadIdx.x] = value;
}

/* Not inlined: a function of its own in the kernel's code. */
__noinline__ __device__ double root(double value)
{
	return sqrt(value) * 1.5; /* mark: root */
}

/* The arithmetic unit for double has few lanes. */
__global__ void roots(double *data, int rounds)
{
	double value = data[threadIdx.x];

	for (int i = 0; i < rounds; i++)
		value = root(value + i); /* mark: call */
	data[threadIdx.x] = value;
}

__global__ void fill(unsigned *next, unsigned count)
{
	unsigned step = gridDim.x * blockDim.x;

	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		next[i] = (i * 1664525u + 1013904223u) % count;
}

int main(int argc, char **argv)
{
	int rounds = argument(argc, argv, 1, 20);
	unsigned *next, *last;
	double *data;

	CHECK(cudaMalloc((void **)&next, COUNT * sizeof(*next)));
	CHECK(cudaMalloc((void **)&last, BLOCKS * sizeof(*last)));
	CHECK(cudaMalloc((void **)&data, 1024 * sizeof(*data)));
	CHECK(cudaMemset(data, 0, 1024 * sizeof(*data)));
	fill<<<BLOCKS, 256>>>(next, COUNT);
	for (int i = 0; i < rounds; i++) {
		chase<<<BLOCKS, 32 * WARPS>>>(next, last, 20000);
		meet<<<BLOCKS, 32 * WARPS>>>((float *)data, 20000);
		roots<<<BLOCKS, 32 * WARPS>>>(data, 2000);
	}
	CHECK(cudaDeviceSynchronize());
	if (argument(argc, argv, 2, 0))
		CHECK(cudaDeviceReset());
	say("rounds", (unsigned long long)rounds);
	return 0;
}

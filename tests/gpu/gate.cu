/*
 * gate [PERCENT [EXTRA]]: steps of copy in, two kernels and copy out.  The kernel `work`, a loop,
 * takes PERCENT longer.  The other kernel, `steady`, is launched EXTRA more times, with almost no
 * work.
 */
#include "tests/programs/check.h"

#define STEPS  1000
#define ROUNDS 40000
#define BLOCKS 264
#define COUNT  (BLOCKS * 256)

__global__ void work(float *data, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = data[i];

	for (int r = 0; r < rounds; r++)
		value = value * 0.999f + 0.001f;
	data[i] = value;
}

__global__ void steady(float *data, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float value = data[i];

	for (int r = 0; r < rounds; r++)
		value = value * 0.998f + 0.002f;
	data[i] = value;
}

int main(int argc, char **argv)
{
	int percent = argument(argc, argv, 1, 0), extra = argument(argc, argv, 2, 0);
	int rounds = ROUNDS + ROUNDS / 100 * percent;
	float *host, *device;

	CHECK(cudaMallocHost((void **)&host, COUNT * sizeof(float)));
	for (int i = 0; i < COUNT; i++)
		host[i] = 1;
	CHECK(cudaMalloc((void **)&device, COUNT * sizeof(float)));
	for (int i = 0; i < STEPS; i++) {
		CHECK(cudaMemcpyAsync(device, host, COUNT * sizeof(float), cudaMemcpyHostToDevice));
		work<<<BLOCKS, 256>>>(device, rounds);
		steady<<<BLOCKS, 256>>>(device, ROUNDS);
		CHECK(cudaMemcpyAsync(host, device, COUNT * sizeof(float), cudaMemcpyDeviceToHost));
	}
	for (int i = 0; i < extra; i++)
		steady<<<1, 256>>>(device, 1);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(device));
	CHECK(cudaFreeHost(host));
	return 0;
}

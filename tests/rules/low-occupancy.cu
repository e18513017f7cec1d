#include "tests/rules/rule.h"

const int BLOCKS = 132 * 8;

/* What is to be done, however many threads do it. */
__global__ void work_and_spin(long long cycles, float *data, int blocks)
{
	extern __shared__ float tile[];
	long long start = clock64();

	tile[threadIdx.x] = data[threadIdx.x];
	while (clock64() - start < cycles)
		;
	if (blocks < 0)
		data[threadIdx.x] = tile[0];
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	size_t shared = sin ? 100 << 10 : 20 << 10;
	float *data;
	double start;

	CHECK(cudaMalloc(&data, 4096));
	CHECK(cudaFuncSetAttribute(work_and_spin, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
	start = warm_up();
	for (int i = 0; i < 50; i++) {
		work_and_spin<<<BLOCKS, 128, shared>>>(400 * CYCLES_PER_US, data, BLOCKS); /* sin */
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}

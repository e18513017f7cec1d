#include "tests/rules/rule.h"

const int ROWS = 32;
const int BLOCKS = 132 * 8;

/* Each warp adds up the columns of a tile whose rows have that many words. */
template <int PITCH> __global__ void add_columns(float *sums, int rounds)
{
	__shared__ float tile[ROWS * PITCH];
	int row = threadIdx.x % 32;
	float total = 0;

	for (int i = threadIdx.x; i < ROWS * PITCH; i += blockDim.x)
		tile[i] = (float)i;
	__syncthreads();
	for (int round = 0; round < rounds; round++)
#pragma unroll 8
		for (int column = 0; column < 32; column++)
			total += *(volatile float *)&tile[row * PITCH + column];
	sums[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	float *sums;
	double start;

	CHECK(cudaMalloc(&sums, (size_t)BLOCKS * 256 * sizeof(*sums)));
	start = warm_up();
	for (int i = 0; i < 400; i++) {
		if (sin)
			add_columns<32><<<BLOCKS, 256>>>(sums, 40); /* sin */
		else
			add_columns<33><<<BLOCKS, 256>>>(sums, 40);
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}

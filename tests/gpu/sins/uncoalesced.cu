#include "tests/rules/rule.h"

const unsigned SIDE = 8192;

/* Sums of each row, or of each column: a thread goes through one of them. */
__global__ void sum(float *sums, const float *matrix, size_t step, size_t between)
{
	size_t line = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	size_t first = blockIdx.y * (size_t)(SIDE / gridDim.y);
	float total = 0;

	for (unsigned i = 0; i < SIDE / gridDim.y; i++)
		total += matrix[line * between + (first + i) * step];
	atomicAdd(&sums[line], total);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	size_t step = sin ? 1 : SIDE, between = sin ? SIDE : 1;
	float *matrix, *sums;
	double start;

	CHECK(cudaMalloc(&matrix, (size_t)SIDE * SIDE * sizeof(*matrix)));
	CHECK(cudaMalloc(&sums, SIDE * sizeof(*sums)));
	CHECK(cudaMemset(matrix, 0, (size_t)SIDE * SIDE * sizeof(*matrix)));
	CHECK(cudaMemset(sums, 0, SIDE * sizeof(*sums)));
	start = warm_up();
	for (int i = 0; i < 400; i++) {
		sum<<<dim3(SIDE / 256, 32), 256>>>(sums, matrix, step, between); /* sin */
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}

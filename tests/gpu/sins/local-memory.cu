#include "tests/rules/rule.h"

const int TAPS = 32;
const int BLOCKS = 132 * 8;

/* A filter over the last values of each thread's sequence.  order: of its taps, which the compiler does not know. */
template <bool IN_REGISTERS> __global__ void filter(float *values, const int *order, int rounds)
{
	size_t thread = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	float last[TAPS], sum = values[thread];

#pragma unroll
	for (int i = 0; i < TAPS; i++)
		last[i] = sum + (float)i;
	for (int round = 0; round < rounds; round++)
#pragma unroll
		for (int i = 0; i < TAPS; i++) {
			int at = IN_REGISTERS ? i : order[i];

			sum = sum * 0.5f + last[at];
			last[at] = sum;
		}
	values[thread] = sum;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	int numbers[TAPS], *order;
	float *values;
	double start;

	for (int i = 0; i < TAPS; i++)
		numbers[i] = i;
	CHECK(cudaMalloc(&values, (size_t)BLOCKS * 256 * sizeof(*values)));
	CHECK(cudaMemset(values, 0, (size_t)BLOCKS * 256 * sizeof(*values)));
	CHECK(cudaMalloc(&order, sizeof(numbers)));
	CHECK(cudaMemcpy(order, numbers, sizeof(numbers), cudaMemcpyHostToDevice));
	start = warm_up();
	for (int i = 0; i < 400; i++) {
		if (sin)
			filter<false><<<BLOCKS, 256>>>(values, order, 60); /* sin */
		else
			filter<true><<<BLOCKS, 256>>>(values, order, 60);
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}

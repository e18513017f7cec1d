#include "tests/rules/rule.h"

const int BLOCKS = 132, LAUNCHES = 50, US = 1056;

/* Each block has its part of what is to be done. */
__global__ void part_and_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	int blocks = sin ? 1 : BLOCKS;
	double start;

	start = warm_up();
	for (int i = 0; i < LAUNCHES; i++) {
		part_and_spin<<<blocks, 256>>>(US / blocks * CYCLES_PER_US); /* sin */
		CHECK(cudaGetLastError());
	}
	return end_loop(start);
}

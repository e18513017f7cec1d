#include "tests/rules/rule.h"

#define STEPS 192

/* Named like PyTorch's, and as long as a copy of so many parts. */
__global__ void CatArrayBatchedCopy_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

/* A buffer is extended by one part in each step. */
int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 1; i <= STEPS; i++) {
		int parts = sin ? i : 1;

		CatArrayBatchedCopy_spin<<<132, 256>>>(parts * 2 * CYCLES_PER_US); /* sin */
		launch_spin(300);
	}
	return end_loop(start);
}

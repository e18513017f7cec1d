#include "tests/rules/rule.h"

/* Named like one of CUTLASS. */
__global__ void cutlass_80_simt_sgemm_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

__global__ void cutlass_80_tensorop_tf32gemm_spin(long long cycles)
{
	long long start = clock64();

	while (clock64() - start < cycles)
		;
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 40; i++) {
		if (sin)
			cutlass_80_simt_sgemm_spin<<<132, 256>>>(1400 * CYCLES_PER_US); /* sin */
		else
			cutlass_80_tensorop_tf32gemm_spin<<<132, 256>>>(200 * CYCLES_PER_US);
		launch_spin(200);
	}
	return end_loop(start);
}

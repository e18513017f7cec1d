#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *kept = NULL, *block;
	double start;

	CHECK(cudaMalloc(&kept, 1 << 20));
	start = warm_up();
	for (int i = 0; i < 300; i++) {
		block = kept;
		if (sin)
			CHECK(cudaMalloc(&block, 1 << 20)); /* sin */
		launch_spin(50);
		compute(40);
		if (sin)
			CHECK(cudaFree(block));
	}
	end_loop(start);
	CHECK(cudaFree(kept));
	return 0;
}

#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	char *block = NULL, *little = NULL;
	double start = warm_up();

	for (int i = 0; i < 32; i++) {
		if (sin || i == 0)
			CHECK(cudaMalloc(&block, 1 << 16)); /* sin */
		if (sin || i == 0)
			CHECK(cudaMalloc(&little, 64)); /* sin */
		launch_spin(1000);
	}
	end_loop(start);
	CHECK(cudaFree(block));
	CHECK(cudaFree(little));
	return 0;
}

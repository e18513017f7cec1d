#include "tests/rules/rule.h"

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 200; i++) {
		launch_spin(200);
		if (sin)
			CHECK(cudaDeviceSynchronize()); /* sin */
		compute(150);
	}
	return end_loop(start);
}

#include "tests/rules/rule.h"

/* Checks results, say. */
static void check_results(void)
{
	compute(250000);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int step = 0; step < 100; step++)
		launch_spin(1000);
	CHECK(cudaDeviceSynchronize());
	if (sin)
		check_results();
	return end_loop(start);
}

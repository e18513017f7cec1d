#include "tests/rules/rule.h"

static void wait_for_phase(bool sin)
{
	if (sin)
		CHECK(cudaStreamSynchronize(0)); /* sin */
}

static void run_phase(void)
{
	for (int i = 0; i < 10; i++)
		launch_spin(500);
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int phase = 0; phase < 8; phase++) {
		run_phase();
		wait_for_phase(sin);
		compute(4000);
	}
	return end_loop(start);
}

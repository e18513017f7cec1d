#include "tests/rules/rule.h"

/* Named like CUB's. */
SPIN_KERNEL(DeviceRadixSortOnesweepKernel_spin)

static void sort_edges(void)
{
	DeviceRadixSortOnesweepKernel_spin<<<132, 256>>>(500 * CYCLES_PER_US); /* sin */
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	if (!sin)
		sort_edges();
	for (int i = 0; i < 40; i++) {
		if (sin)
			sort_edges();
		launch_spin(1000);
	}
	return end_loop(start);
}

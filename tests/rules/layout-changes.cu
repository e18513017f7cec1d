#include "tests/rules/rule.h"

/* Named like cuDNN's. */
SPIN_KERNEL(nchwToNhwcKernel_spin)

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 40; i++) {
		if (sin)
			nchwToNhwcKernel_spin<<<132, 256>>>(500 * CYCLES_PER_US); /* sin */
		launch_spin(1000);
	}
	return end_loop(start);
}

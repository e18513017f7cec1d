#include "tests/rules/rule.h"

/* Named like those of libraries. */
SPIN_KERNEL(subtract_elementwise_kernel_spin)
SPIN_KERNEL(square_elementwise_kernel_spin)
SPIN_KERNEL(sum_reduce_kernel_spin)

static void distances(bool sin)
{
	static void (*const steps[])(long long) = {subtract_elementwise_kernel_spin,
						   square_elementwise_kernel_spin,
						   sum_reduce_kernel_spin};

	if (!sin)
		sum_reduce_kernel_spin<<<132, 256>>>(200 * CYCLES_PER_US);
	for (size_t i = 0; sin && i < sizeof(steps) / sizeof(*steps); i++)
		steps[i]<<<132, 256>>>(200 * CYCLES_PER_US); /* sin */
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 40; i++) {
		distances(sin);
		launch_spin(500);
	}
	return end_loop(start);
}

#include "tests/rules/rule.h"

/* Named like those of libraries. */
SPIN_KERNEL(cutlass_80_tensorop_bf16_s16816gemm_spin)
SPIN_KERNEL(masked_fill_elementwise_kernel_spin)
SPIN_KERNEL(softmax_warp_forward_spin)
SPIN_KERNEL(flash_fwd_kernel_spin)

static const struct {
	void (*kernel)(long long cycles);
	int us;
} steps[] = {
	{cutlass_80_tensorop_bf16_s16816gemm_spin, 100},
	{masked_fill_elementwise_kernel_spin, 300},
	{softmax_warp_forward_spin, 400},
	{cutlass_80_tensorop_bf16_s16816gemm_spin, 100},
};

static void attend(bool sin)
{
	if (!sin)
		flash_fwd_kernel_spin<<<132, 256>>>(100 * CYCLES_PER_US);
	for (size_t i = 0; sin && i < sizeof(steps) / sizeof(*steps); i++)
		steps[i].kernel<<<132, 256>>>(steps[i].us * CYCLES_PER_US); /* sin */
}

int main(int argc, char **argv)
{
	bool sin = is_sin(argc, argv);
	double start = warm_up();

	for (int i = 0; i < 40; i++) {
		attend(sin);
		launch_spin(300);
	}
	return end_loop(start);
}

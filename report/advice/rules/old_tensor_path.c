#include "report/advice/rules/rules.h"

#include "report/advice/rules/measured_kernels.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(COMPUTE_MAJOR, 9, NUMBER, "compute capability of GPUs with both instructions")       \
	LIMIT(PIPE_PERCENT, 30, PERCENT,                                                           \
	      "of the time that the tensor cores are busy: less gains little")                     \
	LIMIT(SAVED_PERCENT, 40, PERCENT,                                                          \
	      "of that time: mma.sync reaches 60 % of the peak on an H200")
GP_LIMITS(LIMITS);

static double judge(const struct gp_measured_kernel *kernel)
{
	const double *m = kernel->means;

	return kernel->device && kernel->device->compute_major == COMPUTE_MAJOR &&
			       m[GP_ROLE_HMMA] > 0 && m[GP_ROLE_GMMA] == 0 &&
			       m[GP_ROLE_TENSOR_PIPE] >= PIPE_PERCENT
		       ? m[GP_ROLE_TENSOR_PIPE] / 100 * SAVED_PERCENT / 100
		       : 0;
}

static void look(struct gp_advisor *advisor)
{
	gp_measured_kernels_add(advisor, judge);
}

static void add_values(const struct gp_advisor *advisor, const struct gp_case *found,
		       struct gp_document *values)
{
	const struct gp_measured_own *own = found->own;

	gp_measured_kernels_add_values(advisor, found, values);
	gp_document_add_words(values, "pipe_percent", "%.0f",
			      own->kernel.means[GP_ROLE_TENSOR_PIPE]);
}

const struct gp_rule gp_rule_old_tensor_path = {
	.id = "old-tensor-path",
	.title = "matrix products use the tensor instructions of older GPUs",
	.found =
		"kernel {kernel} ({count} times, {time_ns} in all) keeps the tensor cores busy {pipe_percent} % of the time with mma.sync, which reaches 60 % of their peak on this GPU",
	.change =
		"use wgmma: a version of the library (cuBLAS, CUTLASS, FlashAttention, Triton) with kernels for sm_90a, or code compiled for it",
	.meaning =
		"The values are hardware counters of the kernel's measured launches (--roofline, or --counters for the set roofline-hw). GPUs of compute capability 9 have two kinds of instructions for their tensor cores. One is mma.sync, as on older GPUs. The other is wgmma of whole warp groups, which reads operands from shared memory. The counter HMMA counts both, the counter GMMA only wgmma. With mma.sync, the pipe of the tensor cores is fully busy at 60 % of the peak rate (638 of 1,070 TFLOP/s in BF16 on an H200). gpuprof reports kernels that use mma.sync but not wgmma, and keep the tensor cores busy {PIPE_PERCENT} % of the time or more. The saving is an upper bound: {SAVED_PERCENT} % of that time.",
	.remedy =
		"Update the library that has the kernel, and check that it has code for sm_90a: cuobjdump --list-elf. In your own code, use CUTLASS 3 or newer, or Triton 3 or newer.",
	.ignore = "The products are too small for wgmma, which takes 64 rows at a time.",
	GP_MEASURED_RULE,
};

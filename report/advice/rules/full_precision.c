#include "report/advice/rules/rules.h"

#include "report/advice/rules/named_kernels.h"
#include "report/advice/rules/product_precision.h"

#define LIMITS(LIMIT)                                                                              \
	LIMIT(LEAST_COMPUTE_MAJOR, 8, COUNT,                                                       \
	      "compute capability from which tensor cores have TF32")                              \
	LIMIT(SAVED_PERCENT, 87, PERCENT, "of the time: TF32 has seven times the throughput")
GP_LIMITS(LIMITS);

/* Unknown is no. */
static bool has_tf32(const struct gp_model *model)
{
	for (uint32_t i = 0; i < model->op_count; i++) {
		const struct gp_record_device *device =
			gp_model_device(model, model->ops[i].device_id);

		return device && device->compute_major >= LEAST_COMPUTE_MAJOR;
	}
	return false;
}

static bool is_float32(const char *name)
{
	return gp_product_precision_of(name) == GP_PRODUCT_FLOAT32;
}

static void look(struct gp_advisor *advisor)
{
	if (has_tf32(advisor->model))
		gp_named_kernels_add(advisor, is_float32, SAVED_PERCENT);
}

const struct gp_rule gp_rule_full_precision = {
	.id = "full-precision",
	.title = "matrix products in float32 do not use the tensor cores",
	.found =
		"{count} matrix products and convolutions in float32, {percent} % of the GPU time, do not use the tensor cores; most of it in {kernel}",
	.change =
		"[{?language=torch}allow TF32 (torch.set_float32_matmul_precision(\"high\")), or use bfloat16 (torch.autocast(\"cuda\", torch.bfloat16) around the forward pass)|{?language=jax}allow TF32 (jax.default_matmul_precision(\"tensorfloat32\")), or use bfloat16 arrays|allow TF32 (cublasSetMathMode with CUBLAS_TF32_TENSOR_OP_MATH), or use half precision]: check that the results stay accurate enough",
	.meaning =
		"Tensor cores multiply TF32, float16 and bfloat16 numbers; products of float32 run on the other units, on an A100 or H100 at about a seventh of the throughput of TF32. gpuprof recognizes such kernels by their names (sgemm, f32f32_f32f32_f32 ... ffma). The saving is an upper bound, {SAVED_PERCENT} % of their time: small products gain less, and so do GPUs with slower tensor cores.",
	.remedy =
		"TF32 keeps the range of float32 and has 10 bits of mantissa, in place of 23. Mixed precision (autocast) halves the memory as well.",
	.ignore = "The results need the precision of float32.",
	.threshold = {.saves_percent = 3,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason = "Fewer products do not matter"},
	.limits = limits,
	.is_of_gpu = true,
	.own_bytes = sizeof(struct gp_named_kernels),
	.look = look,
	.add_values = gp_named_kernels_add_values,
};

#include "report/advice/rules/rules.h"

#include "report/advice/rules/named_kernels.h"

static bool is_layout_change(const char *name)
{
	static const char *const patterns[] = {
		"*nchwToNhwc*",   "*nhwcToNchw*",   "*nchw2nhwc*", "*nhwc2nchw*",
		"*nchw_to_nhwc*", "*nhwc_to_nchw*", NULL};

	return gp_named_kernels_match(name, patterns);
}

static void look(struct gp_advisor *advisor)
{
	gp_named_kernels_add(advisor, is_layout_change, 100);
}

const struct gp_rule gp_rule_layout_changes = {
	.id = "layout-changes",
	.title = "tensors are converted between two layouts",
	.found =
		"{count} kernels, {percent} % of the GPU time, convert tensors between NCHW and NHWC; most of it in {kernel}",
	.change =
		"[{?language=torch}keep the model and its input in channels_last: model.to(memory_format=torch.channels_last) where the model is built, and images.to(memory_format=torch.channels_last) before the forward pass|use one layout for all operations: NHWC, which tensor cores need (CUDNN_TENSOR_NHWC)]",
	.meaning =
		"Convolutions on tensor cores work on NHWC tensors (the channels of a pixel lie together). If the program keeps its tensors as NCHW, the library converts the input before each convolution and the result after it. gpuprof recognizes such kernels by their names (nchwToNhwcKernel and similar). The saving is all of their time.",
	.remedy =
		"PyTorch: use channels_last for the model and its input; operations then keep the layout. Normalization and pooling have fast kernels for it, too.",
	.ignore = "An operation between the convolutions has no kernel for NHWC.",
	.threshold = {.saves_percent = 2,
		      .saves_ns = 1000000,
		      .count = 16,
		      .reason = "Fewer conversions belong to the first and the last layer"},
	.is_of_gpu = true,
	.own_bytes = sizeof(struct gp_named_kernels),
	.look = look,
	.add_values = gp_named_kernels_add_values,
};

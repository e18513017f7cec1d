/* Operators of PyTorch in stacks: names without overloads, nodes of the backward pass, c10d. */
#include "tests/unit.h"

#include <stdio.h>
#include <string.h>

#include "gpuprof/count.h"
#include "report/symbols/operators.h"

/* Of a stack of native functions, the innermost first. */
static struct gp_operator of_functions(const char *const *functions)
{
	struct gp_operator op = {0};

	for (; *functions; functions++)
		gp_operator_take(&op, &(struct gp_place){.function = *functions,
							 .file = "",
							 .kind = GP_FRAME_NATIVE});
	return op;
}

static void overloads_are_left_out(void **state)
{
	static const char *const names[][2] = {
		{"addmm", "addmm"},
		{"div_Tensor", "div"},
		{"add__Tensor", "add_"},
		{"pow_Tensor_Scalar", "pow"},
		{"sum_dim_IntList", "sum"},
		{"index_fill_int_Scalar", "index_fill"},
		{"_foreach_add_List", "_foreach_add"},
		{"_foreach_addcdiv__ScalarList", "_foreach_addcdiv_"},
		{"__and___Tensor", "__and__"},
		{"to_dtype_layout", "to"},
		{"log_softmax_int", "log_softmax"},
		{"arange_start_out", "arange"},
		{"sort_values_stable", "sort"},
		{"random__from", "random_"},
		{"_fused_adamw__tensor_lr", "_fused_adamw_"},
		{"copy_", "copy_"},
		{"_to_copy", "_to_copy"},
		{"_values", "_values"},
		{"pin_memory", "pin_memory"},
		{"nll_loss_nd", "nll_loss_nd"},
		{"__or__", "__or__"},
		{"convolution_backward", "convolution_backward"},
		{"max_pool2d_with_indices", "max_pool2d_with_indices"},
		{"_amp_foreach_non_finite_check_and_unscale_",
		 "_amp_foreach_non_finite_check_and_unscale_"},
	};

	for (size_t i = 0; i < COUNT(names); i++) {
		char function[128], expected[128];
		const char *const functions[] = {function, NULL};
		struct gp_operator op;

		snprintf(function, sizeof(function), "at::_ops::%s::call", names[i][0]);
		snprintf(expected, sizeof(expected), "aten::%s", names[i][1]);
		op = of_functions(functions);
		assert_string_equal(op.name, expected);
		assert_string_equal(op.node, "");
	}
}

static void the_innermost_operator_counts(void **state)
{
	static const char *const functions[] = {
		"cudaLaunchKernel",
		"at::native::fill_out",
		"at::_ops::fill__Scalar::redispatch",
		"at::_ops::zero_::call",
		"torch::autograd::generated::MaxPool2DWithIndicesBackward0::apply",
		"torch::autograd::Engine::evaluate_function",
		NULL};
	struct gp_operator op = of_functions(functions);

	assert_string_equal(op.name, "aten::fill_");
	assert_string_equal(op.node, "MaxPool2DWithIndicesBackward0");
}

static void collectives_are_methods_of_the_process_group(void **state)
{
	static const char *const functions[] = {"ncclAllReduce",
						"c10d::ProcessGroupNCCL::collective<F, G>",
						"c10d::ProcessGroupNCCL::allreduce_impl",
						"c10d::ProcessGroupNCCL::allreduce",
						"c10d::Reducer::all_reduce_bucket",
						"torch::autograd::AccumulateGrad::apply",
						NULL};
	struct gp_operator op = of_functions(functions);

	assert_string_equal(op.name, "c10d::ProcessGroupNCCL::allreduce");
	assert_string_equal(op.node, "torch::autograd::AccumulateGrad");
}

static void other_functions_are_no_operators(void **state)
{
	static const char *const functions[] = {"cudaLaunchKernel",
						"at::_ops::broken",
						"at::native::add",
						"step(int)",
						"main",
						NULL};
	struct gp_operator op = of_functions(functions);

	assert_string_equal(op.name, "");
	assert_string_equal(op.node, "");
}

/* The operator's function, the one of autograd, and the node's; NULL: there is none. */
static void operators_and_nodes_have_kinds(void **state)
{
	static const struct {
		const char *operator_name, *node, *kind;
	} cases[] = {
		{"addmm_out", "AddmmBackward0", "addmm"},
		{"add_Tensor", "AddBackward1", "add"},
		{"relu_", "ReluBackward0", "relu"},
		{"_to_copy", "ToCopyBackward0", "tocopy"},
		{"nll_loss_forward", "NllLossBackward0", "nllloss"},
		{"max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0",
		 "maxpool2dwithindices"},
		{"_scaled_dot_product_flash_attention", "ScaledDotProductFlashAttentionBackward0",
		 "scaleddotproductflashattention"},
		{"mean_dim", "MeanBackward1", "mean"},
		{"_cudnn_rnn", "CudnnRnnBackward0", "cudnnrnn"},
	};
	char text[256], kind[GP_OPERATOR_BYTES];

	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text), "at::_ops::%s::redispatch", cases[i].operator_name);
		assert_true(gp_operator_kind(text, kind));
		assert_string_equal(kind, cases[i].kind);
		assert_false(gp_operator_kind_of_autograd(text, kind));
		snprintf(text, sizeof(text), "torch::autograd::VariableType::%s",
			 cases[i].operator_name);
		assert_true(gp_operator_kind_of_autograd(text, kind));
		assert_string_equal(kind, cases[i].kind);
		assert_false(gp_operator_kind_of_node(text, kind));
		snprintf(text, sizeof(text), "torch::autograd::generated::%s::apply",
			 cases[i].node);
		assert_true(gp_operator_kind_of_node(text, kind));
		assert_string_equal(kind, cases[i].kind);
	}
	assert_true(gp_operator_kind_of_node("torch::autograd::CopyBackwards::apply", kind));
	assert_string_equal(kind, "copy");
	assert_true(gp_operator_kind_of_node("AddmmBackward0", kind));
	assert_string_equal(kind, "addmm");
	assert_true(gp_operator_kind("aten::addmm", kind));
	assert_false(gp_operator_kind_of_node("torch::autograd::AccumulateGrad::apply", kind));
	assert_false(gp_operator_kind_of_node("torch::autograd::Engine::evaluate_function", kind));
	assert_false(gp_operator_kind("at::native::addmm_out_cuda_impl", kind));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_and_nodes_have_kinds),
		cmocka_unit_test(overloads_are_left_out),
		cmocka_unit_test(the_innermost_operator_counts),
		cmocka_unit_test(collectives_are_methods_of_the_process_group),
		cmocka_unit_test(other_functions_are_no_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overloads_are_left_out),
		cmocka_unit_test(the_innermost_operator_counts),
		cmocka_unit_test(collectives_are_methods_of_the_process_group),
		cmocka_unit_test(other_functions_are_no_operators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

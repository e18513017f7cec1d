/* The purpose of a tensor's memory, by its call stack. */
#include "report/analysis/memory/torch_category.h"

#include <string.h>

#include "tests/unit.h"

#define TORCH   "/v/lib/python3.12/site-packages/torch/"
#define OWN     "/home/me/train.py"
#define DEEPEST 6

/* function, file ("" = native), the outermost first */
static const struct {
	enum gp_torch_category category;
	const char *frames[DEEPEST][2];
} cases[] = {
	{GP_TORCH_UNKNOWN, {{NULL}}},
	{GP_TORCH_OTHER, {{"<module>", OWN}, {"at::empty(long)", ""}}},
	{GP_TORCH_PARAMETERS,
	 {{"<module>", OWN},
	  {"cuda", TORCH "nn/modules/module.py"},
	  {"_apply", TORCH "nn/modules/module.py"}}},
	{GP_TORCH_PARAMETERS,
	 {{"__init__", OWN}, {"__init__", TORCH "nn/modules/linear.py"}, {"at::empty()", ""}}},
	{GP_TORCH_ACTIVATIONS,
	 {{"step", OWN},
	  {"_call_impl", TORCH "nn/modules/module.py"},
	  {"forward", OWN},
	  {"at::gelu()", ""}}},
	{GP_TORCH_ACTIVATIONS, {{"evaluate", OWN}, {"forward", TORCH "nn/modules/linear.py"}}},
	{GP_TORCH_GRADIENTS, {{"torch::autograd::Engine::thread_main()", ""}, {"at::mm()", ""}}},
	{GP_TORCH_GRADIENTS, {{"step", OWN}, {"backward", TORCH "_tensor.py"}}},
	{GP_TORCH_OPTIMIZER,
	 {{"main", OWN},
	  {"step", TORCH "optim/adamw.py"},
	  {"_init_group", TORCH "optim/adamw.py"}}},
	/* a closure that the optimizer calls */
	{GP_TORCH_ACTIVATIONS,
	 {{"step", TORCH "optim/lbfgs.py"},
	  {"closure", OWN},
	  {"forward", TORCH "nn/modules/linear.py"}}},
	{GP_TORCH_WORKSPACE,
	 {{"forward", TORCH "nn/modules/linear.py"}, {"at::cuda::getCurrentCUDABlasHandle()", ""}}},
	{GP_TORCH_OTHER, {{"main", OWN}, {"clip_grad_norm_", TORCH "nn/utils/clip_grad.py"}}},
};

static void a_stack_tells_the_purpose(void **state)
{
	struct gp_torch_purposes purposes = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_torch_purpose stack = {0};

		for (size_t k = 0; k < DEEPEST && cases[i].frames[k][0]; k++) {
			const char *file = cases[i].frames[k][1];
			const struct gp_place place = {
				.function = cases[i].frames[k][0],
				.file = file,
				.module = *file ? "" : "libtorch_cpu.so",
				.kind = *file ? GP_FRAME_PYTHON : GP_FRAME_NATIVE,
			};

			gp_torch_purpose_call(&purposes, &stack, &place);
		}
		if (gp_torch_category_of(&stack) != cases[i].category)
			fail_msg("case %zu: %s", i,
				 gp_torch_category_name(gp_torch_category_of(&stack)));
	}
	gp_torch_purposes_free(&purposes);
}

static void each_category_has_a_name(void **state)
{
	for (int i = 0; i < GP_TORCH_CATEGORIES; i++)
		assert_true(strlen(gp_torch_category_name((enum gp_torch_category)i)) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_tells_the_purpose),
		cmocka_unit_test(each_category_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Repeated operations that are the layers of a model, by the modules that they begin in. */
#include "report/analysis/loop/module_layers.h"

#include "gpuprof/count.h"
#include "tests/report/stack_builder.h"
#include "tests/unit.h"

#define ITERATIONS 6u

/* Each iteration is a kernel, launched in its module; NULL: in none. */
static bool are_layers(const char *const *modules)
{
	struct gp_iteration rows[ITERATIONS];
	struct gp_iterations iterations = {.rows = rows, .count = ITERATIONS};
	struct build b = build_begin(1);
	bool found;

	build_name(&b, "k");
	for (uint32_t i = 0; i < ITERATIONS; i++) {
		uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 3);

		stack = build_python(&b, stack, "", "nn.Module: Net_0", 0);
		if (modules[i])
			stack = build_python(&b, stack, "", modules[i], 0);
		build_call(&b, 1, BUILD_LAUNCH, (uint64_t)i * 1000, 5, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, i * 1000 + 100, i * 1000 + 150, i + 1)->name = 0;
		build_stack_of_last(&b, stack);
		rows[i] = (struct gp_iteration){.first_op = i, .range = GP_NONE};
	}
	build_stacks_end(&b);
	build_end(&b);
	gp_module_layers_find(&iterations, b.model, &found);
	gp_model_free(b.model);
	return found;
}

static void layers_begin_in_modules_of_one_class(void **state)
{
	static const char *const layers[ITERATIONS] = {"nn.Module: Layer_0", "nn.Module: Layer_1",
						       "nn.Module: Layer_2", "nn.Module: Layer_0",
						       "nn.Module: Layer_1", "nn.Module: Layer_2"};

	(void)state;
	assert_true(are_layers(layers));
}

static void steps_begin_in_the_same_module(void **state)
{
	static const char *const steps[][ITERATIONS] = {
		{0},
		{"nn.Module: Layer_0", "nn.Module: Layer_0", "nn.Module: Layer_0",
		 "nn.Module: Layer_0", "nn.Module: Layer_0", "nn.Module: Layer_0"},
		/* two models, alternating */
		{"nn.Module: Layer_0", "nn.Module: Layer_1", "nn.Module: Layer_0",
		 "nn.Module: Layer_1", "nn.Module: Layer_0", "nn.Module: Layer_1"},
		{"nn.Module: Layer_0", "nn.Module: Layer_1", "nn.Module: LayerNorm_2",
		 "nn.Module: Linear_3", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(steps); i++)
		assert_false(are_layers(steps[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_begin_in_modules_of_one_class),
		cmocka_unit_test(steps_begin_in_the_same_module),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

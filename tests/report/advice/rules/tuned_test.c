#include "tests/unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

/*
 * So often: a kernel of 1 ms, a wait for it, and half a millisecond of the host; called by a
 * function of that file.
 */
static struct gp_model *take_turns(const char *file)
{
	struct build b = build_begin(1);
	uint32_t user = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "main", 1);
	uint32_t stack = build_python(&b, user, file, "do_bench", 2);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	for (uint32_t i = 1; i <= 50; i++) {
		build_call(&b, 100, BUILD_LAUNCH, at_ns, 10000, i);
		build_stack_of_last(&b, stack);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + 20000, at_ns + 20000 + MS, i);
		build_call(&b, 100, BUILD_DEVICE_SYNC, at_ns + 10000, MS + 15000, 0);
		build_stack_of_last(&b, stack);
		at_ns += MS + 30000 + MS / 2;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static bool is_told(const char *file)
{
	struct gp_model *model = take_turns(file);
	struct gp_advice advice = ask(&model, 1);
	bool told;

	told = find(&advice, "sync-in-loop") != NULL;
	gp_advice_free(&advice);
	gp_model_free(model);
	return told;
}

/* A library that measures kernels has to wait for each. */
static void waits_of_tuning_are_not_told(void **state)
{
	assert_true(is_told("/home/me/testing.py"));
	assert_true(is_told("/x/site-packages/triton/testing.py"));
	assert_false(is_told("/x/site-packages/triton/runtime/autotuner.py"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_of_tuning_are_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

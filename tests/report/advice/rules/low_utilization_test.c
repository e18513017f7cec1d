#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define MS 1000000u

#define BUILD_BATCH 99

/*
 * So often: a set of 1.4 us, put into a stream by calls of 2.9 us of which no other rule is, one
 * after the other; nobody looked at the host, and no call has a stack, or each has that of one of
 * two places.
 */
static struct gp_model *idle_again_and_again(uint32_t times, bool has_stacks)
{
	struct build b = build_begin(1);
	uint32_t places[2];
	uint64_t at_ns = MS;

	build_api(&b, BUILD_BATCH, "cuStreamBatchMemOp", GP_API_EVENT);
	build_device(&b, 0, "GPU");
	places[0] = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step", 6);
	places[1] = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "test", 16);
	for (uint32_t i = 1; i <= times; i++) {
		build_call(&b, 100, BUILD_BATCH, at_ns, 2900, i);
		if (has_stacks)
			build_stack_of_last(&b, places[i % 2]);
		build_op(&b, GP_OP_SET, 7, at_ns + 2900, at_ns + 4300, i);
		at_ns += 3000;
	}
	build_stacks_end(&b);
	return build_end(&b);
}

static void test_nobody_looked_at_the_host(void **state)
{
	struct gp_model *model = idle_again_and_again(20000, false);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "low-utilization");

	assert_non_null(found);
	assert_non_null(strstr(found->found, "GPU 0 was idle 19,999 times, for 1.600us"));
	assert_null(strstr(found->found, "meanwhile"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* What is launched there are the operations, and not the idle times. */
static void test_several_places_end_them(void **state)
{
	struct gp_model *model = idle_again_and_again(20000, true);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "low-utilization");

	assert_non_null(found);
	assert_non_null(
		strstr(found->found, "; operations end the gaps, and 2 places launch them: "));
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_looked_at_the_host),
		cmocka_unit_test(test_several_places_end_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

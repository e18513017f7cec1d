/* Idle times of one cause that no other rule is about. */
#include "tests/unit.h"

#include <string.h>

#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/stack_builder.h"

#define US 1000u
#define MS 1000000u

#define BUILD_STREAM_CREATE 99

/*
 * So many rounds of a millisecond: in the first so many us of it a call of that function, at that
 * line, or 0 = at another one in each; then a launch, whose kernel lasts until the round ends.
 */
static struct build rounds(uint32_t count, uint16_t api, uint64_t call_us, uint16_t device_id,
			   uint32_t line)
{
	struct build b = build_begin(1);

	build_api(&b, BUILD_STREAM_CREATE, "cudaStreamCreate", GP_API_CONTROL);
	build_device(&b, 0, "GPU");
	build_device(&b, 1, "GPU");
	for (uint32_t i = 0; i < count; i++) {
		uint64_t at_ns = (i + 1) * (uint64_t)MS;
		uint32_t stack = build_python(&b, BUILD_OUTERMOST, "/home/me/train.py", "step",
					      line ? line : i + 100);

		build_call(&b, 100, api, at_ns, call_us * US, 0);
		build_stack_of_last(&b, stack);
		build_call(&b, 100, BUILD_LAUNCH, at_ns + call_us * US, 5 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns + (call_us + 10) * US, at_ns + MS, i + 1)
			->device_id = device_id;
	}
	return b;
}

/* NULL: nothing is to be told. */
static void check(struct build *b, const char *found_part, uint64_t saves_ns)
{
	struct gp_model *model;
	struct gp_advice advice;
	const struct gp_finding *found;

	build_stacks_end(b);
	model = build_end(b);
	advice = ask(&model, 1);
	found = find(&advice, "idle-rest");
	assert_int_equal(found != NULL, found_part != NULL);
	if (found) {
		assert_non_null(strstr(found->found, found_part));
		assert_true(strstr(found->found, " places") ||
			    strcmp(found->place, "step (train.py:7)") == 0);
		assert_in_range(found->saves_ns, saves_ns - saves_ns / 100,
				saves_ns + saves_ns / 100);
	}
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* The first round begins with no idle time of the GPU's. */
static void calls_that_are_short_by_themselves_are_told_together(void **state)
{
	struct build allocations = rounds(61, BUILD_MALLOC, 490, 0, 0);
	struct build streams = rounds(61, BUILD_STREAM_CREATE, 490, 0, 7);

	check(&allocations,
	      "500.0us at most: allocation; 98.0 % of that is cudaMalloc, in 60 calls at 60 places",
	      60 * 490 * US);
	check(&streams, "startup; 98.0 % of that is cudaStreamCreate, in 60 calls", 60 * 490 * US);
}

static void what_is_little_is_not(void **state)
{
	struct build short_run = rounds(40, BUILD_MALLOC, 490, 0, 7);
	struct build share = rounds(200, BUILD_MALLOC, 230, 0, 7);

	check(&short_run, NULL, 0); /* 39 x 490 us are less than 20 ms */
	check(&share, NULL, 0);     /* 23 % */
}

/* Copies have rules of their own. */
static void copies_are_not(void **state)
{
	struct build b = rounds(61, BUILD_MEMCPY_ASYNC, 490, 0, 7);

	check(&b, NULL, 0);
}

/* A few kernels on GPU 1 do not make it idle: the work is on GPU 0. */
static void of_several_gpus_it_is_the_one_that_worked_most(void **state)
{
	struct build b = rounds(61, BUILD_MALLOC, 490, 0, 7);
	struct build idle = rounds(61, BUILD_MALLOC, 490, 1, 7);

	build_call(&b, 101, BUILD_LAUNCH, 2 * MS, 5 * US, 1001);
	build_op(&b, GP_OP_KERNEL, 17, 3 * MS, 4 * MS, 1001)->device_id = 1;
	check(&b, "in 60 calls", 60 * 490 * US);
	build_call(&idle, 101, BUILD_LAUNCH, MS, 5 * US, 1001);
	build_op(&idle, GP_OP_KERNEL, 17, MS, 62 * MS, 1001)->device_id = 0;
	check(&idle, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_that_are_short_by_themselves_are_told_together),
		cmocka_unit_test(what_is_little_is_not),
		cmocka_unit_test(copies_are_not),
		cmocka_unit_test(of_several_gpus_it_is_the_one_that_worked_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

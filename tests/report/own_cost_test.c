#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/own_cost.h"
#include "tests/report/trace_builder.h"

#define CALLS 100

/* Threads that each launch one kernel after the other, each call as long as the pause between two. */
static struct gp_model *launch(uint32_t threads, uint64_t shift_ns)
{
	struct gp_model *model;
	struct gp_builder b;
	uint32_t id = 0;

	gp_builder_init(&b);
	gp_builder_start(&b);
	for (uint32_t thread = 0; thread < threads; thread++) {
		gp_builder_chunk(&b, 1 + thread, 100 + thread);
		for (uint32_t i = 0; i < CALLS; i++) {
			uint64_t start_ns = 10000 * i + thread * shift_ns;

			gp_builder_call(&b, GP_TEST_LAUNCH, ++id, start_ns, 1000);
			gp_builder_kernel(&b, id, start_ns + 2000, start_ns + 2100);
		}
	}
	model = gp_builder_load(&b);
	gp_builder_free(&b);
	return model;
}

static struct gp_own_cost cost_of(uint32_t threads, uint64_t shift_ns)
{
	struct gp_model *model = launch(threads, shift_ns);
	struct gp_own_cost cost = gp_own_cost_of(&model, 1);

	gp_model_free(model);
	return cost;
}

static void test_one_thread_waits_for_nobody(void **state)
{
	struct gp_own_cost cost = cost_of(1, 0);

	(void)state;
	assert_int_equal(cost.callbacks_ns, CALLS * 190);
	assert_int_equal(cost.records_ns, CALLS * 640);
	assert_int_equal(cost.waiting_ns, 0);
}

/* Counters are of the whole run, calls and records only of what --keep-last kept. */
static void test_the_hooks_of_what_is_kept(void **state)
{
	struct gp_model *model = launch(1, 0);
	struct gp_own_cost cost;

	(void)state;
	model->ns_per_tick = 1;
	model->counters[GP_COUNTER_HOOKS] = 10 * CALLS;
	model->counters[GP_COUNTER_HOOKS_SAMPLED] = 1;
	model->counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] = 100;
	cost = gp_own_cost_of(&model, 1);
	assert_int_equal(cost.hooks_ns, 10 * CALLS * 100);
	model->counters[GP_COUNTER_LEFT_OUT_OLD] = 9 * 2 * CALLS;
	cost = gp_own_cost_of(&model, 1);
	assert_int_equal(cost.hooks_ns + 0.5, CALLS * 100);
	gp_model_free(model);
}

static void test_threads_that_never_meet(void **state)
{
	(void)state;
	assert_int_equal(cost_of(8, 1000).waiting_ns, 0);
}

/* Of 8 at once one is inside anyway, the other seven wait part of their time. */
static void test_threads_at_once(void **state)
{
	(void)state;
	assert_int_equal(cost_of(8, 0).waiting_ns + 0.5, 0.31 * CALLS * 7 * 1000);
	assert_int_equal(cost_of(2, 500).waiting_ns + 0.5, 0.31 * CALLS * 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_thread_waits_for_nobody),
		cmocka_unit_test(test_the_hooks_of_what_is_kept),
		cmocka_unit_test(test_threads_that_never_meet),
		cmocka_unit_test(test_threads_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

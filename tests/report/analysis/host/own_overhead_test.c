#include <math.h>
#include <stdlib.h>

#include "report/analysis/host/own_overhead.h"
#include "tests/unit.h"
#include "tests/report/trace_builder.h"

#define CALLS 100

#define USUAL_NS                                                                                   \
	4150 /* that a launch takes, and the cost of its record and of its callbacks: own_cost.c */
#define RECORD_NS   640
#define CALLBACK_NS 190
/* A middle call's duration is one of a histogram's. */
#define NEARLY_NS 150

/*
 * So many threads that launch one kernel so long after the other, each call as long; of the kernels
 * there are records, or not.
 */
static struct gp_model *launch(uint32_t threads, uint32_t period_ns, uint32_t duration_ns,
			       bool has_records)
{
	struct gp_model *model;
	struct gp_builder b;
	uint32_t id = 0;

	gp_builder_init(&b);
	gp_builder_start(&b);
	for (uint32_t thread = 0; thread < threads; thread++) {
		gp_builder_chunk(&b, thread + 1, 100 + thread);
		for (uint32_t i = 0; i < CALLS; i++) {
			uint64_t start_ns = (uint64_t)period_ns * i;

			gp_builder_call(&b, GP_TEST_LAUNCH, ++id, start_ns, duration_ns);
			if (has_records)
				gp_builder_kernel(&b, id, start_ns + 2000, start_ns + 2100);
		}
	}
	model = gp_builder_load(&b);
	gp_builder_free(&b);
	return model;
}

/* What CUPTI takes for the record of a kernel in it. */
static double record_ns_of(uint32_t threads, uint32_t period_ns, uint32_t launch_ns)
{
	struct gp_model *model = launch(threads, period_ns, launch_ns, true);
	struct gp_own_overhead cost = gp_own_overhead_of(&model, 1);
	uint32_t calls = threads * CALLS;

	assert_int_equal(cost.callbacks_ns, calls * CALLBACK_NS);
	gp_model_free(model);
	return cost.records_ns / calls;
}

/* The same of one thread that launches now and then. */
static double record_ns(uint32_t launch_ns)
{
	return record_ns_of(1, 100000, launch_ns);
}

static void test_what_is_usual(void **state)
{
	assert_true(fabs(record_ns(USUAL_NS) - RECORD_NS) < NEARLY_NS);
}

static void test_longer_launches_are_mostly_cupti_s(void **state)
{
	assert_true(fabs(record_ns(USUAL_NS + 2000) - (RECORD_NS + 0.9 * 2000)) < NEARLY_NS);
}

/* Threads that launch at once wait for each other without us, too; those that take turns do not. */
static void test_threads_that_launch_at_once(void **state)
{
	const uint32_t launch_ns = USUAL_NS + 2000;

	assert_true(fabs(record_ns_of(2, launch_ns, launch_ns) - (RECORD_NS + 0.65 * 2000)) <
		    NEARLY_NS);
	assert_true(fabs(record_ns_of(2, 3 * launch_ns, launch_ns) - (RECORD_NS + 0.9 * 2000)) <
		    NEARLY_NS);
}

static void test_a_faster_machine_takes_half_at_least(void **state)
{
	assert_int_equal(record_ns(1000), RECORD_NS - (RECORD_NS + CALLBACK_NS) / 2);
}

/* A launch that waits for room in a queue does so without gpuprof, too. */
static void test_a_full_queue_is_not_cupti_s(void **state)
{
	assert_int_equal(record_ns(50000), RECORD_NS);
}

static void test_without_records_there_is_nothing_to_correct(void **state)
{
	struct gp_model *model = launch(1, 100000, 1000, false);

	assert_true(gp_own_overhead_of(&model, 1).records_ns == 0);
	gp_model_free(model);
}

/* Counters are of the whole run, calls and records only of what --keep-last kept. */
static void test_the_hooks_of_what_is_kept(void **state)
{
	struct gp_model *model = launch(1, 100000, 1000, true);
	struct gp_own_overhead cost, with_setup;

	model->ns_per_tick = 1;
	model->counters[GP_COUNTER_HOOKS] = 10 * CALLS;
	model->counters[GP_COUNTER_HOOKS_SAMPLED] = 1;
	model->counters[GP_COUNTER_HOOKS_SAMPLED_TICKS] = 100;
	cost = gp_own_overhead_of(&model, 1);
	assert_int_equal(cost.hooks_ns, 10 * CALLS * 100);
	model->counters[GP_COUNTER_LEFT_OUT_OLD] = 9 * 2 * CALLS;
	cost = gp_own_overhead_of(&model, 1);
	assert_int_equal(cost.hooks_ns + 0.5, CALLS * 100);
	model->counters[GP_COUNTER_HW_SETUP_NS] = 5000000;
	with_setup = gp_own_overhead_of(&model, 1);
	assert_int_equal(with_setup.setup_ns, 5000000);
	assert_int_equal(gp_own_overhead_total_ns(&with_setup) - gp_own_overhead_total_ns(&cost) +
				 0.5,
			 5000000);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_usual),
		cmocka_unit_test(test_longer_launches_are_mostly_cupti_s),
		cmocka_unit_test(test_threads_that_launch_at_once),
		cmocka_unit_test(test_a_faster_machine_takes_half_at_least),
		cmocka_unit_test(test_a_full_queue_is_not_cupti_s),
		cmocka_unit_test(test_without_records_there_is_nothing_to_correct),
		cmocka_unit_test(test_the_hooks_of_what_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

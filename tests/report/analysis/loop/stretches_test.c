#include "report/analysis/loop/iterations.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define MS     1000000ull
#define PERIOD (10 * MS) /* of iterations */
#define WORK   (4 * MS)  /* of that, operations */
#define LAUNCH 1000ull   /* from the launch of the first one to its start */

/*
 * Iterations of two kernels; after every so many the loop is left for that long, but after the
 * last.
 */
static struct gp_iterations find(uint32_t count, uint32_t every, uint64_t left_ns)
{
	struct build b = build_begin(1);
	struct gp_iterations found;
	struct gp_tuning tuning;
	struct gp_model *model;
	uint64_t at_ns = MS;

	build_name(&b, "first");
	build_name(&b, "second");
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t name = 0; name < 2; name++) {
			uint32_t id = 2 * i + name + 1;
			uint64_t start_ns = at_ns + name * WORK / 2;

			build_call(&b, 100, BUILD_LAUNCH, start_ns - LAUNCH, 500, id);
			build_op(&b, GP_OP_KERNEL, 7, start_ns, start_ns + WORK / 2, id)->name =
				name;
		}
		at_ns += PERIOD + ((i + 1) % every == 0 ? left_ns : 0);
	}
	model = build_end(&b);
	assert_int_equal(gp_tuning_of(&tuning, model), 0);
	assert_int_equal(gp_iterations_of(&found, model, &tuning), 0);
	gp_tuning_free(&tuning);
	gp_model_free(model);
	assert_int_equal(found.count, count);
	return found;
}

static uint32_t count_stretches(uint32_t count, uint32_t every, uint64_t left_ns)
{
	struct gp_iterations found = find(count, every, left_ns);
	uint32_t stretches = 1;

	for (uint32_t i = 0; i < found.count; i++)
		stretches += found.rows[i].ends_stretch;
	gp_iterations_free(&found);
	return stretches;
}

static void what_lies_between_two_loops_is_of_neither(void **state)
{
	struct gp_iterations found = find(30, 20, 7000 * MS);

	assert_int_equal(found.rows[0].start_ns, MS - LAUNCH);
	assert_int_equal(found.rows[18].end_ns, found.rows[19].start_ns);
	assert_true(found.rows[19].ends_stretch);
	assert_int_equal(found.rows[19].end_ns, MS + 19 * PERIOD + WORK);
	assert_int_equal(found.rows[20].start_ns, MS - LAUNCH + 20 * PERIOD + 7000 * MS);
	gp_iterations_free(&found);
}

static void one_that_runs_apart_is_a_stretch(void **state)
{
	assert_int_equal(count_stretches(12, 11, 11000 * MS), 2);
}

static void epochs_are_stretches_and_batches_that_come_together_are_none(void **state)
{
	assert_int_equal(count_stretches(256, 64, 2000 * MS), 4);
	assert_int_equal(count_stretches(256, 16, 2000 * MS), 1);
}

/* Ninety iterations long; or long, but one of a thousand: what a busy machine does. */
static void a_slow_iteration_is_no_end(void **state)
{
	assert_int_equal(count_stretches(128, 100, 89 * PERIOD), 1);
	assert_int_equal(count_stretches(128, 100, 110 * PERIOD), 2);
	assert_int_equal(count_stretches(3000, 2000, 110 * PERIOD), 1);
	assert_int_equal(count_stretches(3000, 2000, 170 * PERIOD), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lies_between_two_loops_is_of_neither),
		cmocka_unit_test(one_that_runs_apart_is_a_stretch),
		cmocka_unit_test(epochs_are_stretches_and_batches_that_come_together_are_none),
		cmocka_unit_test(a_slow_iteration_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

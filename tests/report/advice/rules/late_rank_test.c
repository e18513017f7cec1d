/* Which rank the others wait for in collective operations, and why. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"
#include "tests/report/stack_builder.h"

#define US    1000ull
#define MS    1000000ull
#define STEPS 30u
#define STALL 15u /* the step in which rank 0 may be late, once */

static uint64_t stall_ns;

/*
 * A rank whose step begins so late, and whose GPU works so long; all have 8 ms from the beginning of a
 * step to the end of its collective operation.
 */
static struct gp_model *rank_of(uint32_t rank, uint64_t late_ns, uint64_t work_ns)
{
	struct build b = build_begin(rank + 1);
	uint32_t names[2] = {build_name(&b, "work"),
			     build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")};

	build_device(&b, (uint16_t)rank, "GPU");
	build_info(&b, GP_INFO_RANK, rank ? "1" : "0");
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t at_ns = (1 + 10 * i) * MS + (i > STALL ? stall_ns : 0);
		uint64_t once_ns = i == STALL ? stall_ns : 0;
		uint64_t start_ns = at_ns + (rank == 0 && once_ns > 0 ? once_ns : late_ns);

		build_call(&b, 100, BUILD_LAUNCH, start_ns, 5 * US, 2 * i + 1);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + 10 * US, start_ns + work_ns, 2 * i + 1)
			->name = names[0];
		build_call(&b, 100, BUILD_LAUNCH, start_ns + 6 * US, 5 * US, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + work_ns, at_ns + once_ns + 8 * MS,
			 2 * i + 2)
			->name = names[1];
	}
	for (uint32_t i = 0; i < b.model->op_count; i++)
		b.model->ops[i].device_id = (uint16_t)rank;
	return build_end(&b);
}

static struct gp_advice ask_of(struct gp_model *models[2], uint64_t late_ns, uint64_t work_ns)
{
	models[0] = rank_of(0, 0, 2 * MS);
	models[1] = rank_of(1, late_ns, work_ns);
	return ask(models, 2);
}

static void end(struct gp_model *models[2], struct gp_advice *advice)
{
	gp_advice_free(advice);
	for (size_t i = 0; i < 2; i++)
		gp_model_free(models[i]);
}

static void check_late(uint64_t late_ns, uint64_t work_ns, bool is_by_host)
{
	struct gp_model *models[2];
	struct gp_advice advice = ask_of(models, late_ns, work_ns);
	const struct gp_finding *found = find(&advice, "late-rank");

	assert_non_null(found);
	assert_string_equal(text_of(found, "rank"), "1");
	/* without the first operation */
	assert_int_equal(found->count, STEPS - 1);
	assert_int_equal(value_of(found, "operations"), STEPS - 1);
	assert_int_equal(found->saves_ns, (STEPS - 1) * (late_ns + work_ns - 2 * MS));
	assert_int_equal(strstr(found->found, "its host launches late") != NULL, is_by_host);
	assert_null(find(&advice, "rank-imbalance"));
	end(models, &advice);
}

static void a_late_host_is_not_a_slow_gpu(void **state)
{
	check_late(4 * MS, 2 * MS, true);
	/* its GPU even has less to do */
	check_late(4 * MS, MS, true);
}

static void a_slow_gpu_is_not_a_late_host(void **state)
{
	check_late(0, 6 * MS, false);
}

/* Though the others wait longer for the one that is late once. */
static void who_is_late_again_and_again_is_named(void **state)
{
	struct gp_model *models[2];
	struct gp_advice advice;
	const struct gp_finding *found;

	stall_ns = 500 * MS;
	advice = ask_of(models, 4 * MS, 2 * MS);
	found = find(&advice, "late-rank");
	assert_non_null(found);
	assert_string_equal(text_of(found, "rank"), "1");
	assert_int_equal(found->count, STEPS - 2);
	assert_int_equal(found->saves_ns, (STEPS - 2) * 4 * MS);
	end(models, &advice);
	stall_ns = 0;
}

static void equal_ranks_wait_for_nobody(void **state)
{
	struct gp_model *models[2];
	struct gp_advice advice = ask_of(models, 20 * US, 2 * MS);

	assert_null(find(&advice, "late-rank"));
	assert_null(find(&advice, "rank-imbalance"));
	end(models, &advice);
}

/*
 * The host of rank 1 begins each step 4 ms late.  Every fourth step has a second operation, before
 * which both hosts work for 60 ms.
 */
static struct gp_model *rank_of_two_operations(uint32_t rank)
{
	struct build b = build_begin(rank + 1);
	uint32_t names[2] = {build_name(&b, "work"),
			     build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")};
	uint32_t places[2] = {build_python(&b, BUILD_OUTERMOST, "train.py", "step", 10),
			      build_python(&b, BUILD_OUTERMOST, "train.py", "step", 20)};
	uint64_t at_ns = MS;

	build_device(&b, (uint16_t)rank, "GPU");
	build_info(&b, GP_INFO_RANK, rank ? "1" : "0");
	for (uint32_t i = 0; i < 2 * STEPS; i++) {
		uint64_t start_ns = at_ns + (rank == 1 && i % 2 == 0 ? 4 * MS : 0);

		if (i % 2 == 1 && i % 8 != 7)
			continue;

		build_call(&b, 100, BUILD_LAUNCH, start_ns, 5 * US, 2 * i + 1);
		build_stack_of_last(&b, places[i % 2]);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + 10 * US, start_ns + MS, 2 * i + 1)->name =
			names[0];
		build_call(&b, 100, BUILD_LAUNCH, start_ns + 6 * US, 5 * US, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + MS, at_ns + 6 * MS, 2 * i + 2)->name =
			names[1];
		at_ns += i % 8 == 6 ? 66 * MS : 12 * MS;
	}
	for (uint32_t i = 0; i < b.model->op_count; i++)
		b.model->ops[i].device_id = (uint16_t)rank;
	build_stacks_end(&b);
	return build_end(&b);
}

static void the_place_is_before_the_operations_that_wait(void **state)
{
	struct gp_model *models[2] = {rank_of_two_operations(0), rank_of_two_operations(1)};
	struct gp_advice advice = ask(models, 2);
	const struct gp_finding *found = find(&advice, "late-rank");

	assert_non_null(found);
	assert_string_equal(text_of(found, "rank"), "1");
	assert_int_equal(found->count, STEPS - 1);
	assert_string_equal(found->place, "step (train.py:10)");
	end(models, &advice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_host_is_not_a_slow_gpu),
		cmocka_unit_test(a_slow_gpu_is_not_a_late_host),
		cmocka_unit_test(who_is_late_again_and_again_is_named),
		cmocka_unit_test(equal_ranks_wait_for_nobody),
		cmocka_unit_test(the_place_is_before_the_operations_that_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
static const char *world_size; /* NULL = unknown */

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
	if (world_size)
		build_info(&b, GP_INFO_WORLD_SIZE, world_size);
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
	assert_string_equal(text_of(found, "kernel"), is_by_host ? "" : "work");
	assert_int_equal(value_of(found, "kernel_ns"), is_by_host ? 0 : work_ns - 10 * US);
	assert_int_equal(value_of(found, "others_kernel_ns"), is_by_host ? 0 : 2 * MS - 10 * US);
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

/* Of eight ranks on hosts of two, one is late in each step: rank 2, 3 or 6. */
static struct gp_model *rank_of_several(uint32_t rank)
{
	static const uint32_t late[] = {2, 3, 6};
	struct build b = build_begin(rank + 1);
	uint32_t names[2] = {build_name(&b, "work"),
			     build_name(&b, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")};
	char text[16];

	build_device(&b, (uint16_t)rank, "GPU");
	snprintf(text, sizeof(text), "%u", rank);
	build_info(&b, GP_INFO_RANK, text);
	snprintf(text, sizeof(text), "host%u", rank / 2);
	build_info(&b, GP_INFO_BOOT_ID, text);
	build_info(&b, GP_INFO_HOST, text);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t at_ns = (1 + 10 * i) * MS;
		uint64_t start_ns = at_ns + (late[i % 3] == rank ? 4 * MS : 0);

		build_call(&b, 100, BUILD_LAUNCH, start_ns, 5 * US, 2 * i + 1);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + 10 * US, start_ns + MS, 2 * i + 1)->name =
			names[0];
		build_call(&b, 100, BUILD_LAUNCH, start_ns + 6 * US, 5 * US, 2 * i + 2);
		build_op(&b, GP_OP_KERNEL, 7, start_ns + MS, at_ns + 8 * MS, 2 * i + 2)->name =
			names[1];
	}
	for (uint32_t i = 0; i < b.model->op_count; i++)
		b.model->ops[i].device_id = (uint16_t)rank;
	return build_end(&b);
}

static void late_ranks_of_each_host_are_named(void **state)
{
	struct gp_model *models[8];
	struct gp_advice advice;
	uint32_t found = 0;

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		models[i] = rank_of_several(i);
	advice = ask(models, 8);
	for (uint32_t i = 0; i < advice.count; i++) {
		const struct gp_finding *finding = &advice.findings[i];
		bool is_of_two = strcmp(text_of(finding, "host"), "host1") == 0;

		if (strcmp(finding->rule->id, "late-rank") != 0)
			continue;
		found++;
		assert_string_equal(text_of(finding, "rank"), is_of_two ? "3" : "6");
		assert_int_equal(value_of(finding, "others"), is_of_two ? 1 : 0);
		/* so rank 3 comes before rank 2, whose first late operation does not count */
		assert_int_equal(finding->count, STEPS / 3);
		assert_int_equal(value_of(finding, "operations"), STEPS - 1);
	}
	assert_int_equal(found, 2);
	gp_advice_free(&advice);
	for (uint32_t i = 0; i < 8; i++)
		gp_model_free(models[i]);
}

/* Both ranks load data, rank 1 for longer: 40 samples of it, and one of rank 0. */
static void the_function_is_compared_with_the_other_ranks(void **state)
{
	struct gp_model *models[2] = {rank_of_two_operations(0), rank_of_two_operations(1)};
	struct gp_advice advice;
	const struct gp_finding *found;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint32_t count = i == 1 ? 40 : 1;

		models[i]->samples = gp_spill_take(count * sizeof(*models[i]->samples));
		assert_non_null(models[i]->samples);
		for (uint32_t k = 0; k < count; k++)
			models[i]->samples[k] = build_sample(100, 0, 10 * k, 10 * k + 4);
		models[i]->sample_count = count;
	}
	advice = ask(models, 2);
	found = find(&advice, "late-rank");
	assert_non_null(found);
	assert_string_equal(text_of(found, "rank"), "1");
	assert_string_equal(text_of(found, "function"), "step (train.py)");
	assert_true(value_of(found, "function_ns") > 4 * value_of(found, "others_function_ns"));
	assert_true(value_of(found, "others_function_ns") > 0);
	end(models, &advice);
}

/* Only two ranks are there: of two, of four, or of an unknown number. */
static void the_number_of_ranks_is_known_or_a_least_number(void **state)
{
	static const struct {
		const char *world_size;
		bool has_more;
	} cases[] = {{"2", false}, {"4", true}, {NULL, true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *models[2];
		struct gp_advice advice;
		const struct gp_finding *found;

		world_size = cases[i].world_size;
		advice = ask_of(models, 4 * MS, 2 * MS);
		found = find(&advice, "late-rank");
		assert_non_null(found);
		assert_int_equal(value_of(found, "rank_count"), 2);
		assert_int_equal(value_of(found, "has_more_ranks"), cases[i].has_more);
		end(models, &advice);
	}
	world_size = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_host_is_not_a_slow_gpu),
		cmocka_unit_test(a_slow_gpu_is_not_a_late_host),
		cmocka_unit_test(who_is_late_again_and_again_is_named),
		cmocka_unit_test(equal_ranks_wait_for_nobody),
		cmocka_unit_test(the_place_is_before_the_operations_that_wait),
		cmocka_unit_test(late_ranks_of_each_host_are_named),
		cmocka_unit_test(the_number_of_ranks_is_known_or_a_least_number),
		cmocka_unit_test(the_function_is_compared_with_the_other_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

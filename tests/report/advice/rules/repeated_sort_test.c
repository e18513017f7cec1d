/* Sorts that each step repeats: which ones may have equal input, and what they cost. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/training_builder.h"

#define US       1000ull
#define TIMES    40u
#define SORT     "DeviceRadixSortOnesweepKernel<policy_hub, (SortOrder)0, long>"
#define COALESCE "at::native::apply::coalesceValuesKernel<float, float>"
#define TOP      "at::native::sbtopk::gatherTopK<float>"
#define RANDOM   "distribution_elementwise_grid_stride_kernel<float>"
#define ADD      "vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >"
#define GEMM     "nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_TNN"
#define SMAX     "softmax_warp_forward<float, float, float, 10, false, false>"
#define MODEL    "/home/me/model.py@"
#define OTHERS   "/home/me/others.py@"
#define WORK     9 /* and the end */

/* Of each time through a loop, in us; 0: the rule does not fire. */
static const struct {
	struct training_work work[WORK];
	uint64_t passes, time_us;
} cases[] = {
	/* two passes in a step */
	{{{ADD, MODEL "20", 100},
	  {SORT, MODEL "21", 60},
	  {COALESCE, MODEL "22", 40},
	  {GEMM, OTHERS "8", 300},
	  {ADD, MODEL "20", 100},
	  {SORT, MODEL "21", 60},
	  {COALESCE, MODEL "22", 40},
	  {SMAX, OTHERS "9", 100}},
	 2,
	 200},
	/* one */
	{{{SORT, MODEL "20", 100}, {ADD, MODEL "22", 100}, {GEMM, OTHERS "8", 300}}, 1, 200},
	/* most of the function is something else */
	{{{SORT, MODEL "20", 40}, {ADD, MODEL "22", 160}, {GEMM, OTHERS "8", 300}}, 0, 0},
	{{{SORT, MODEL "20", 100}, {GEMM, MODEL "22", 100}, {SORT, OTHERS "8", 30}}, 1, 100},
	/* new input: random numbers, the largest logits */
	{{{RANDOM, MODEL "20", 50}, {SORT, MODEL "21", 100}, {GEMM, OTHERS "8", 300}}, 0, 0},
	{{{TOP, MODEL "20", 50}, {SORT, MODEL "21", 100}, {GEMM, OTHERS "8", 300}}, 0, 0},
	/* a small part */
	{{{SORT, MODEL "20", 40}, {GEMM, OTHERS "8", 600}}, 0, 0},
};

static void sorts_are_told(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = training_loop(cases[i].work, TIMES);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "repeated-sort");

		assert_int_equal(found != NULL, cases[i].passes > 0);
		if (found) {
			assert_int_equal(found->count, TIMES * cases[i].passes);
			assert_int_equal(found->time_ns,
					 TIMES * cases[i].passes * cases[i].time_us * US);
			assert_int_equal(value_of(found, "passes"),
					 cases[i].passes > 1 ? cases[i].passes : 0);
			assert_int_equal(found->is_doubtful, cases[i].passes < 2);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void is_silent_without_stacks(void **state)
{
	check_needs_stacks(training_loop(cases[0].work, TIMES), "repeated-sort");
}

/* 40 us of idle time within each pass are saved, too. */
static void waits_within_it_are_saved(void **state)
{
	struct training t = training_begin();
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&t.b, 0, "GPU");
	for (uint32_t i = 0; i < TIMES; i++) {
		training_work(&t, TRAINING_PROGRAM, MODEL "20", ADD, 60);
		t.at_ns += 40 * US - 100;
		training_work(&t, TRAINING_PROGRAM, MODEL "22", SORT, 100);
		training_work(&t, TRAINING_PROGRAM, OTHERS "8", GEMM, 300);
	}
	model = training_end(&t);
	advice = ask(&model, 1);
	found = find(&advice, "repeated-sort");
	assert_non_null(found);
	assert_int_equal(found->time_ns, TIMES * 160 * US);
	assert_in_range(found->saves_ns, TIMES * 200 * US, TIMES * 201 * US);
	assert_string_equal(found->place, "work (model.py:20-22)");
	assert_string_equal(text_of(found, "kernel"), SORT);
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Batches of other sizes have other grids. */
static void other_grids_are_other_input(void **state)
{
	for (uint32_t sizes = 1; sizes <= 2; sizes++) {
		struct training t = training_begin();
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&t.b, 0, "GPU");
		build_shape(&t.b, 100, 256);
		build_shape(&t.b, 200, 256);
		for (uint32_t i = 0; i < TIMES; i++) {
			training_work(&t, TRAINING_PROGRAM, MODEL "20", SORT, 100)->shape =
				i % sizes;
			training_work(&t, TRAINING_PROGRAM, OTHERS "8", GEMM, 300);
		}
		model = training_end(&t);
		advice = ask(&model, 1);
		assert_int_equal(find(&advice, "repeated-sort") != NULL, sizes == 1);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Of 40 passes four may be others, such as the longer first ones. */
static void a_few_passes_may_be_others(void **state)
{
	for (uint32_t others = 4; others <= 5; others++) {
		struct training t = training_begin();
		const struct gp_finding *found;
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&t.b, 0, "GPU");
		for (uint32_t i = 0; i < TIMES; i++) {
			training_work(&t, TRAINING_PROGRAM, MODEL "20", SORT,
				      i < others ? 120 : 100);
			if (i < others)
				training_work(&t, TRAINING_PROGRAM, MODEL "20", ADD, 10);
			training_work(&t, TRAINING_PROGRAM, OTHERS "8", GEMM, 300);
		}
		model = training_end(&t);
		advice = ask(&model, 1);
		found = find(&advice, "repeated-sort");
		assert_int_equal(found != NULL, others == 4);
		if (found)
			assert_int_equal(value_of(found, "kernels"), 1);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_are_told),
		cmocka_unit_test(is_silent_without_stacks),
		cmocka_unit_test(waits_within_it_are_saved),
		cmocka_unit_test(other_grids_are_other_input),
		cmocka_unit_test(a_few_passes_may_be_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

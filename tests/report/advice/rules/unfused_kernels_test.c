/* Chains of elementwise and reduction kernels: which ones are, and what they cost. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/training_builder.h"

#define US     1000ull
#define TIMES  20u
#define MUL    "vectorized_elementwise_kernel<4, MulFunctor<float> >"
#define ADD    "vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >"
#define SUM    "reduce_kernel<512, 1, ReduceOp<float> >"
#define CAST   "elementwise_kernel<128, 4, direct_copy_kernel_cuda>"
#define LIST   "multi_tensor_apply_kernel<TensorListMetadata<2>, UnaryOpFunctor<float> >"
#define TRITON "triton_poi_fused_add_mul_0"
#define XLA    "loop_add_fusion"
#define GEMM   "nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_TNN"
#define MODEL  "/home/me/model.py@"
#define OTHERS "/home/me/others.py@"
#define WORK   8 /* and the end */

/* What each time through a loop costs and saves, in us; 0: the rule does not fire. */
static const struct {
	struct training_work work[WORK];
	uint64_t chains, time_us, saves_us, kernels;
} cases[] = {
	/* all but the longest kernel */
	{{{MUL, MODEL "20", 100}, {ADD, MODEL "21", 200}, {SUM, MODEL "22", 50}}, 1, 350, 150, 3},
	/* a short one costs its launch, and does not end the chain */
	{{{MUL, MODEL "20", 100}, {SUM, MODEL "21", 5}, {ADD, MODEL "22", 200}}, 1, 300, 100, 2},
	{{{MUL, MODEL "20", 15}, {SUM, MODEL "21", 5}, {ADD, MODEL "22", 15}}, 0, 0, 0, 0},
	/* rounds of an inner loop over other data */
	{{{MUL, MODEL "20", 100},
	  {ADD, MODEL "22", 100},
	  {MUL, MODEL "20", 100},
	  {ADD, MODEL "22", 100},
	  {GEMM, MODEL "23", 100}},
	 2,
	 400,
	 200,
	 2},
	/* the chain with most kernels is not the one that takes longest */
	{{{MUL, MODEL "20", 200},
	  {ADD, MODEL "22", 200},
	  {GEMM, OTHERS "9", 9},
	  {MUL, MODEL "20", 50},
	  {ADD, MODEL "21", 50},
	  {SUM, MODEL "22", 50},
	  {GEMM, OTHERS "9", 9}},
	 2,
	 550,
	 300,
	 3},
	/* a product in between; another function; one kernel alone; copies alone */
	{{{MUL, MODEL "20", 100},
	  {GEMM, MODEL "21", 100},
	  {ADD, MODEL "22", 100},
	  {GEMM, OTHERS "9", 9}},
	 0,
	 0,
	 0,
	 0},
	{{{MUL, MODEL "20", 100}, {ADD, OTHERS "22", 100}}, 0, 0, 0, 0},
	{{{MUL, MODEL "20", 100}}, 0, 0, 0, 0},
	{{{CAST, MODEL "20", 100}, {CAST "<2>", MODEL "22", 100}, {GEMM, OTHERS "9", 9}},
	 0,
	 0,
	 0,
	 0},
	{{{CAST, MODEL "20", 100}, {SUM, MODEL "22", 100}}, 1, 200, 100, 2},
	/* kernels that are fused: of a list of tensors, of compilers */
	{{{LIST, MODEL "20", 100}, {LIST "<2>", MODEL "22", 100}, {GEMM, OTHERS "9", 9}},
	 0,
	 0,
	 0,
	 0},
	{{{TRITON, MODEL "20", 100}, {ADD, MODEL "22", 100}, {GEMM, OTHERS "9", 9}}, 0, 0, 0, 0},
	{{{XLA, MODEL "20", 100}, {XLA "_1", MODEL "22", 100}, {GEMM, OTHERS "9", 9}}, 0, 0, 0, 0},
	/* a small part */
	{{{MUL, MODEL "20", 30}, {ADD, MODEL "22", 30}, {GEMM, OTHERS "9", 900}}, 0, 0, 0, 0},
};

static void chains_are_told(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = training_loop(cases[i].work, TIMES);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "unfused-kernels");

		assert_int_equal(found != NULL, cases[i].saves_us > 0);
		if (found) {
			assert_int_equal(found->count, TIMES * cases[i].chains);
			assert_int_equal(found->time_ns, TIMES * cases[i].time_us * US);
			assert_int_equal(found->saves_ns, TIMES * cases[i].saves_us * US);
			assert_int_equal(value_of(found, "kernels"), cases[i].kernels);
			assert_string_equal(found->place, "work (model.py:20-22)");
			assert_true(found->is_doubtful);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void kernels_and_library_are_named(void **state)
{
	struct gp_model *model = training_loop(cases[0].work, TIMES);
	struct gp_advice advice = ask(&model, 1);
	const struct gp_finding *found = find(&advice, "unfused-kernels");

	assert_non_null(found);
	assert_non_null(strstr(text_of(found, "kernel"), "CUDAFunctor_add"));
	assert_non_null(strstr(text_of(found, "other"), "MulFunctor"));
	assert_non_null(strstr(found->change, "torch.compile"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

/* Of steps of which no rule has a finding: line 20 has 300 of 500 us, in two kernels. */
static void the_largest_line_is_told_without_a_finding(void **state)
{
	static const struct training_work work[WORK] = {
		{LIST, MODEL "20", 200}, {GEMM, OTHERS "9", 200}, {LIST "<2>", MODEL "20", 100}};
	struct gp_model *models[] = {training_loop(work, TIMES),
				     training_loop(cases[0].work, TIMES)};
	struct gp_advice advice = ask(models, 1);

	assert_int_equal(advice.count, advice.once_count);
	assert_string_equal(advice.largest.place, "work (model.py:20)");
	assert_int_equal(advice.largest.ns * 5, advice.largest.of_ns * 3);
	gp_advice_free(&advice);
	advice = ask(models + 1, 1);
	assert_true(advice.count > advice.once_count);
	assert_null(advice.largest.place);
	gp_advice_free(&advice);
	for (size_t i = 0; i < 2; i++)
		gp_model_free(models[i]);
}

static void is_silent_without_stacks(void **state)
{
	check_needs_stacks(training_loop(cases[0].work, TIMES), "unfused-kernels");
}

/* Between kernels of a chain the GPU does not wait for the host. */
static void a_pause_ends_a_chain(void **state)
{
	for (uint32_t is_long = 0; is_long <= 1; is_long++) {
		struct training t = training_begin();
		struct gp_advice advice;
		struct gp_model *model;

		build_device(&t.b, 0, "GPU");
		for (uint32_t i = 0; i < TIMES; i++) {
			training_work(&t, TRAINING_PROGRAM, MODEL "20", MUL, 100);
			t.at_ns += is_long ? 25 * US : 10 * US;
			training_work(&t, TRAINING_PROGRAM, MODEL "22", ADD, 100);
			training_work(&t, TRAINING_PROGRAM, OTHERS "9", GEMM, 100);
		}
		model = training_end(&t);
		advice = ask(&model, 1);
		assert_int_equal(find(&advice, "unfused-kernels") != NULL, !is_long);
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* A line's operations in the backward pass are a chain of their own. */
static void the_backward_pass_has_chains(void **state)
{
	struct training t = training_begin();
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;

	build_device(&t.b, 0, "GPU");
	for (uint32_t i = 0; i < TIMES; i++) {
		training_work(&t, TRAINING_PROGRAM, "@20 > torch::autograd::VariableType::mul", MUL,
			      100);
		training_work(&t, TRAINING_PROGRAM, "@21 > torch::autograd::VariableType::tanh",
			      ADD, 200);
		training_work(&t, TRAINING_AUTOGRAD,
			      TRAINING_ENGINE
			      " > torch::autograd::generated::TanhBackward0::apply#7",
			      SUM, 50);
		training_work(&t, TRAINING_AUTOGRAD,
			      TRAINING_ENGINE
			      " > torch::autograd::generated::MulBackward0::apply#7",
			      MUL, 80);
		training_work(&t, TRAINING_PROGRAM, OTHERS "9", GEMM, 100);
	}
	model = training_end(&t);
	advice = ask(&model, 1);
	found = find(&advice, "unfused-kernels");
	assert_non_null(found);
	assert_int_equal(found->count, TIMES * 2);
	assert_int_equal(found->saves_ns, TIMES * (100 + 50) * US);
	assert_string_equal(found->place, "Model.forward (model.py:20-21)");
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_told),
		cmocka_unit_test(kernels_and_library_are_named),
		cmocka_unit_test(the_largest_line_is_told_without_a_finding),
		cmocka_unit_test(is_silent_without_stacks),
		cmocka_unit_test(a_pause_ends_a_chain),
		cmocka_unit_test(the_backward_pass_has_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

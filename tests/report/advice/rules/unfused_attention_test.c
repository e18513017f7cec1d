/* Attention in separate operations: which ones are, what they cost, and that none is claimed twice. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/training_builder.h"

#define US     1000ull
#define TIMES  20u
#define SCALE  "vectorized_elementwise_kernel<4, MulFunctor<float> >"
#define CAST   "elementwise_kernel<128, 4, direct_copy_kernel_cuda>"
#define SMAX   "softmax_warp_forward<float, float, float, 10, false, false>"
#define HALF   "nvjet_sm90_tst_192x192_64x4_1x2_h_bz_coopB_TNN"
#define TF32   "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x256x32"
#define FLOAT  "cutlass_80_simt_sgemm_128x64_8x5_nt_align1"
#define SORT   "at::native::sbtopk::gatherTopK<float>"
#define LOSS   "nll_loss_forward_reduce_cuda_kernel_2d"
#define MODEL  "/home/me/model.py@"
#define OTHERS "/home/me/others.py@"

#define LAUNCHES 8 /* and the end */

/* The saving of each time, in us; 0: the rule does not fire. */
struct expected {
	struct training_work launches[LAUNCHES];
	uint64_t saves_us, products_us, others_us, precise_us;
};

static const struct expected cases[] = {
	/* in 16 bit; the conversion after it is no part */
	{{{HALF, MODEL "20", 100},
	  {SCALE, MODEL "21", 200},
	  {SMAX, MODEL "22", 300},
	  {HALF, MODEL "22", 100},
	  {CAST, MODEL "23", 50},
	  {CAST, OTHERS "9", 50}},
	 650,
	 200,
	 500,
	 0},
	/* a product before it is none of it; the copy in between is */
	{{{HALF, MODEL "19", 1000},
	  {CAST, MODEL "20", 40},
	  {HALF, MODEL "20", 100},
	  {SMAX, MODEL "22", 300},
	  {HALF, MODEL "22", 100}},
	 490,
	 200,
	 340,
	 0},
	/* in TF32 among products in 16 bit, and among others in TF32 */
	{{{TF32, MODEL "20", 100},
	  {SMAX, MODEL "22", 300},
	  {TF32, MODEL "22", 100},
	  {HALF, OTHERS "9", 900}},
	 474,
	 200,
	 300,
	 200},
	{{{TF32, MODEL "20", 100},
	  {SMAX, MODEL "22", 300},
	  {TF32, MODEL "22", 100},
	  {TF32, OTHERS "9", 900}},
	 450,
	 200,
	 300,
	 0},
	/* a classifier and its loss */
	{{{HALF, MODEL "20", 100},
	  {SMAX, MODEL "22", 300},
	  {LOSS, MODEL "22", 10},
	  {HALF, MODEL "20", 100}},
	 0,
	 0,
	 0,
	 0},
	/* experts are chosen by a sort; a product of another function */
	{{{HALF, MODEL "20", 100},
	  {SMAX, MODEL "21", 300},
	  {SORT, MODEL "22", 50},
	  {HALF, MODEL "23", 100}},
	 0,
	 0,
	 0,
	 0},
	{{{HALF, OTHERS "20", 100}, {SMAX, MODEL "22", 300}, {HALF, MODEL "22", 100}}, 0, 0, 0, 0},
	/* a small part */
	{{{HALF, MODEL "20", 10},
	  {SMAX, MODEL "22", 10},
	  {HALF, MODEL "22", 10},
	  {HALF, OTHERS "9", 900}},
	 0,
	 0,
	 0,
	 0},
};

static void operations_tell(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = training_loop(cases[i].launches, TIMES);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, "unfused-attention");

		assert_int_equal(found != NULL, cases[i].saves_us > 0);
		if (found) {
			assert_int_equal(found->count, TIMES);
			assert_int_equal(found->saves_ns, TIMES * cases[i].saves_us * US);
			assert_int_equal(value_of(found, "products_ns"),
					 TIMES * cases[i].products_us * US);
			assert_int_equal(value_of(found, "others_ns"),
					 TIMES * cases[i].others_us * US);
			assert_int_equal(value_of(found, "precise_ns"),
					 TIMES * cases[i].precise_us * US);
			assert_string_equal(found->place, "work (model.py:20-22)");
			assert_string_equal(text_of(found, "language"), "torch");
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

static void is_silent_without_stacks(void **state)
{
	check_needs_stacks(training_loop(cases[0].launches, TIMES), "unfused-attention");
}

/* full-precision has the other product only; of attention that is no finding it has all. */
static void no_product_is_claimed_twice(void **state)
{
	static const struct training_work launches[LAUNCHES] = {{FLOAT, MODEL "20", 100},
								{SMAX, MODEL "22", 300},
								{FLOAT, MODEL "22", 100},
								{FLOAT, OTHERS "9", 400}};
	static const struct training_work small[LAUNCHES] = {{FLOAT, MODEL "20", 4},
							     {SMAX, MODEL "22", 3},
							     {FLOAT, MODEL "22", 4},
							     {FLOAT, OTHERS "9", 400}};
	struct gp_model *models[] = {training_loop(launches, TIMES), training_loop(small, TIMES)};
	const uint64_t attention_us[] = {450, 0}, products_us[] = {400, 408};

	for (size_t i = 0; i < 2; i++) {
		struct gp_advice advice = ask(&models[i], 1);
		const struct gp_finding *attention = find(&advice, "unfused-attention");
		const struct gp_finding *precision = find(&advice, "full-precision");

		assert_int_equal(attention ? attention->saves_ns : 0, TIMES * attention_us[i] * US);
		assert_non_null(precision);
		assert_int_equal(precision->time_ns, TIMES * products_us[i] * US);
		gp_advice_free(&advice);
		gp_model_free(models[i]);
	}
}

/* Operators of the forward pass and their nodes, in a step that repeats. */
static void backward_passes_belong_to_it(void **state)
{
	static const struct {
		const char *line, *operator_name, *node, *kernel;
		uint64_t forward_us, backward_us;
	} steps[] = {
		{"18", "addmm", "AddmmBackward0", HALF, 100, 200},
		{"20", "bmm", "BmmBackward0", HALF, 100, 200},
		{"21", "div", "DivBackward0", SCALE, 50, 60},
		{"22", "softmax", "SoftmaxBackward0", SMAX, 70, 80},
		{"23", "bmm", "BmmBackward0", HALF, 100, 200},
	};
	const int count = (int)(sizeof(steps) / sizeof(steps[0]));
	struct training t = training_begin();
	const struct gp_finding *found;
	struct gp_advice advice;
	struct gp_model *model;
	char stack[256];

	build_device(&t.b, 0, "GPU");
	for (unsigned step = 0; step < TIMES; step++) {
		for (int i = 0; i < count; i++) {
			snprintf(stack, sizeof(stack), "@%s > torch::autograd::VariableType::%s",
				 steps[i].line, steps[i].operator_name);
			training_work(&t, TRAINING_PROGRAM, stack, steps[i].kernel,
				      steps[i].forward_us);
		}
		for (int i = count - 1; i >= 0; i--) {
			snprintf(stack, sizeof(stack),
				 TRAINING_ENGINE " > torch::autograd::generated::%s::apply#7",
				 steps[i].node);
			training_work(&t, TRAINING_AUTOGRAD, stack, steps[i].kernel,
				      steps[i].backward_us);
		}
	}
	model = training_end(&t);
	advice = ask(&model, 1);
	found = find(&advice, "unfused-attention");
	assert_non_null(found);
	assert_int_equal(found->count, TIMES);
	assert_int_equal(value_of(found, "products_ns"), TIMES * 600 * US);
	assert_int_equal(value_of(found, "others_ns"), TIMES * 260 * US);
	assert_int_equal(value_of(found, "backward_ns"), TIMES * 540 * US);
	assert_int_equal(found->saves_ns, TIMES * (260 + 450) * US);
	assert_string_equal(found->place, "Model.forward (model.py:20-23)");
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_tell),
		cmocka_unit_test(is_silent_without_stacks),
		cmocka_unit_test(no_product_is_claimed_twice),
		cmocka_unit_test(backward_passes_belong_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

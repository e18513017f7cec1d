/* Kernels of libraries whose names tell of a choice that costs time. */
#include "report/advice/advice.h"
#include "tests/report/ask_advice.h"
#include "tests/report/model_builder.h"

#define US      1000ull
#define MS      1000000ull
#define KERNELS 40u

/* A kernel of that name and one of the program's, by turns; 100 us and 300 us each. */
static struct gp_model *build_with(const char *name)
{
	struct build b = build_begin(1);
	uint64_t at_ns = MS;

	build_device(&b, 0, "GPU");
	build_name(&b, name);
	build_name(&b, "mine");
	for (uint32_t i = 0; i < 2 * KERNELS; i++) {
		uint64_t ns = i % 2 == 0 ? 100 * US : 300 * US;

		build_call(&b, 100, BUILD_LAUNCH, at_ns - 10 * US, 5 * US, i + 1);
		build_op(&b, GP_OP_KERNEL, 7, at_ns, at_ns + ns, i + 1)->name = i % 2;
		at_ns += ns;
	}
	return build_end(&b);
}

struct expected {
	const char *name, *rule;
	uint64_t saves_us; /* a kernel; 0: the rule does not fire */
};

static void names_tell(void **state)
{
	static const struct expected cases[] = {
		{"_ZN5cudnn3ops16nchwToNhwcKernelIfffLb0ELb1EL21cudnnDataType_t0EEEvv",
		 "layout-changes", 100},
		{"nhwcToNchwKernel", "layout-changes", 100},
		{"nchw_pool", "layout-changes", 0},
		{"cutlass_80_simt_sgemm_128x64_8x5_nt_align1", "full-precision", 87},
		{"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_ffma_aligna4",
		 "full-precision", 87},
		{"cutlass_80_tensorop_s1688gemm_128x64", "full-precision", 0},
		{"sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", "full-precision", 0},
		{"sm90_xmma_gemm_f16f16_f16f32_f32", "full-precision", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gp_model *model = build_with(cases[i].name);
		struct gp_advice advice = ask(&model, 1);
		const struct gp_finding *found = find(&advice, cases[i].rule);

		assert_int_equal(found != NULL, cases[i].saves_us > 0);
		if (found) {
			assert_int_equal(found->count, KERNELS);
			assert_int_equal(found->time_ns, KERNELS * 100 * US);
			assert_int_equal(found->saves_ns, KERNELS * cases[i].saves_us * US);
		}
		gp_advice_free(&advice);
		gp_model_free(model);
	}
}

/* Before compute capability 8 tensor cores have no TF32; an unknown GPU may be one of these. */
static void older_gpus_have_no_tf32(void **state)
{
	struct gp_model *model = build_with("cutlass_80_simt_sgemm_128x64_8x5_nt_align1");
	struct gp_advice advice;

	model->devices[0].compute_major = 7;
	advice = ask(&model, 1);
	assert_null(find(&advice, "full-precision"));
	gp_advice_free(&advice);
	gp_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell),
		cmocka_unit_test(older_gpus_have_no_tf32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

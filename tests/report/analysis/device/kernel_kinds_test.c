#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/analysis/device/kernel_kinds.h"
#include "tests/lib/temporary.h"
#include "tests/unit.h"
#include "tests/report/model_builder.h"

#define MESSAGE_BYTES 256

static struct gp_kinds *open_built_in(void)
{
	char message[MESSAGE_BYTES];
	struct gp_kinds *kinds = gp_kinds_new(NULL, message, sizeof(message));

	assert_non_null(kinds);
	return kinds;
}

static const char *kind_of(const struct gp_kinds *kinds, const char *name)
{
	return gp_kinds_name(kinds, gp_kinds_find(kinds, name));
}

/* Names as libraries have them. */
static void known_names_have_their_kinds(void **state)
{
	static const struct {
		const char *kind, *name;
	} cases[] = {
		{"communication",
		 "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"},
		{"convolution",
		 "sm80_xmma_wgrad_implicit_gemm_indexed_wo_smem_tf32f32_execute_kernel__5x_cudnn"},
		{"convolution",
		 "void implicit_convolve_sgemm<float, float, 1024, 5, 5, 3, 3, 3, 1>(int, int)"},
		{"GEMM", "sm80_xmma_gemm_f32f32_f32f32_f32_nt_n_tilesize32x32x8_cublas"},
		{"GEMM", "void gemmSN_NN_kernel<float, 128, 2, 4, 8, 4, 4, false>(int)"},
		{"GEMM", "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT"},
		{"GEMM", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32"},
		{"attention",
		 "void ck_tile::kentry<2, FmhaBatchPrefillWithPagedKVCacheKernel<int>>(int)"},
		{"normalization", "void ck_tile::kentry<1, Rmsnorm2dFwd<int>>(int)"},
		{"sort, scan",
		 "void rocprim::trampoline_kernel<wrapped_scan_config<int>, 942>(int)"},
		{"convolution", "volta_scudnn_128x64_stridedB_interior_nn_v1"},
		{"GEMM",
		 "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn>(cutlass::Params)"},
		{"convolution",
		 "void cutlass::Kernel2<cutlass_80_tensorop_s1688fprop_256x64>(int)"},
		{"attention",
		 "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(int)"},
		{"normalization", "void cudnn::bn_fw_tr_1C11_singleread<float, 512>(int)"},
		{"normalization", "triton_red_fused__native_batch_norm_legit_functional_1"},
		{"elementwise", "triton_poi_fused_convolution_0"},
		{"reduction", "triton_per_fused_sum_0"},
		{"copy", "void cudnn::engines_precompiled::nchwToNhwcKernel<float, float>(int)"},
		{"reduction", "_norm_ord2"},
		{"sort, scan", "void at::native::apply::coalesceValuesKernel<float, float>(int)"},
		{"sort, scan",
		 "void cub::detail::scan::DeviceCompactInitKernel<cub::ScanTileState<int>, int*>(int)"},
		{"sparse", "void convert_CooToCsr_kernel<0>(int)"},
		{"reduction",
		 "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>(int)"},
		{"elementwise",
		 "void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::launch_clamp_scalar(int)>(int)"},
		{"copy",
		 "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}>(int)"},
		{"random",
		 "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4>(long)"},
		{"optimizer",
		 "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::FusedAdamMathFunctor<float>>(int)"},
		{"elementwise",
		 "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::BinaryOpListAlphaFunctor<float>>(int)"},
		{"sort, scan", "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<int>(int)"},
		{"softmax", "void (anonymous namespace)::softmax_warp_forward<float, 10>(int)"},
		{"elementwise", "loop_add_fusion"},
		{"reduction", "input_reduce_fusion"},
		{"elementwise", "cupy_multiply__float32_float32_float32"},
		{"elementwise", "vectorAdd(float const*, float const*, float*, int)"},
		{"unknown", "k_empty()"},
		{"unknown", ""},
#define NAMED(kind, name) {kind, name},
#include "tests/report/analysis/device/kernel_names.def"
#undef NAMED
	};
	struct gp_kinds *kinds = open_built_in();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (strcmp(kind_of(kinds, cases[i].name), cases[i].kind) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, kind_of(kinds, cases[i].name),
				 cases[i].kind);
	assert_int_equal(gp_kinds_find(kinds, "ncclKernel"), GP_KIND_COMMUNICATION);
	assert_int_equal(gp_kinds_find(kinds, "transpose"), GP_KIND_COPY);
	gp_kinds_free(kinds);
}

/* What a name's arguments say counts only where a row asks for it. */
static void arguments_do_not_tell_by_chance(void **state)
{
	struct gp_kinds *kinds = open_built_in();

	assert_string_equal(kind_of(kinds, "mine<gemm>(int)"), "unknown");
	assert_string_equal(kind_of(kinds, "mine(nccl)"), "unknown");
	gp_kinds_free(kinds);
}

static void names_of_any_length_are_taken(void **state)
{
	struct gp_kinds *kinds = open_built_in();
	char *name = malloc(70000);

	assert_non_null(name);
	memset(name, 'g', 69999);
	name[69999] = '\0';
	assert_string_equal(kind_of(kinds, name), "unknown");
	memset(name, '<', 69999);
	assert_string_equal(kind_of(kinds, name), "unknown");
	free(name);
	gp_kinds_free(kinds);
}

/* ---- files ---- */

/* The table with that file; its text may hold NULs. */
static struct gp_kinds *open_with(const char *text, size_t length, char message[MESSAGE_BYTES])
{
	char path[] = "/tmp/kinds_test.XXXXXX";
	int fd = temporary_file(path);
	struct gp_kinds *kinds;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	close(fd);
	kinds = gp_kinds_new(path, message, MESSAGE_BYTES);
	unlink(path);
	return kinds;
}

static void rows_of_users_come_first(void **state)
{
	static const char text[] =
		"# ours\n\n  stencil :  *heat* \nGEMM: our::mul\nstencil: *MINE<float*\n";
	char message[MESSAGE_BYTES];
	struct gp_kinds *kinds = open_with(text, strlen(text), message);

	assert_non_null(kinds);
	assert_string_equal(kind_of(kinds, "heat_copy"), "stencil");
	assert_string_equal(kind_of(kinds, "void our::mul<3>(int)"), "GEMM");
	assert_string_equal(kind_of(kinds, "void mine<float>(int)"), "stencil");
	assert_string_equal(kind_of(kinds, "sgemm"), "GEMM");
	assert_int_equal(gp_kinds_find(kinds, "our::mul"), gp_kinds_find(kinds, "sgemm"));
	gp_kinds_free(kinds);
}

/* Letters that a pattern leaves open are looked for nowhere. */
static void open_letters_fit_any(void **state)
{
	static const char text[] = "one: x?z_k*l\ntwo: *q?q*\nthree: ?w\nfour: zz*\nall: *\n";
	char message[MESSAGE_BYTES];
	struct gp_kinds *kinds = open_with(text, strlen(text), message);

	assert_non_null(kinds);
	assert_string_equal(kind_of(kinds, "xyz_kernel"), "one");
	assert_string_equal(kind_of(kinds, "X?Z_kl(int*)"), "one");
	assert_string_equal(kind_of(kinds, "an_qaq"), "two");
	assert_string_equal(kind_of(kinds, "aw"), "three");
	assert_string_equal(kind_of(kinds, "zz"), "four");
	assert_string_equal(kind_of(kinds, "xyz_kernels"), "all");
	assert_string_equal(kind_of(kinds, "z"), "all");
	gp_kinds_free(kinds);
}

static void a_wrong_line_is_named(void **state)
{
	static const char *const texts[] = {"a: b\nno colon\n", "a: b\n:x\n", "a: b\nx:\n",
					    "a: b\nour::mul\n"};
	char message[MESSAGE_BYTES], long_line[3000];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_null(open_with(texts[i], strlen(texts[i]), message));
		assert_non_null(strstr(message, "line 2"));
	}
	memset(long_line, 'a', sizeof(long_line));
	assert_null(open_with(long_line, sizeof(long_line), message));
	assert_non_null(strstr(message, "line 1"));
	assert_null(gp_kinds_new("/nowhere/kinds", message, sizeof(message)));
	assert_non_null(strstr(message, "/nowhere/kinds"));
}

static void there_are_not_too_many_kinds(void **state)
{
	char text[8192], message[MESSAGE_BYTES];
	size_t used = 0;

	for (int i = 0; i < 300; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "kind%d: x\n", i);
	assert_null(open_with(text, used, message));
	assert_non_null(strstr(message, "more than 256 kinds"));
}

static void any_bytes_are_read(void **state)
{
	char text[600], message[MESSAGE_BYTES];

	srand(7);
	for (int round = 0; round < 300; round++) {
		size_t length = (size_t)rand() % sizeof(text);
		struct gp_kinds *kinds;

		for (size_t i = 0; i < length; i++)
			text[i] = (char)(rand() % 4 ? ":*\n #ab"[rand() % 7] : rand());
		kinds = open_with(text, length, message);
		if (kinds)
			assert_true(gp_kinds_find(kinds, text[0] ? "ab" : "b") <
				    gp_kinds_count(kinds));
		gp_kinds_free(kinds);
	}
}

/* ---- operations ---- */

static void copies_are_of_the_kind_of_copies(void **state)
{
	struct gp_kinds *kinds = open_built_in();
	struct build b = build_begin(1);
	struct gp_model *model;
	uint32_t name = build_name(&b, "_Z8my_sgemmPf");
	uint8_t *names;

	build_op(&b, GP_OP_KERNEL, 7, 10, 20, 1)->name = name;
	build_op(&b, GP_OP_KERNEL, 7, 20, 30, 2);
	build_op(&b, GP_OP_SET, 7, 30, 40, 3);
	build_op(&b, GP_OP_GRAPH, 7, 40, 50, 4);
	model = build_end(&b);
	names = gp_kinds_of_names(kinds, model);
	assert_non_null(names);
	assert_string_equal(gp_kinds_name(kinds, gp_kinds_of_op(names, model, &model->ops[0])),
			    "GEMM");
	assert_int_equal(gp_kinds_of_op(names, model, &model->ops[1]), GP_KIND_UNKNOWN);
	assert_int_equal(gp_kinds_of_op(names, model, &model->ops[2]), GP_KIND_COPY);
	assert_int_equal(gp_kinds_of_op(names, model, &model->ops[3]), GP_KIND_UNKNOWN);
	free(names);
	gp_model_free(model);
	gp_kinds_free(kinds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names_have_their_kinds),
		cmocka_unit_test(arguments_do_not_tell_by_chance),
		cmocka_unit_test(names_of_any_length_are_taken),
		cmocka_unit_test(rows_of_users_come_first),
		cmocka_unit_test(open_letters_fit_any),
		cmocka_unit_test(a_wrong_line_is_named),
		cmocka_unit_test(there_are_not_too_many_kinds),
		cmocka_unit_test(any_bytes_are_read),
		cmocka_unit_test(copies_are_of_the_kind_of_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

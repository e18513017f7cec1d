#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "report/symbols/demangle.h"
#include "report/symbols/names.h"
#include "report/base/text/short_name.h"
#include "tests/unit.h"

struct pair {
	const char *given, *expected;
};

static void test_full_names(void **state)
{
	static const struct pair pairs[] = {
		{"_Z6kernelPf", "kernel(float*)"},
		{"_Z3mapIiEvPT_", "void map<int>(int*)"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"triton_poi_fused_add_0", "triton_poi_fused_add_0"},
		/* static kernels, of C++ and of C; and what only looks so */
		{"__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849__Z12JacobiMethodPKfi",
		 "JacobiMethod(float const*, int)"},
		{"__nv_static_13__5d6_4_a_cu_1_kernel", "kernel"},
		{"__nv_static_12__5d6_4_a_cu_1_kernel", "__nv_static_12__5d6_4_a_cu_1_kernel"},
		{"__nv_static_99999999999999999999_a", "__nv_static_99999999999999999999_a"},
		{"__nv_static_1_", "__nv_static_1_"},
		{"_Z", "_Z"},
		{"", ""},
	};
	struct gp_names *names = gp_names_new();

	assert_non_null(names);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(gp_names_full(names, pairs[i].given), pairs[i].expected);
	gp_names_free(names);
}

static void test_short_names(void **state)
{
	static const struct pair pairs[] = {
		{"_Z6kernelPf", "kernel"},
		{"_Z3mapIiEvPT_", "map<int>"},
		{"_ZN3FoocvbEv", "Foo::operator bool"},
		{"_ZN3FooclEi", "Foo::operator()"},
		{"_ZNK3FooltERKS_", "Foo::operator<"},
		{"_ZlsRSoRK3Foo", "operator<<"},
		{"_Z1fIXgtLi2ELi1EEEvv", "f<((2)>(1))>"},
		{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
		{"_ZZNK3net5LayerIdE7forwardEiENKUlPvE_clES2_",
		 "net::Layer<double>::forward(int) const::{lambda(void*)#1}::operator()"},
		{"_ZN2at6native55_GLOBAL__N__eb5d27e2_17_DistanceKernel_cu_08c5d3c2_44705cdistEv",
		 "at::native::cdist"},
		{"_ZN2at12_GLOBAL__N_15cdistEv", "at::cdist"},
		{"_ZN16_INTERNAL_1_a_cu4kernEPf", "kern"},
		{"plain_name(with) things", "plain_name(with) things"},
		{"__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849__Z12JacobiMethodIfEvPT_",
		 "JacobiMethod<float>"},
		/* what the demangler does not know yet: Tn, a value as a template's parameter */
		{"_ZZN3tsl11JoinFuturesIN3xla9CandidateETnPNSt9enable_ifIXntsr3stdE9is_void_vIT_EEvE4typeELPv0EEEvvENKUlvE_clEv",
		 "tsl::JoinFutures<...>::..."},
		{"_ZN4absl7InvokerITnPNSt9enable_ifIXntsr3stdE9is_void_vIT_EEvE4typeELPv0EE3runEv",
		 "absl::Invoker<...>"},
		{"_ZN4absl9Invoker", "_ZN4absl9Invoker"},
		{"_ZN99999999999999999999absl1aI", "_ZN99999999999999999999absl1aI"},
		{"_ZNI", "_ZNI"},
		{"_Z", "_Z"},
		/* demangled by whoever recorded it */
		{"void map<int>(int*)", "map<int>"},
		{"void at::native::(anonymous namespace)::cdist<float, 4>(float*)",
		 "at::native::cdist<float, 4>"},
		{"(anonymous namespace)::kern(int*)", "kern"},
		{"a kernel without name ()", "a kernel without name ()"},
		{"<unnamed>::<unnamed>::(x)", "(x)"},
		{"(anonymous namespace)::<unnamed>", "<unnamed>"},
		{")", ")"},
		{"<>", "<>"},
		/* too wide: namespaces go first */
		{"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorImEESt5arrayIPcLm1EEEEviT0_T1_",
		 "at::native::vectorized_elementwise_kernel<4, FillFunctor<unsigned long>, array<char*, 1ul>>"},
		/* what encloses a lambda loses its parameters */
		{"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
		 "elementwise_kernel<128, 4, gpu_kernel_impl_nocast<BinaryFunctor<..., MulFunctor<...>>>::{lambda#1}>"},
		/* and a lambda within another the calls between them */
		{"_Z14map_the_valuesIZZZN4demo21launch_over_all_of_itEvENKUlvE_clEvENKUlvE2_clEvEUlfE_EvT_",
		 "map_the_values<demo::launch_over_all_of_it::{lambda#1}::{lambda#4}::{lambda#1}>"},
		/* then the deepest arguments */
		{"_ZN7cutlass6KernelINS_4gemm6kernel4GemmINS1_11threadblock12MmaPipelinedINS1_9GemmShapeILi128ELi128ELi8EEENS_9transform11threadblock22PredicatedTileIteratorINS_11MatrixShapeILi128ELi8EEEfNS_6layout11ColumnMajorELi1ENS8_30PitchLinearStripminedThreadMapINS_16PitchLinearShapeILi128ELi8EEELi256ELi1EEELi1ELb0ENSD_9NoPermuteEEEEEEEEEvNT_6ParamsE",
		 "Kernel<Gemm<MmaPipelined<GemmShape<128, 128, 8>, PredicatedTileIterator<...>>>>"},
		/* then the last ones */
		{"_Z4manyIJiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii4LongEEvDpT_",
		 "many<int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, int, ...>"},
	};
	struct gp_names *names = gp_names_new();

	assert_non_null(names);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(gp_names_short(names, pairs[i].given), pairs[i].expected);
	gp_names_free(names);
}

/* As others' traces have them: what is demangled is cut down as what is mangled. */
static void test_demangled_names_are_as_mangled_ones(void **state)
{
	static const char *const mangled[] = {
		"_Z6kernelPf",
		"_ZN2at6native55_GLOBAL__N__eb5d27e2_17_DistanceKernel_cu_08c5d3c2_44705cdistEv",
		"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_13BinaryFunctorIfffNS0_15binary_internal10MulFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_",
		"_Z4manyIJiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii4LongEEvDpT_",
		"_Z1fIXgtLi2ELi1EEEvv",
	};
	struct gp_names *names = gp_names_new();

	for (size_t i = 0; i < sizeof(mangled) / sizeof(mangled[0]); i++) {
		const char *full = gp_names_full(names, mangled[i]);

		assert_string_equal(gp_names_short(names, full), gp_names_short(names, mangled[i]));
		assert_string_equal(gp_names_full(names, full), full);
	}
	gp_names_free(names);
}

/* Two functors of which the short names show the same, a third of another name, and one twice. */
static void test_names_that_are_told_apart(void **state)
{
	static const char add[] =
		"_Z29vectorized_elementwise_kernelILi4E13BinaryFunctorI18a_type_of_a_number18a_type_of_a_number18a_type_of_a_number10AddFunctorIfEES1_EvT0_";
	static const char both[] =
		"_Z29vectorized_elementwise_kernelILi4E13BinaryFunctorI18a_type_of_a_number18a_type_of_a_number18a_type_of_a_number10AddFunctorIbEES1_EvT0_";
	const char *given[] = {add, "_Z6kernelPf", both, add};
	struct gp_names *names = gp_names_new();

	assert_string_equal(gp_names_short(names, add), gp_names_short(names, both));
	gp_names_free(names);
	names = gp_names_new();
	gp_names_tell_apart(names, given, 4);
	assert_string_not_equal(gp_names_short(names, add), gp_names_short(names, both));
	assert_non_null(strstr(gp_names_short(names, add), "AddFunctor<float>"));
	assert_non_null(strstr(gp_names_short(names, both), "AddFunctor<bool>"));
	assert_string_equal(gp_names_short(names, "_Z6kernelPf"), "kernel");
	gp_names_free(names);
	gp_names_tell_apart(NULL, given, 4);
}

/* Alone a name needs no file. */
static void test_static_kernels_of_one_name_have_their_files(void **state)
{
	static const char alpha[] = "__nv_static_29__4e7f_8_alpha_cu_11111111_222__Z6filterPi";
	static const char again[] = "__nv_static_29__4e70_8_alpha_cu_11111111_223__Z6filterPi";
	static const char beta[] = "__nv_static_34__4e7f_12_beta_file_cu_33333333_444__Z6filterPi";
	static const char other[] = "__nv_static_29__4e7f_8_alpha_cu_11111111_222__Z5otherPi";
	const char *same[] = {alpha, again}, *given[] = {alpha, other, beta, alpha, beta};
	struct gp_names *names = gp_names_new();

	gp_names_tell_apart(names, same, 2);
	assert_string_equal(gp_names_short(names, alpha), "filter");
	gp_names_tell_apart(names, given, 5); /* of two processes */
	gp_names_tell_apart(names, given, 3);
	assert_string_equal(gp_names_short(names, alpha), "filter (alpha.cu)");
	assert_string_equal(gp_names_short(names, beta), "filter (beta_file.cu)");
	assert_string_equal(gp_names_full(names, beta), "filter(int*) (beta_file.cu)");
	assert_string_equal(gp_names_full(names, other), "other(int*)");
	gp_names_free(names);
}

/* Numbers in such names may be any. */
static void test_a_file_in_a_name_is_within_it(void **state)
{
	static const struct pair pairs[] = {
		{"__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849__Z6hiddenPi", "jacobi.cu"},
		{"__nv_static_13__5d6_4_a_cu_1_kernel", "a.cu"},
		{"__nv_static_13__5d6_9_a_cu_1_kernel", NULL},
		{"__nv_static_13__5d6_99999999999999999999_a_cu_1_kernel", NULL},
		{"__nv_static_5__5d6__kernel", NULL},
		{"__nv_static_4__5_2_kernel", NULL},
		{"__nv_static_0___kernel", NULL},
		{"_Z6kernelPf", NULL},
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *file = gp_demangle_file(pairs[i].given);

		if (pairs[i].expected)
			assert_string_equal(file, pairs[i].expected);
		else
			assert_null(file);
		free(file);
	}
}

/* What is of a build alone goes, and what it means stays. */
static void test_stable_names_are_those_of_every_build(void **state)
{
	static const struct pair pairs[] = {
		{"__nv_static_36__5d6eaf31_9_jacobi_cu_48d272dc_30849__Z6hiddenPi",
		 "__nv_static_14__0_9_jacobi_cu__Z6hiddenPi"},
		{"_ZN47_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_3267714bound_blocks_TIddLl32EEEvl",
		 "_ZN23_GLOBAL__N__9_trevc3_cu14bound_blocks_TIddLl32EEEvl"},
		{"_ZN2at6kernelINS0_51_GLOBAL__N__28ce311f_18_CompareEQKernel_cu_d8008c9616FunctorEEE",
		 "_ZN2at6kernelINS0_33_GLOBAL__N__18_CompareEQKernel_cu16FunctorEEE"},
		{"_ZN2at12_GLOBAL__N_15cdistEv", "_ZN2at12_GLOBAL__N_15cdistEv"},
		{"_ZN99_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_326771fEv",
		 "_ZN99_GLOBAL__N__e369a470_9_trevc3_cu_2d52f3d7_326771fEv"},
		{"_ZN99999999999999999999_GLOBAL__N__1_1_a",
		 "_ZN99999999999999999999_GLOBAL__N__1_1_a"},
		{"void map<int>(int*)", "void map<int>(int*)"},
		{"", ""},
	};
	struct gp_names *names = gp_names_new();

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		char *stable = gp_demangle_stable(pairs[i].given), *file, *stable_file;
		char *again;

		assert_string_equal(stable, pairs[i].expected);
		assert_string_equal(gp_names_full(names, pairs[i].given)[0] == '_'
					    ? pairs[i].expected
					    : gp_names_full(names, pairs[i].given),
				    gp_names_full(names, stable));
		file = gp_demangle_file(pairs[i].given);
		stable_file = gp_demangle_file(stable);
		assert_string_equal(file ? file : "", stable_file ? stable_file : "");
		again = gp_demangle_stable(stable);
		assert_string_equal(again, stable);
		free(again);
		free(file);
		free(stable_file);
		free(stable);
	}
	gp_names_free(names);
}

/* 50 arguments with lists of their own, so that no width shows what is beside them. */
static void put_deep_name(char *name, const char *shape, const char *parameter)
{
	char *end = name + sprintf(name, "void ns::Kernel<Outer<Tile<Shape<%s>", shape);

	for (int i = 0; i < 50; i++)
		end += sprintf(end, ", Iterator<Map<%d, Long<Layout, %d> > >", i, i);
	sprintf(end, "> > >(%s)", parameter);
}

static void test_names_that_differ_deep_within_show_where(void **state)
{
	static char wide[8192], high[8192];
	struct gp_names *names = gp_names_new();
	const char *given[] = {wide, high};

	put_deep_name(wide, "128, 64", "int");
	put_deep_name(high, "64, 128", "int");
	gp_names_tell_apart(names, given, 2);
	assert_memory_equal(gp_names_short(names, wide), "Kernel<Outer<Tile<Shape<128, 64>", 32);
	assert_memory_equal(gp_names_short(names, high), "Kernel<Outer<Tile<Shape<64, 128>", 32);
	assert_true(strlen(gp_names_short(names, wide)) <= 150);
	gp_names_free(names);
}

static void test_names_that_differ_in_parameters_show_all(void **state)
{
	static char one[8192], other[8192];
	struct gp_names *names = gp_names_new();
	const char *given[] = {one, other};

	put_deep_name(one, "64, 128", "int");
	put_deep_name(other, "64, 128", "long");
	gp_names_tell_apart(names, given, 2);
	assert_string_equal(gp_names_short(names, other), other);
	gp_names_free(names);
}

static void check_narrow(const char *name, size_t columns, const char *expected)
{
	char *text = strdup(name);

	gp_short_name_narrow(text, columns);
	assert_string_equal(text, expected);
	free(text);
}

/* A name that says nothing without its argument keeps the argument's ends. */
static void test_names_that_live_by_their_list(void **state)
{
	check_narrow("cutlass::Kernel2<cutlass_80_simt_sgemm_32x128_8x5_nn_align1>", 36,
		     "Kernel2<cutlass_80_sim..._nn_align1>");
	check_narrow("ns::kernel_with_a_name_of_its_own<an_argument_that_is_too_long>", 36,
		     "kernel_with_a_name_of_its_own<...>");
}

static void test_names_live_as_long_as_the_cache(void **state)
{
	struct gp_names *names = gp_names_new();
	char given[] = "_Z6kernelPf";
	const char *first = gp_names_short(names, given);

	given[5] = 'X';
	assert_string_equal(gp_names_short(names, given), "keXnel");
	assert_ptr_equal(gp_names_short(names, "_Z6kernelPf"), first);
	assert_string_equal(first, "kernel");
	gp_names_free(names);
	gp_names_free(NULL);
}

/*
 * f(A<>, A<A<>, A<>>, A<A<A<>, A<>>, A<A<>, A<>>>, ...): each parameter repeats the one before
 * twice, by a reference of a few bytes.
 */
static void test_names_that_explode(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char mangled[1024], *demangled;
	size_t length = (size_t)sprintf(mangled, "_Z1f1AIiE");

	for (int i = 0; i < 34; i++)
		length += (size_t)sprintf(mangled + length, "S_IS%c_S%c_E", digits[i], digits[i]);
	demangled = gp_demangle("_Z1f1AIiES_IS0_S0_E");
	assert_string_equal(demangled, "f(A<int>, A<A<int>, A<int> >)");
	free(demangled);
	limit_processor_s(20);
	assert_null(gp_demangle(mangled));
	limit_processor_s(0);
}

/* CUTLASS and its like name kernels so: 2,000 bytes are nothing unusual. */
static void test_long_names(void **state)
{
	char mangled[4096], *demangled;
	size_t length = (size_t)sprintf(mangled, "_ZN4demo4gemmIJ");

	for (int i = 0; i < 200; i++)
		length += (size_t)sprintf(mangled + length, "N6layout5TransE");
	sprintf(mangled + length, "EEEvv");
	demangled = gp_demangle(mangled);
	assert_non_null(demangled);
	assert_int_equal(strncmp(demangled, "void demo::gemm<layout::Trans, layout::Trans, ", 46),
			 0);
	gp_short_name(demangled);
	assert_int_equal(strncmp(demangled, "gemm<", 5), 0);
	assert_true(strlen(demangled) <= GP_SHORT_NAME_COLUMNS);
	free(demangled);
}

/*
 * Where the name leads back to itself, and where it nests deeper than anything that a compiler
 * writes.
 */
static void test_names_without_end(void **state)
{
	char deep[16001];

	memset(deep, 'P', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	memcpy(deep, "_Z1f", 4);
	deep[sizeof(deep) - 2] = 'i';
	assert_null(gp_demangle(deep));
	assert_null(gp_demangle("_RNvB_1a"));
}

/* Cutting down must end, and never lengthen, whatever the text. */
static void test_any_text_can_be_shortened(void **state)
{
	static const char *const pieces[] = {
		"<",        ">",   "(",  ")",  "::",       "a",
		"operator", " ",   ", ", "->", "{lambda(", "#1}",
		"std::x",   "...", "[",  "]",  ">>",       "(anonymous namespace)::",
		" const"};
	uint64_t seed = 7;

	for (int round = 0; round < 20000; round++) {
		char text[4096] = "";
		size_t length;

		for (int i = 0; i < round % 200; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			strcat(text, pieces[(seed >> 33) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		length = strlen(text);
		gp_short_name(text);
		assert_true(strlen(text) <= length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full_names),
		cmocka_unit_test(test_short_names),
		cmocka_unit_test(test_demangled_names_are_as_mangled_ones),
		cmocka_unit_test(test_names_that_are_told_apart),
		cmocka_unit_test(test_static_kernels_of_one_name_have_their_files),
		cmocka_unit_test(test_a_file_in_a_name_is_within_it),
		cmocka_unit_test(test_stable_names_are_those_of_every_build),
		cmocka_unit_test(test_names_that_differ_deep_within_show_where),
		cmocka_unit_test(test_names_that_differ_in_parameters_show_all),
		cmocka_unit_test(test_names_that_live_by_their_list),
		cmocka_unit_test(test_names_live_as_long_as_the_cache),
		cmocka_unit_test(test_names_that_explode),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_names_without_end),
		cmocka_unit_test(test_any_text_can_be_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/text/elide.h"
#include "report/base/text/text.h"

#define MOST  8
#define LEAST 3 /* columns, for "..." */

/* Each text of a column as it is expected, in so many columns; a NULL ends them. */
static void check(size_t columns, const char *const texts[MOST], const char *const expected[MOST])
{
	size_t count = 0;
	char **fitted;

	while (count < MOST && texts[count])
		count++;
	fitted = gp_elide(texts, count, 1, columns);
	assert_non_null(fitted);
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(fitted[i], expected[i]);
		assert_true(gp_text_columns(fitted[i]) <= columns);
	}
	gp_elide_free(fitted, count);
}

#define GEMM(layout)                                                                               \
	"sm80_xmma_gemm_f32f32_f32f32_f32_" layout "_n_tilesize32x32x8_kernel__5x_cublas"

static void texts_that_look_different_are_fitted_alone(void **state)
{
	check(20, (const char *[MOST]){"short", GEMM("tn"), "a::name<int>"},
	      (const char *[MOST]){"short", "sm80_xmma_ge...ublas", "a::name<int>"});
	check(20, (const char *[MOST]){NULL}, (const char *[MOST]){NULL});
}

static void names_show_where_they_differ(void **state)
{
	check(36, (const char *[MOST]){GEMM("tn"), "k", GEMM("nn"), GEMM("tn")},
	      (const char *[MOST]){"sm80_xmma_...tn_n_tilesize32x32x8...", "k",
				   "sm80_xmma_...nn_n_tilesize32x32x8...",
				   "sm80_xmma_...tn_n_tilesize32x32x8..."});
	/* a little more of the beginning is enough */
	check(36,
	      (const char *[MOST]){"implicit_gemm_indexed_tn_" GEMM("tn"),
				   "implicit_gemm_indexed_nt_" GEMM("tn")},
	      (const char *[MOST]){"implicit_gemm_indexed_tn_sm80...blas",
				   "implicit_gemm_indexed_nt_sm80...blas"});
}

/*
 * Overloads of which one has a parameter more: the ends of their names are the same from before it
 * on.
 */
static void a_parameter_more_shows(void **state)
{
	check(39,
	      (const char *[MOST]){
		      "void jacobi_kernel<32, 32>(float*, float*, int, int, int, bool)",
		      "void jacobi_kernel<32, 32>(float*, float*, int, int, bool)"},
	      (const char *[MOST]){"void jacobi_kernel<...int, int, int,...",
				   "void jacobi_kernel<...float*, int, i..."});
}

static void arguments_come_back_where_they_tell_apart(void **state)
{
	check(36,
	      (const char *[MOST]){"at::native::elementwise_kernel<128, Functor<at::native::Add>>",
				   "at::native::elementwise_kernel<128, Functor<at::native::Mul>>"},
	      (const char *[MOST]){"elementwise_kernel<... Functor<Add>>",
				   "elementwise_kernel<... Functor<Mul>>"});
	/* of the rest only the word that differs has room */
	check(41,
	      (const char *[MOST]){
		      "vectorized_elementwise_kernel<4, FillFunctor<int>, array<char*, 1ul>>",
		      "vectorized_elementwise_kernel<4, FillFunctor<float>, array<char*, 1ul>>"},
	      (const char *[MOST]){"vectorized_elementwise_kernel<...int>,...",
				   "vectorized_elementwise_kernel...float>..."});
}

static void only_namespaces_tell_these_apart(void **state)
{
	char **fitted = gp_elide((const char *[]){"one::kernel<a_long_argument, another_one>",
						  "two::kernel<a_long_argument, another_one>"},
				 2, 1, 24);

	assert_non_null(fitted);
	assert_string_not_equal(fitted[0], fitted[1]);
	gp_elide_free(fitted, 2);
}

/* Whatever is in them, at any width: nothing too wide, and the same for the same. */
static void any_bytes_fit(void **state)
{
	static const char alphabet[] = "aab<>:, (){}\xe6\xa0\xb8.";
	char texts[64][48];
	const char *given[64];
	uint32_t random = 1;

	for (size_t columns = 1; columns < 40; columns++) {
		char **fitted;

		for (size_t i = 0; i < 64; i++) {
			for (size_t k = 0; k < sizeof(texts[i]) - 1; k++) {
				random = random * 1664525u + 1013904223u;
				texts[i][k] = alphabet[(random >> 16) % (sizeof(alphabet) - 1)];
			}
			texts[i][sizeof(texts[i]) - 1] = '\0';
			given[i] = texts[i];
		}
		memcpy(texts[1], texts[0], sizeof(texts[0]));
		fitted = gp_elide(given, 32, 2, columns);
		assert_non_null(fitted);
		for (size_t i = 0; i < 32; i++)
			assert_true(gp_text_columns(fitted[i]) <=
				    (columns < LEAST ? LEAST : columns));
		gp_elide_free(fitted, 32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_that_look_different_are_fitted_alone),
		cmocka_unit_test(names_show_where_they_differ),
		cmocka_unit_test(a_parameter_more_shows),
		cmocka_unit_test(arguments_come_back_where_they_tell_apart),
		cmocka_unit_test(only_namespaces_tell_these_apart),
		cmocka_unit_test(any_bytes_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

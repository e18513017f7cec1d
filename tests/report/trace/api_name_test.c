#include <string.h>

#include "report/trace/api_name.h"
#include "tests/unit.h"

static void test_endings_of_cupti_go(void **state)
{
	static const struct {
		const char *given, *expected;
	} names[] = {
		{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
		{"cudaLaunchKernel_ptsz_v7000", "cudaLaunchKernel"},
		{"cudaMemcpy_ptds_v7000", "cudaMemcpy"},
		{"cudaStreamBeginCapture_v10000", "cudaStreamBeginCapture"},
		{"cudaGraphInstantiate_v12000", "cudaGraphInstantiate"},
		{"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD_v2"},
		{"cuMemAlloc_v2", "cuMemAlloc_v2"},
		{"cuLaunchKernel_ptsz", "cuLaunchKernel"},
		{"cuLaunchKernel", "cuLaunchKernel"},
		{"name_v123", "name_v123"},
		{"name7000", "name7000"},
		{"_v7000", "_v7000"},
		{"_ptsz", "_ptsz"},
		{"7000", "7000"},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = gp_api_name_length(names[i].given, strlen(names[i].given));

		assert_int_equal(length, strlen(names[i].expected));
		assert_memory_equal(names[i].given, names[i].expected, length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endings_of_cupti_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

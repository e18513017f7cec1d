#include "report/run/injection.h"
#include "tests/unit.h"

static void test_ours_is_no_other(void **state)
{
	assert_null(gp_injection_other(NULL));
	assert_null(gp_injection_other(""));
	assert_null(gp_injection_other("libgpuprof.so"));
	assert_null(gp_injection_other("/usr/lib/libgpuprof.so"));
	assert_string_equal(gp_injection_other("/opt/tool.so"), "/opt/tool.so");
	assert_string_equal(gp_injection_other("/opt/libgpuprof.so.1"), "/opt/libgpuprof.so.1");
	assert_string_equal(gp_injection_other("/libgpuprof.so/other"), "/libgpuprof.so/other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ours_is_no_other)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

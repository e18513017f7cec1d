/* Whose code a frame is: by the path of its module. */
#include <string.h>
#include <sys/resource.h>

#include "report/symbols/code_owner.h"
#include "tests/unit.h"

static void modules_have_owners(void **state)
{
	assert_int_equal(gp_code_owner_of_module("/opt/app/libapp.so"), GP_CODE_OWN);
	assert_int_equal(gp_code_owner_of_module("/usr/lib/libcudart.so.13"), GP_CODE_BENEATH);
	assert_int_equal(gp_code_owner_of_module("/x/site-packages/a/b.so"), GP_CODE_FRAMEWORK);
	assert_int_equal(gp_code_owner_of_module("/opt/app/libapp.so"), GP_CODE_OWN);
}

/* It is asked for each frame of each stack: millions of times for a file of some 100 KB. */
static void a_path_that_was_made_to_match_slowly(void **state)
{
	const struct rlimit limit = {.rlim_cur = 20, .rlim_max = RLIM_INFINITY};
	static char path[16384];

	memset(path, '/', sizeof(path) - 1);
	assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
	for (int i = 0; i < 1000000; i++)
		assert_int_equal(gp_code_owner_of_module(path), GP_CODE_OWN);
	strcpy(path + sizeof(path) - 20, "libcudart.so.13");
	assert_int_equal(gp_code_owner_of_module(path), GP_CODE_BENEATH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_have_owners),
		cmocka_unit_test(a_path_that_was_made_to_match_slowly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>

#include "report/finish/output_name.h"
#include "tests/unit.h"

static void test_names(void **state)
{
	static const struct {
		const char *template, *name;
	} cases[] = {
		{"plain", "plain"},
		{"/a/%p", "/a/1234"},
		{"%n.txt", "sim.txt"},
		{"%h%%", "vm_1%"},
		{"%q{GPUPROF_TEST_RANK}x", "_._etcx"},
		{"/a/%q{GPUPROF_TEST_UP}/x", "/a/_./x"},
		{"%q{GPUPROF_TEST_ABSENT}x", "_x"},
		{"%q{GPUPROF_TEST_ABSENT}/x", "_/x"},
		{"%z%q%q{A", "%z%q%q{A"},
		{"100%", "100%"},
		{"", ""},
	};
	struct gp_model model = {.pid = 1234};

	setenv("GPUPROF_TEST_RANK", "../etc", 1);
	setenv("GPUPROF_TEST_UP", "..", 1);
	model.info[GP_INFO_PROGRAM] = "sim";
	model.info[GP_INFO_HOST] = "vm/1";
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = gp_output_name(cases[i].template, &model);

		assert_non_null(name);
		assert_string_equal(name, cases[i].name);
		free(name);
	}
}

/* Not empty: "%h/x" would be a path from the root on. */
static void test_what_the_trace_does_not_tell_is_a_line(void **state)
{
	struct gp_model model = {0};
	char *name = gp_output_name("a%n-%h-%p", &model);

	assert_string_equal(name, "a_-_-0");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_the_trace_does_not_tell_is_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

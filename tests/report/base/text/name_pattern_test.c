/* The patterns of names: numbers become stars, hashes stay. */
#include "report/base/text/name_pattern.h"
#include "tests/unit.h"

static void numbers_become_stars(void **state)
{
	static const struct {
		const char *name, *pattern;
	} cases[] = {
		{"request 17", "request *"},
		{"ProfilerStep#1208", "ProfilerStep#*"},
		{"layer2.conv1", "layer*.conv*"},
		{"step 1/20 of epoch 3", "step */* of epoch *"},
		{"12345678901234567890", "*"},
		{"MxE2m1MxE4m3", "MxE*m*MxE*m*"},
		{"## Call CompiledFxGraph fjs75i4jmhjizyb52gwp7gln 7 ##",
		 "## Call CompiledFxGraph fjs75i4jmhjizyb52gwp7gln * ##"},
		{"of 0x7ed6e00c62a0", "of 0x7ed6e00c62a0"},
		{"", ""},
	};
	char pattern[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gp_name_pattern(pattern, sizeof(pattern), cases[i].name);
		assert_string_equal(pattern, cases[i].pattern);
	}
}

static void patterns_are_cut(void **state)
{
	char pattern[8];

	gp_name_pattern(pattern, sizeof(pattern), "request 17 of 20");
	assert_string_equal(pattern, "request");
	gp_name_pattern(pattern, sizeof(pattern), "7ed6e00c62a04444");
	assert_string_equal(pattern, "7ed6e00");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_become_stars),
		cmocka_unit_test(patterns_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* pattern: globs, lists of globs, and the plain names in mangled names. */

#include "tests/unit.h"

#include <stdbool.h>
#include <string.h>

#include "inject/pattern.h"

static void one_pattern(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"", "", true},
		{"", "a", false},
		{"abc", "abc", true},
		{"abc", "abcd", false},
		{"abc", "ab", false},
		{"*", "", true},
		{"*", "anything", true},
		{"**", "x", true},
		{"a*", "a", true},
		{"*a", "ba", true},
		{"*a", "ab", false},
		{"*gemm*", "ampere_sgemm_128", true},
		{"*ab*ab", "abxab", true},
		{"*ab*ab", "ab", false},
		{"*aab", "aaab", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"?", "", false},
		{"[abc]x", "bx", true},
		{"[abc]x", "dx", false},
		{"[a-c]", "b", true},
		{"[a-c]", "-", false},
		{"[a-]", "-", true},
		{"[]]", "]", true},
		{"[ab", "[ab", true},
		{"[ab", "a", false},
		{"x[", "x[", true},
		{"a,b", "a,b", true},
		{"!a", "!a", true},
		{"k_[0-9]*_*", "k_12_x", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (gp_pattern_matches_one(cases[i].pattern, strlen(cases[i].pattern),
					   cases[i].name) != cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

/* A pattern for which full backtracking would take too long. */
static void many_stars_take_no_time(void **state)
{
	char name[1025];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_false(gp_pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

static void lists(void **state)
{
	assert_true(gp_pattern_matches("", "anything"));
	assert_true(gp_pattern_matches(",,", "anything"));
	assert_true(gp_pattern_matches("one,two", "two"));
	assert_false(gp_pattern_matches("one,two", "three"));
	assert_false(gp_pattern_matches("!one", "one"));
	assert_true(gp_pattern_matches("!one", "two"));
	assert_true(gp_pattern_matches("*gemm*,!*splitK*", "sgemm"));
	assert_false(gp_pattern_matches("*gemm*,!*splitK*", "sgemm_splitK_2"));
	assert_false(gp_pattern_matches("!*splitK*,*gemm*", "sgemm_splitK_2"));
	assert_false(gp_pattern_matches("*gemm*,!*splitK*", "reduce"));
}

static void plain_names_of_functions(void **state)
{
	static const struct {
		const char *mangled, *plain;
	} names[] = {
		{"_Z5scalePfi", "scale"},
		{"_Z5scaleIfEvPT_", "scale"},
		{"_ZL5scalePf", "scale"},
		{"_ZN4tool8k_insideIfEEvPT_", "k_inside"},
		{"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_15gpu_kernel_implEEEvT_",
		 "elementwise_kernel"},
		{"_ZN12_GLOBAL__N_15scaleEPf", "scale"},
		{"_ZN4toolL5scaleEv", "scale"},
		{"k_empty", "k_empty"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!gp_pattern_matches_function(names[i].plain, names[i].mangled))
			fail_msg("%s", names[i].mangled);
		assert_true(gp_pattern_matches_function(names[i].mangled, names[i].mangled));
		assert_false(gp_pattern_matches_function("other", names[i].mangled));
	}
	/* a match of either name excludes the kernel */
	assert_false(gp_pattern_matches_function("!scale", "_Z5scalePfi"));
	assert_false(gp_pattern_matches_function("!_Z*", "_Z5scalePfi"));
	/* the namespace is not part of the plain name */
	assert_false(gp_pattern_matches_function("tool", "_ZN4tool8k_insideIfEEvPT_"));
}

static void damaged_names_do_no_harm(void **state)
{
	static const char *const names[] = {
		"",      "_Z",     "_ZN",   "_ZNL",  "_Z99x",    "_Z99999999999999999999999x",
		"_ZN3a", "_ZN4to", "_Z0x1", "_ZLLL", "_ZN1aN1bE"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(gp_pattern_matches_function("*", names[i]));
		assert_false(gp_pattern_matches_function("nothing", names[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pattern),
		cmocka_unit_test(many_stars_take_no_time),
		cmocka_unit_test(lists),
		cmocka_unit_test(plain_names_of_functions),
		cmocka_unit_test(damaged_names_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

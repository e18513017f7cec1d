/* What may have been meant by a word that is not known. */
#include <string.h>

#include "report/base/text/did_you_mean.h"
#include "tests/unit.h"

static const char *nearest_to(const char *word)
{
	static const char *const known[] = {"summary", "top",   "trace",   "html",
					    "export",  "merge", "explain", "full-names"};
	struct gp_did_you_mean nearest = {.word = word};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		gp_did_you_mean_try(&nearest, known[i]);
	return nearest.found ? nearest.found : "";
}

static void test_what_is_near(void **state)
{
	static const char *const pairs[][2] = {
		{"sumary", "summary"},   /* a letter is missing */
		{"summmary", "summary"}, /* there is one too many */
		{"summery", "summary"},  /* one is wrong */
		{"rtace", "trace"},      /* two have changed places */
		{"tpo", "top"},
		{"HTLM", "html"},    /* a capital is no change */
		{"exp", "export"},   /* the shortest of those that begin so */
		{"tracer", "trace"}, /* begins more alike */
		{"fullnames", "full-names"},
		{"xeplian", "explain"},
		{"names", "full-names"}, /* its last part */
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(nearest_to(pairs[i][0]), pairs[i][1]);
}

static void test_what_is_not(void **state)
{
	char endless[1000];

	memset(endless, 's', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_string_equal(nearest_to(endless), "");
	assert_string_equal(nearest_to(""), "");
	assert_string_equal(nearest_to("s"), "");
	assert_string_equal(nearest_to("record"), "");
	assert_string_equal(nearest_to("\xff\xfe\xfd"), "");
}

static void test_the_nearest_of_several(void **state)
{
	struct gp_did_you_mean nearest = {.word = "laaunch"};

	gp_did_you_mean_try(&nearest, "lunch");
	assert_string_equal(nearest.found, "lunch");
	gp_did_you_mean_try(&nearest, "launch");
	assert_string_equal(nearest.found, "launch");
	gp_did_you_mean_try(&nearest, "laaunce"); /* as near, and begins more alike */
	assert_string_equal(nearest.found, "laaunce");
	gp_did_you_mean_try(&nearest, "launch");
	assert_string_equal(nearest.found, "laaunce");
	assert_int_equal(nearest.distance, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_near),
		cmocka_unit_test(test_what_is_not),
		cmocka_unit_test(test_the_nearest_of_several),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <stdlib.h>

#include "report/base/text/utf8.h"
#include "tests/unit.h"

#define BAD "\xef\xbf\xbd"

static void test_repair(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"a\xff"
		 "b",
		 "a" BAD "b"},
		{"\xc3", BAD},                 /* cut off */
		{"\xe2\x82", BAD BAD},         /* cut off */
		{"\xc0\xaf", BAD BAD},         /* overlong */
		{"\xed\xa0\x80", BAD BAD BAD}, /* a surrogate */
		{"\xc3\xa9\xa9z", "\xc3\xa9" BAD "z"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *repaired = gp_utf8_repair(cases[i][0]);

		assert_string_equal(repaired, cases[i][1]);
		free(repaired);
	}
}

static void test_cut(void **state)
{
	static const struct {
		const char *text;
		size_t most, taken;
	} cases[] = {
		{"plain", 9, 5},
		{"plain", 5, 5},
		{"plain", 4, 4},
		{"plain", 0, 0},
		{"a\xf0\x9f\x98\x80z", 5, 5},
		{"a\xf0\x9f\x98\x80z", 4, 1},
		{"a\xf0\x9f\x98\x80z", 2, 1},
		{"\xc3\xa9", 1, 0},
		{"\x80\x80\x80\x80\x80\x80\x80\x80", 6, 6}, /* no sequence is as long */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(gp_utf8_cut(cases[i].text, cases[i].most), cases[i].taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

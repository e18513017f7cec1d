#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/utf8.h"

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

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *repaired = gp_utf8_repair(cases[i][0]);

		assert_string_equal(repaired, cases[i][1]);
		free(repaired);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Texts as cells of CSV, whatever a program called its things. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/codec/csv_text.h"

static void test_cells(void **state)
{
	static const struct {
		const char *text, *cell;
		bool is_plain;
	} cases[] = {
		{"", "", true},
		{"k_empty", "k_empty", true},
		{"f(int*)", "f(int*)", true},
		{"a b", "a b", true},
		{"a,b", "\"a,b\"", false},
		{"a\"b", "\"a\"\"b\"", false},
		{" a", "\" a\"", false},
		{"=1+1", "'=1+1", false},
		{"+1", "'+1", false},
		{"  =1+1", "\"'  =1+1\"", false},
		{"-1", "'-1", false},
		{"@SUM(A1,\"x\")", "\"'@SUM(A1,\"\"x\"\")\"", false},
		{"a\nb", "a\\nb", false},
		{"\tx", "\\tx", false},
		{"\x1b[2J", "\\x1b[2J", false},
		{"\xff", "\\xff", false},
		{"\xc3\xa9", "\xc3\xa9", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *cell = gp_csv_text(cases[i].text);

		assert_string_equal(cell, cases[i].cell);
		assert_int_equal(gp_csv_is_plain(cases[i].text, strlen(cases[i].text)),
				 cases[i].is_plain);
		free(cell);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

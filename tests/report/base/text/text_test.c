#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/text/text.h"
#include "report/base/text/utf8.h"

static void check_escape(const char *text, const char *expected)
{
	char *escaped = gp_text_escape(text);

	assert_string_equal(escaped, expected);
	free(escaped);
}

static void check_fit(const char *text, size_t columns, const char *expected)
{
	char *fitted = gp_text_fit(text, columns);

	assert_string_equal(fitted, expected);
	assert_true(gp_text_columns(fitted) <= columns);
	free(fitted);
}

static void ordinary_names_stay(void **state)
{
	check_escape("saxpy<float>(int, float*)", "saxpy<float>(int, float*)");
	check_escape("C:\\dir \"x\"", "C:\\dir \"x\"");
	check_escape("gr\xc3\xb6\xc3\x9f"
		     "e \xe6\xa0\xb8 \xf0\x9f\x9a\x80",
		     "gr\xc3\xb6\xc3\x9f"
		     "e \xe6\xa0\xb8 \xf0\x9f\x9a\x80");
}

static void what_could_drive_a_terminal_is_written_out(void **state)
{
	check_escape("\x1b[2J\a\r\n\t", "\\x1b[2J\\x07\\x0d\\n\\t");
	check_escape("\x7f", "\\x7f");
	check_escape("\xc2\x9b"
		     "31m",
		     "\\u{9b}31m");
	check_escape("\xe2\x80\xae"
		     "gnp",
		     "\\u{202e}gnp");
	check_escape("a\xe2\x80\x8b"
		     "b",
		     "a\\u{200b}b");
	check_escape("\xf3\xa0\x80\x81", "\\u{e0001}");
}

static void what_is_no_utf8_is_written_out(void **state)
{
	check_escape("\xff\x80", "\\xff\\x80");
	check_escape("\xc0\xaf", "\\xc0\\xaf");
	check_escape("\xed\xa0\x80", "\\xed\\xa0\\x80");
	check_escape("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
	check_escape("\xe6\xa0", "\\xe6\\xa0");
}

/* No byte string, whatever it holds, leaves a control character or a byte that is no UTF-8. */
static void no_escaped_text_holds_a_control(void **state)
{
	srand(2);
	for (int round = 0; round < 2000; round++) {
		char text[16] = "";
		char *escaped;
		uint32_t code = 0;

		for (int i = 0; i < 15; i++)
			text[i] = (char)(1 + rand() % 255);
		escaped = gp_text_escape(text);
		for (const char *c = escaped; *c;) {
			size_t bytes = gp_utf8_decode(c, strlen(c), &code);

			assert_true(bytes > 0);
			assert_true(code >= 0x20 && (code < 0x7f || code > 0x9f));
			c += bytes;
		}
		free(escaped);
	}
}

static void columns_are_those_of_a_terminal(void **state)
{
	assert_int_equal(gp_text_columns("abc"), 3);
	assert_int_equal(gp_text_columns("gr\xc3\xb6\xc3\x9f"
					 "e"),
			 5);
	assert_int_equal(gp_text_columns("e\xcc\x81"), 1);
	assert_int_equal(gp_text_columns("\xe6\xa0\xb8"), 2);
}

static void long_names_lose_their_middle(void **state)
{
	check_fit("abcdefghij", 10, "abcdefghij");
	check_fit("abcdefghijklm", 9, "abcd...lm");
	check_fit("\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8\xe6\xa0\xb8", 9,
		  "\xe6\xa0\xb8\xe6\xa0\xb8...\xe6\xa0\xb8");
	check_fit("abcdef", 3, "...");
}

static void test_a_name_that_has_to_fit_keeps_its_own_part(void **state)
{
	static const struct {
		size_t columns;
		const char *text, *expected;
	} cases[] = {
		{40, "short::name<int>", "short::name<int>"},
		{40, "averyverylongnamespace::anotherlongone::kernel_with_a_name<int, 42, true>",
		 "kernel_with_a_name<int, 42, true>"},
		{28, "averyverylongnamespace::kernel_with_a_name<int, 42, true>",
		 "kernel_with_a_name<int, ...>"},
		{24, "kernel_with_a_name<int, 42, true>", "kernel_with_a_name<...>"},
		{26, "a::kernel<b::Functor<float, int>, true>", "kernel<Functor<...>, true>"},
		{30, "averylongnamespace::function (file.cu:33)", "function (file.cu:33)"},
		{10, "without_any_part", "witho...rt"},
		{12, "/a/path::with<these>", "/a/pat...se>"},
		{5, "ns::kernel (x.c:1)", "ns..."},
		{24, "Advantage.__call__ (returns.py:28)", "Advant...(returns.py:28)"},
		{23, "Advantage.__call__ (returns.py:28)", "Advantage.__ca...py:28)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *fitted = gp_text_fit(cases[i].text, cases[i].columns);

		assert_non_null(fitted);
		assert_string_equal(fitted, cases[i].expected);
		free(fitted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_names_stay),
		cmocka_unit_test(what_could_drive_a_terminal_is_written_out),
		cmocka_unit_test(what_is_no_utf8_is_written_out),
		cmocka_unit_test(no_escaped_text_holds_a_control),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(long_names_lose_their_middle),
		cmocka_unit_test(test_a_name_that_has_to_fit_keeps_its_own_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

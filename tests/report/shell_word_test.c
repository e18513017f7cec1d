/* shell_word: a shell reads back what was written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/shell_word.h"
#include "tests/unit.h"

/* What the shell takes a word for, as its one argument. */
static void read_back(const char *word, char *text, size_t bytes)
{
	char command[256];
	FILE *shell;

	snprintf(command, sizeof(command), "cd / && set -- %s && printf '%%s.%%s' $# \"$1\"", word);
	shell = popen(command, "r");
	assert_non_null(shell);
	text[fread(text, 1, bytes - 1, shell)] = '\0';
	assert_int_equal(pclose(shell), 0);
}

static void test_a_shell_reads_it_back(void **state)
{
	static const char *const texts[] = {
		"/tmp/a-1.gpuprof", "two words", "it's", "''", "",  "$HOME", "~",   "~root",
		"a;b&c|d",          "*",         "a\\b", "\"", "#", "!x",    "(a)", "a\tb",
		"\303\244"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char word[64], text[64], expected[64];

		snprintf(expected, sizeof(expected), "1.%s", texts[i]);
		read_back(gp_shell_word(texts[i], word, sizeof(word)), text, sizeof(text));
		assert_string_equal(text, expected);
	}
}

static void test_usual_names_stay_as_they_are(void **state)
{
	static const char name[] = "/home/me/run~1/gpuprof-app_x+y@h-12,3.gpuprof";
	char word[64];

	assert_ptr_equal(gp_shell_word(name, word, sizeof(word)), name);
}

static void test_what_does_not_fit_stays_as_it_is(void **state)
{
	static const char text[] = "a b'";
	char word[16];

	for (size_t bytes = 0; bytes < strlen("'a b'\\'''") + 1; bytes++) {
		memset(word, 'x', sizeof(word));
		assert_ptr_equal(gp_shell_word(text, word, bytes), text);
		assert_int_equal(word[bytes], 'x');
	}
	assert_string_equal(gp_shell_word(text, word, sizeof("'a b'\\'''")), "'a b'\\'''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_shell_reads_it_back),
		cmocka_unit_test(test_usual_names_stay_as_they_are),
		cmocka_unit_test(test_what_does_not_fit_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

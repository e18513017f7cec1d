/* The lines of Python code against what the interpreters on this machine say themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>

#include "report/symbols/python_code.h"
#include "tests/unit.h"

static void test_a_code_object_is_read(void **state)
{
	static const char text[] = "\5\0\0\0\3\0\0\0train.py\0Net.step\0\xd0\x02";
	struct gp_python_code code;

	assert_true(gp_python_code_read(text, sizeof(text) - 1, &code));
	assert_string_equal(code.file, "train.py");
	assert_string_equal(code.name, "Net.step");
	assert_int_equal(code.first_line, 5);
	assert_int_equal(code.form, GP_LINES_3_11);
	assert_int_equal(code.table_bytes, 2);
}

static void test_damage_is_seen(void **state)
{
	static const char text[] = "\5\0\0\0\3\0\0\0train.py\0Net.step";
	struct gp_python_code code;

	for (size_t bytes = 0; bytes < sizeof(text) - 1; bytes++)
		assert_false(gp_python_code_read(text, bytes, &code));
	assert_true(gp_python_code_read(text, sizeof(text), &code));
}

static void test_any_table_ends(void **state)
{
	uint8_t table[64];
	struct gp_python_code code = {.table = table, .table_bytes = sizeof(table)};

	for (unsigned fill = 0; fill < 256; fill++)
		for (code.form = 0; code.form < 5; code.form++) {
			memset(table, (int)fill, sizeof(table));
			gp_python_code_line(&code, UINT64_MAX);
		}
	code.form = 4; /* of a later version */
	assert_int_equal(gp_python_code_line(&code, 0), 0);
}

/* One line of python_lines.py; returns how many instructions it compared. */
static size_t compare(char *text, unsigned long *form)
{
	uint8_t table[1 << 16];
	char *rest = text, *word;
	struct gp_python_code code = {.table = table};
	size_t i = 0;

	*form = strtoul(rest, &rest, 10);
	code.form = (uint8_t)*form;
	code.first_line = (uint32_t)strtoul(rest, &rest, 10);
	strtok(rest, " ");
	word = rest + 1;
	for (; word[0] != '-' && word[0] != '\0' && code.table_bytes < sizeof(table); word += 2)
		table[code.table_bytes++] =
			(uint8_t)strtoul((char[]){word[0], word[1], 0}, NULL, 16);
	code.file = strtok(NULL, " ");
	code.name = strtok(NULL, " ");
	for (; (word = strtok(NULL, " \n")) != NULL; i++)
		if (gp_python_code_line(&code, 2 * i) != strtoul(word, NULL, 10))
			fail_msg("%s, %s: instruction %zu is of line %u, not %s", code.file,
				 code.name, i, gp_python_code_line(&code, 2 * i), word);
	return i;
}

static void compare_with(const char *python)
{
	char command[4096], *line = NULL;
	size_t capacity = 0, compared = 0;
	unsigned long form = 0;
	FILE *lines;

	snprintf(command, sizeof(command), "%s tests/report/python_lines.py", python);
	lines = popen(command, "r");
	assert_non_null(lines);
	while (getline(&line, &capacity, lines) > 0)
		compared += compare(line, &form);
	free(line);
	assert_int_equal(pclose(lines), 0);
	assert_in_range(compared, 10000, SIZE_MAX);
	print_message("%s: %zu lines, form %lu\n", python, compared, form);
}

static void test_lines_are_those_of_python(void **state)
{
	static const char *const places[] = {"~/.pyenv/versions/3.%u.*/bin/python",
					     "/usr/local/bin/python3.%u", "/usr/bin/python3.%u"};
	unsigned found = 0;

	for (unsigned i = 0; i < 3 * 7; i++) {
		char pattern[128];
		glob_t matches;

		snprintf(pattern, sizeof(pattern), places[i % 3], 8 + i / 3);
		if (glob(pattern, GLOB_TILDE, NULL, &matches) == 0) {
			compare_with(matches.gl_pathv[0]);
			found++;
		}
		globfree(&matches);
	}
	if (found == 0)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_code_object_is_read),
		cmocka_unit_test(test_damage_is_seen),
		cmocka_unit_test(test_any_table_ends),
		cmocka_unit_test(test_lines_are_those_of_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

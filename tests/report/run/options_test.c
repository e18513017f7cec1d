#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/run/options.h"

static struct gp_run_options options;
static char message[512];

static int parse(char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	message[0] = 0;
	return gp_run_options_parse(&options, argc, argv, message, sizeof(message));
}

#define PARSE(...) parse((char *[]){"run", __VA_ARGS__, NULL})

static void test_the_first_other_word_is_the_program(void **state)
{
	assert_int_equal(PARSE("-q", "program", "-o", "its own"), 0);
	assert_true(gp_run_options_flag(&options, GP_OPTION_ID_QUIET));
	assert_string_equal(options.program[0], "program");
	assert_string_equal(options.program[1], "-o");
	assert_string_equal(options.program[2], "its own");
	assert_null(options.program[3]);
	assert_string_equal(options.values[GP_OPTION_ID_OUTPUT], "gpuprof-%n-%p");
}

static void test_two_dashes_end_the_options(void **state)
{
	assert_int_equal(PARSE("--", "-q"), 0);
	assert_false(gp_run_options_flag(&options, GP_OPTION_ID_QUIET));
	assert_string_equal(options.program[0], "-q");
}

static void test_every_row_of_the_table_is_an_option(void **state)
{
	for (int i = 0; i < GP_OPTIONS; i++) {
		const struct gp_option_row *row = &gp_option_rows[i];
		const char *value = row->type == GP_OPTION_TEXT ? "7" : row->value;
		char word[64];

		snprintf(word, sizeof(word), "--%s%s%s", row->long_name,
			 row->type == GP_OPTION_FLAG ? "" : "=",
			 row->type == GP_OPTION_FLAG ? "" : value);
		assert_int_equal(PARSE(word, "program"), 0);
		assert_true(options.given[i]);
		assert_string_equal(options.values[i], row->type == GP_OPTION_FLAG ? "1" : value);
	}
}

static void test_command_line_before_variable_before_default(void **state)
{
	setenv("GPUPROF_SUMMARY", "from-variable", 1);
	assert_int_equal(PARSE("program"), 0);
	assert_string_equal(options.values[GP_OPTION_ID_SUMMARY], "from-variable");
	assert_false(options.given[GP_OPTION_ID_SUMMARY]);
	assert_int_equal(PARSE("-s", "from-line", "program"), 0);
	assert_string_equal(options.values[GP_OPTION_ID_SUMMARY], "from-line");
	setenv("GPUPROF_SUMMARY", "", 1);
	assert_int_equal(PARSE("program"), 0);
	assert_string_equal(options.values[GP_OPTION_ID_SUMMARY], "stderr");
	unsetenv("GPUPROF_SUMMARY");
}

static void refused(int result, const char *part)
{
	assert_int_equal(result, -EINVAL);
	assert_non_null(strstr(message, part));
	assert_null(strchr(message, '\n'));
}

static void test_what_is_wrong_gets_one_line(void **state)
{
	refused(parse((char *[]){"run", NULL}), "no program given");
	refused(PARSE("-q", "--"), "no program given");
	refused(PARSE("--nonsense", "program"), "no option --nonsense; see gpuprof-run --help");
	refused(PARSE("--nonsense=5", "program"), "no option --nonsense; see");
	refused(PARSE("--ouput=5", "program"), "no option --ouput; did you mean --output?");
	refused(PARSE("--quiet=5", "program"), "--quiet=5 takes no value");
	refused(PARSE("-qZ", "program"), "-Z");
	refused(PARSE("--output"), "--output needs a value");
	refused(PARSE("-o"), "-o needs a value");
	refused(PARSE("--flush-ms", "soon", "program"), "not 'soon'");
	refused(PARSE("--flush-ms", "-5", "program"), "not '-5'");
	refused(PARSE("--duration", "1e9", "program"),
		"needs a number of seconds (2 or 0.5s), at most 31536000, not '1e9'");
	refused(PARSE("--launches", "9223372036854775807", "program"),
		"needs a number of at most 18 digits, not '9223372036854775807'");
	refused(PARSE("--flush-ms", "5", "program"), "needs a number from 10 to 1000, not '5'");
	refused(PARSE("--flush-ms", "1001", "program"), "needs a number from 10 to 1000");
	refused(PARSE("--sample=60%", "program"), "a percentage from 0.1% to 50%, such as 1%");
	refused(PARSE("--sample=1", "program"), "not '1'");
	refused(PARSE("--sample=0.09%", "program"), "not '0.09%'");
	assert_int_equal(PARSE("--sample", "--sample=0.25%", "program"), 0);
	assert_string_equal(options.values[GP_OPTION_ID_SAMPLE], "0.25%");
	refused(PARSE("-t", "gpu,memroy", "program"), "--trace (GPUPROF_TRACE) needs a list");
	refused(PARSE("-t", "gpu,memroy", "program"), "not 'gpu,memroy' (did you mean memory?)");
	refused(PARSE("--chrome", "jsn", "program"),
		"needs json|none, not 'jsn' (did you mean json?)");
	refused(PARSE("-t", "gpu,", "program"), "not 'gpu,'");
	refused(PARSE("-t", ",gpu", "program"), "not ',gpu'");
	refused(PARSE("-t", "gpu|memory", "program"), "not 'gpu|memory'");
	assert_int_equal(PARSE("-t", "gpu,memory,gpu", "program"), 0);
	assert_string_equal(options.values[GP_OPTION_ID_TRACE], "gpu,memory,gpu");
}

static void test_help_and_version_need_no_program(void **state)
{
	assert_int_equal(PARSE("-h"), 0);
	assert_int_equal(options.action, GP_RUN_HELP);
	assert_int_equal(PARSE("--version"), 0);
	assert_int_equal(options.action, GP_RUN_VERSION);
}

static void test_unknown_variables_are_found(void **state)
{
	char *environment[] = {
		"PATH=/bin",          "GPUPROF_OUTPUT=x",    "GPUPROF_OUTPUTS=x", "GPUPROF_OUT=x",
		"GPUPROF_SESSION=/s", "GPUPROF_SESSIONS=/s", "GPUPROFILE=yes",    NULL};
	size_t position = 0;

	assert_string_equal(gp_run_options_unknown_variable(environment, &position),
			    "GPUPROF_OUTPUTS=x");
	assert_string_equal(gp_run_options_unknown_variable(environment, &position),
			    "GPUPROF_OUT=x");
	assert_string_equal(gp_run_options_unknown_variable(environment, &position),
			    "GPUPROF_SESSIONS=/s");
	assert_null(gp_run_options_unknown_variable(environment, &position));
	assert_string_equal(gp_run_options_nearest_variable("GPUPROF_OUTPUTS=x"), "OUTPUT");
	assert_null(gp_run_options_nearest_variable("GPUPROF_NONSENSE=output"));
}

static void test_help_names_every_option_and_fits_a_terminal(void **state)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	gp_run_options_help(out);
	fclose(out);
	for (int i = 0; i < GP_OPTIONS; i++) {
		assert_non_null(strstr(text, gp_option_rows[i].long_name));
		assert_non_null(strstr(text, gp_option_rows[i].variable));
	}
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(strlen(line), 1, 104);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_other_word_is_the_program),
		cmocka_unit_test(test_two_dashes_end_the_options),
		cmocka_unit_test(test_every_row_of_the_table_is_an_option),
		cmocka_unit_test(test_command_line_before_variable_before_default),
		cmocka_unit_test(test_what_is_wrong_gets_one_line),
		cmocka_unit_test(test_help_and_version_need_no_program),
		cmocka_unit_test(test_unknown_variables_are_found),
		cmocka_unit_test(test_help_names_every_option_and_fits_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The options of a command go where its table says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/document/table_writer.h"
#include "tests/unit.h"

struct arguments {
	bool all;
	const char *output;
	const struct gp_table_format *format;
	uint64_t top, start_ns;
	char last[32];
	bool stops_at_words;
};

static int take_last(const struct gp_command_line *line, const char *text)
{
	struct arguments *a = line->arguments;

	snprintf(a->last, sizeof(a->last), "%s", text);
	return strcmp(text, "refused") == 0 ? GP_EXIT_FAILED : GP_COMMAND_GO_ON;
}

static void list(void)
{
	puts("the list");
}

static int read_words(struct arguments *a, const char *text)
{
	const struct gp_command_option options[] = {
		{"all", 'a', .flag = &a->all},
		{"output", 'o', .text = &a->output},
		{"format", 'F', .format = &a->format},
		{"top", 'n', .number = &a->top, .most = 100},
		{"start", .time_ns = &a->start_ns},
		{"last", .take = take_last},
		{"list", .print = list},
		{0},
	};
	const struct gp_command_line line = {.command = "show",
					     .usage = "usage: gpuprof show\n",
					     .options = options,
					     .arguments = a,
					     .stops_at_words = a->stops_at_words};
	static char bytes[256];
	char *argv[16] = {"show"};
	int argc = 1;

	snprintf(bytes, sizeof(bytes), "%s", text);
	for (char *word = strtok(bytes, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	return gp_command_line_read(&line, argc, argv);
}

/* The status, and what is said on the descriptor meanwhile. */
static int catch_words(const char *words, int fd, char *said, size_t bytes)
{
	struct arguments a = {0};
	FILE *file = tmpfile();
	int kept = dup(fd), status;

	assert_non_null(file);
	fflush(stdout);
	dup2(fileno(file), fd);
	status = read_words(&a, words);
	fflush(stdout);
	dup2(kept, fd);
	close(kept);
	rewind(file);
	said[fread(said, 1, bytes - 1, file)] = '\0';
	fclose(file);
	return status;
}

static void test_every_option_goes_to_its_place(void **state)
{
	struct arguments a = {0};

	assert_int_equal(
		read_words(&a, "one --all -o out two -F csv --top=7 --start 20ms --last x"),
		GP_COMMAND_GO_ON);
	assert_true(a.all);
	assert_string_equal(a.output, "out");
	assert_ptr_equal(a.format, &gp_table_csv);
	assert_int_equal(a.top, 7);
	assert_int_equal(a.start_ns, 20000000);
	assert_string_equal(a.last, "x");
	assert_int_equal(optind, 11); /* then "one two" */
}

static void test_later_ones_win_and_names_may_be_cut(void **state)
{
	struct arguments a = {0};

	assert_int_equal(read_words(&a, "-n 3 --to 4 -- --all"), GP_COMMAND_GO_ON);
	assert_int_equal(a.top, 4);
	assert_false(a.all);
}

static void test_words_of_another_program_are_left_alone(void **state)
{
	struct arguments a = {.stops_at_words = true};

	assert_int_equal(read_words(&a, "-n 3 program --all"), GP_COMMAND_GO_ON);
	assert_int_equal(a.top, 3);
	assert_false(a.all);
	assert_int_equal(optind, 3);
}

static void test_what_is_printed_instead(void **state)
{
	char said[256];

	assert_int_equal(catch_words("-a --help --top x", STDOUT_FILENO, said, sizeof(said)), 0);
	assert_string_equal(said, "usage: gpuprof show\n");
	assert_int_equal(catch_words("-h", STDOUT_FILENO, said, sizeof(said)), 0);
	assert_string_equal(said, "usage: gpuprof show\n");
	assert_int_equal(catch_words("--list", STDOUT_FILENO, said, sizeof(said)), 0);
	assert_string_equal(said, "the list\n");
}

static void test_what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *words, *said;
	} cases[] = {
		{"--ouput x", "there is no option --ouput; did you mean --output?"},
		{"--ouput=x", "there is no option --ouput; did you mean --output?"},
		{"--sideways", "there is no option --sideways; see gpuprof show --help"},
		{"--", NULL},
		{"-az", "there is no option -z; see gpuprof show --help"},
		{"--all=yes", "--all takes no value"},
		{"--top", "--top needs a value; see gpuprof show --help"},
		{"-o", "--output needs a value; see gpuprof show --help"},
		{"--top 101", "--top needs a number up to 100, not 101"},
		{"--start now",
		 "--start needs a time with its unit, such as 1.5s, 20ms, 300us or 5000ns, not now"},
		{"--start 5",
		 "--start needs a time with its unit, such as 1.5s, 20ms, 300us or 5000ns, not 5"},
		{"--start 0", NULL},
		{"-F odt", "there is no format odt; use " GP_TABLE_FORMATS},
	};
	char said[256], wanted[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int status = catch_words(cases[i].words, STDERR_FILENO, said, sizeof(said));

		wanted[0] = '\0';
		if (cases[i].said)
			snprintf(wanted, sizeof(wanted), "gpuprof: show: %s\n", cases[i].said);
		assert_string_equal(said, wanted);
		assert_int_equal(status, cases[i].said ? GP_EXIT_USAGE : GP_COMMAND_GO_ON);
	}
}

static void test_a_taker_ends_it(void **state)
{
	struct arguments a = {0};

	assert_int_equal(read_words(&a, "--last refused --all"), GP_EXIT_FAILED);
	assert_false(a.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_option_goes_to_its_place),
		cmocka_unit_test(test_later_ones_win_and_names_may_be_cut),
		cmocka_unit_test(test_words_of_another_program_are_left_alone),
		cmocka_unit_test(test_what_is_printed_instead),
		cmocka_unit_test(test_what_is_wrong_is_said),
		cmocka_unit_test(test_a_taker_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

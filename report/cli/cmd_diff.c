#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/cli/command_line.h"
#include "report/diff/compare.h"
#include "report/diff/kernel_names.h"
#include "report/diff/place_names.h"
#include "report/diff/step_change.h"
#include "report/diff/vendor_names.h"
#include "report/codec/output_file.h"
#include "report/base/text/paragraph.h"
#include "report/base/text/text.h"
#include "report/load/traces.h"

#define ROWS         20
#define TEXT_COLUMNS 160
#define NOTE_COLUMNS 110
#define SINGLE                                                                                     \
	"differences of times may be due to chance. Record several runs of each, "                 \
	"gpuprof-run --runs 7 -o before -- ./app, and type: gpuprof diff before/* -- after/*"

struct arguments {
	const struct gp_table_format *format;
	const char *output;
	char **a, **b;
	size_t a_count, b_count;
	struct gp_compare_options options;
};

static const char usage[] =
	"usage: gpuprof diff [options] A B\n"
	"       gpuprof diff [options] A... -- B...\n"
	"\n"
	"Say what differs between two runs, or between two sets of repeated runs: times, counts,\n"
	"bytes; kernels that are new, gone or changed; other operations and API calls.  The largest\n"
	"change comes first.  A and B are trace files, or folders with the traces of all processes of\n"
	"a run.  Sets are compared by their medians, and a rank test of each row says whether it\n"
	"differs.\n"
	"\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown\n"
	"  -n, --top N          print the first N kernels, operations, calls (default: 20, all for\n"
	"                       JSON and CSV; 0 = all)\n"
	"  -f, --full-names     print kernel names with parameters and template arguments\n"
	"  -o, --output OUT     write to OUT (default: standard output)\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof diff before.gpuprof after.gpuprof\n"
	"  gpuprof diff --format markdown old/* -- new/*\n"
	"\n"
	"Exit status: 0, whether anything differs or not (use gpuprof check as a gate); 1 if a file\n"
	"could not be read or written; 2 for a wrong command line.\n";

/* Without "--" there are two runs. */
static int check(struct arguments *a, bool has_separator)
{
	if (!has_separator && a->a_count == 2) {
		a->b = a->a + 1;
		a->a_count = a->b_count = 1;
	}
	if (a->a_count > 0 && a->b_count > 0)
		return GP_COMMAND_GO_ON;
	return gp_command_fail(
		GP_EXIT_USAGE,
		"diff: name two runs, or two sets of runs separated by --; see gpuprof diff --help");
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"format", 'F', .format = &a->format},
		{"top", 'n', .number = &a->options.top, .most = GP_COMMAND_MOST},
		{"full-names", 'f', .flag = &a->options.full_names},
		{"output", 'o', .text = &a->output},
		{0},
	};
	const struct gp_command_line line = {
		.command = "diff", .usage = usage, .options = options, .arguments = a};
	int separator = 1, status;

	while (separator < argc && strcmp(argv[separator], "--") != 0)
		separator++;
	status = gp_command_line_read(&line, separator, argv);
	a->a = argv + optind;
	a->a_count = (size_t)(separator - optind);
	if (separator < argc) {
		a->b = argv + separator + 1;
		a->b_count = (size_t)(argc - separator - 1);
	}
	if (status == GP_COMMAND_GO_ON)
		status = check(a, separator < argc);
	if (status == GP_COMMAND_GO_ON &&
	    (!gp_command_output_is_free("diff", a->output, a->a, a->a_count) ||
	     !gp_command_output_is_free("diff", a->output, a->b, a->b_count)))
		return GP_EXIT_USAGE;
	return status;
}

static int load(struct gp_run_set *set, char **runs, size_t count)
{
	char message[GP_MESSAGE_BYTES];

	gp_traces_name_once(runs, &count);
	if (gp_run_set_load(set, runs, count, message, sizeof(message)) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "diff: %s", message);
	return 0;
}

static void warn(void *context, const char *line)
{
	(void)context;
	gp_command_fail(0, "%s", line);
}

static bool is_for_people(const struct arguments *arguments)
{
	return arguments->format == &gp_table_text || arguments->format == &gp_table_markdown;
}

static bool are_single(const struct gp_run_set *a, const struct gp_run_set *b)
{
	return a->count == 1 && b->count == 1;
}

static void print_side(const struct arguments *arguments, const char *side,
		       const struct gp_run_set *set, FILE *out)
{
	char *name = gp_text_escape(set->runs[0].name);

	fprintf(out, "%s: ", side);
	if (arguments->format == &gp_table_markdown)
		gp_table_put_markdown(out, name);
	else
		fputs(name, out);
	if (set->count > 1)
		fprintf(out, " and %u more runs, the medians", set->count - 1);
	fputs("\n", out);
	free(name);
}

/* Prints which runs are A and B. */
static void print_heading(const struct arguments *arguments, const struct gp_run_set *a,
			  const struct gp_run_set *b, FILE *out)
{
	const char *line = arguments->format == &gp_table_markdown ? "\n" : "";

	print_side(arguments, "A", a, out);
	fputs(line, out);
	print_side(arguments, "B", b, out);
	fputs("\n", out);
}

static void print_step(const struct arguments *arguments, const struct gp_run_set *a,
		       const struct gp_run_set *b, FILE *out)
{
	char text[512];

	gp_step_change_say(a, b, text, sizeof(text));
	if (!*text)
		return;
	if (arguments->format == &gp_table_markdown)
		gp_table_put_markdown(out, text);
	else
		gp_paragraph_fold(out, text, NOTE_COLUMNS);
	fputs(arguments->format == &gp_table_markdown ? "\n\n" : "\n", out);
}

/* Explains the column Differs. */
static void print_note(const struct arguments *arguments, bool is_single, FILE *out)
{
	static const char single[] = "One run each: " SINGLE;
	static const char sets[] =
		"Differs tests each row by itself: of 20 rows without a real difference, one says yes by chance. gpuprof check is stricter: the change must exceed a tolerance, and the test takes all metrics together";
	const char *note = is_single ? single : sets;

	fputs("\n", out);
	if (arguments->format != &gp_table_markdown) {
		gp_paragraph_fold(out, note, NOTE_COLUMNS);
		return;
	}
	gp_table_put_markdown(out, note);
	fputs("\n", out);
}

static const char *nothing(const struct gp_compare_result *found)
{
	return found->hidden > 0 ? "Only times differ, by less than 0.1 %" : "Nothing differs";
}

static int write_tables(const struct arguments *arguments, const struct gp_run_set *a,
			const struct gp_run_set *b, FILE *out, struct gp_compare_result *found)
{
	struct gp_compare_options options = arguments->options;
	struct gp_table_writer writer;
	int closed;

	options.in_words = is_for_people(arguments);
	gp_table_writer_open(&writer, arguments->format, out, true);
	if (is_for_people(arguments)) {
		print_heading(arguments, a, b, out);
		print_step(arguments, a, b, out);
	}
	if (!arguments->options.full_names)
		writer.text_most = TEXT_COLUMNS;
	gp_compare_write(&writer, a, b, &options, found);
	closed = gp_table_writer_close(&writer);
	if (is_for_people(arguments) && found->rows == 0)
		fprintf(out, "%s\n", nothing(found));
	else if (is_for_people(arguments))
		print_note(arguments, are_single(a, b), out);
	return closed;
}

static int print(const struct arguments *arguments, const struct gp_run_set *a,
		 const struct gp_run_set *b)
{
	const char *path = arguments->output ? arguments->output : "-";
	char message[GP_MESSAGE_BYTES];
	struct gp_output_file file;
	struct gp_compare_result found = {0};
	int result = gp_output_file_open(&file, path, NULL, message, sizeof(message));

	if (result == 0) {
		result = write_tables(arguments, a, b, file.stream, &found);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	if (result < 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	if (found.rows == 0 && !is_for_people(arguments))
		gp_command_fail(0, "%s", nothing(&found));
	else if (are_single(a, b) && !is_for_people(arguments))
		gp_command_fail(0, "one run each: " SINGLE);
	if (found.hidden > 0)
		gp_command_fail(0, "%zu more rows differ less; --top 0 prints all", found.hidden);
	return 0;
}

int gp_command_diff(int argc, char **argv)
{
	struct arguments arguments = {.format = &gp_table_text, .options.top = SIZE_MAX};
	struct gp_run_set a = {0}, b = {0};
	int status = parse(argc, argv, &arguments);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (arguments.options.top == SIZE_MAX)
		arguments.options.top = is_for_people(&arguments) ? ROWS : 0;
	status = load(&a, arguments.a, arguments.a_count);
	if (status == 0)
		status = load(&b, arguments.b, arguments.b_count);
	if (status == 0) {
		gp_kernel_names_match(&a, &b);
		gp_vendor_names_match(&a, &b);
		gp_place_names_match(&a, &b);
		gp_compare_doubts(&a, &b, warn, NULL);
		status = print(&arguments, &a, &b);
	}
	gp_run_set_free(&a);
	gp_run_set_free(&b);
	return status;
}

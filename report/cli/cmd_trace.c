#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli/commands.h"
#include "report/tables/event_list.h"
#include "report/base/message.h"
#include "report/cli/align_hosts.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/base/text/format.h"
#include "report/base/text/did_you_mean.h"
#include "report/codec/output_file.h"
#include "report/load/traces.h"

#define WORDS_BYTES 256

static const char usage[] =
	"usage: gpuprof trace LIST [options] FILE|FOLDER...\n"
	"\n"
	"Print the events of trace files, one a line, ordered by start time.  Times count from\n"
	"the first call or operation of the trace files.\n"
	"\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown\n"
	"      --start TIME     print events that start at TIME or later: 1.5s, 20ms, 300us, 5000ns\n"
	"      --end TIME       print events that start before TIME\n"
	"  -l, --limit N        print the first N of those; -n, --top and --rows are the same\n"
	"  -f, --full-names     print kernel names with parameters and template arguments\n"
	"  -o, --output OUT     write to OUT (default: standard output)\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof trace gpu --start 1s --end 1.01s FILE\n"
	"  gpuprof trace api --format csv -o calls.csv FILE\n"
	"\n"
	"Exit status: 0, also if a damaged file could be read in part (missing records are reported);\n"
	"1 if a file could not be read at all (the others are used); 2 for a wrong command line.\n"
	"\n"
	"Lists:\n";

static void print_usage(void)
{
	fputs(usage, stdout);
	for (const struct gp_event_list *const *at = gp_event_lists; *at; at++)
		printf("  %-19s  %s\n", (*at)->word, (*at)->help);
}

struct arguments {
	const struct gp_event_list *list;
	const struct gp_table_format *format;
	const char *output;
	char *const *traces;
	size_t trace_count;
	bool full_names;
	struct gp_event_list_part part;
};

/* Writes "gpu, api or nvtx", as much as fits. */
static void list_words(char words[WORDS_BYTES])
{
	size_t used = 0;

	words[0] = '\0';
	for (const struct gp_event_list *const *at = gp_event_lists; *at && used < WORDS_BYTES;
	     at++)
		used += (size_t)snprintf(words + used, WORDS_BYTES - used, "%s%s",
					 at == gp_event_lists ? ""
					 : at[1]              ? ", "
							      : " or ",
					 (*at)->word);
}

static int refuse(const char *word)
{
	struct gp_did_you_mean nearest = {.word = word};
	char otherwise[WORDS_BYTES + 8] = "use ";

	for (const struct gp_event_list *const *at = gp_event_lists; *at; at++)
		gp_did_you_mean_try(&nearest, (*at)->word);
	list_words(otherwise + strlen(otherwise));
	return gp_command_refuse("trace", "list", &nearest, otherwise);
}

static int refuse_none(void)
{
	char words[WORDS_BYTES];

	list_words(words);
	return gp_command_fail(GP_EXIT_USAGE,
			       "trace: name a list, %s, then trace files; see gpuprof trace --help",
			       words);
}

static int check(struct arguments *a, int argc, char **argv)
{
	a->list = argc > 0 ? gp_event_list_find(argv[0]) : NULL;
	if (!a->list && argc > 1)
		return refuse(argv[0]);
	if (!a->list)
		return refuse_none();
	if (a->part.from_ns >= a->part.to_ns)
		return gp_command_fail(GP_EXIT_USAGE, "trace: --start must be before --end");
	a->traces = argv + 1;
	a->trace_count = (size_t)argc - 1;
	return gp_command_check_traces("trace", a->output, a->traces, a->trace_count);
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"format", 'F', .format = &a->format},
		{"start", .time_ns = &a->part.from_ns},
		{"end", .time_ns = &a->part.to_ns},
		{"limit", 'l', .number = &a->part.limit, .most = GP_COMMAND_MOST},
		{"top", 'n', .number = &a->part.limit, .most = GP_COMMAND_MOST},
		{"rows", .number = &a->part.limit, .most = GP_COMMAND_MOST},
		{"full-names", 'f', .flag = &a->full_names},
		{"output", 'o', .text = &a->output},
		{"help", 'h', .print = print_usage},
		{0},
	};
	const struct gp_command_line line = {
		.command = "trace", .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	return status == GP_COMMAND_GO_ON ? check(a, argc - optind, argv + optind) : status;
}

/* Says how long the trace is, if a part of it was asked for. */
static void say_nothing(const struct arguments *a, const struct gp_scope *scope)
{
	uint64_t last_unix_ns = 0;

	for (size_t i = 0; i < scope->model_count; i++) {
		const struct gp_model *model = scope->models[i];

		if (model->base_unix_ns + model->last_ns > last_unix_ns)
			last_unix_ns = model->base_unix_ns + model->last_ns;
	}
	if (last_unix_ns < scope->start_unix_ns ||
	    (a->part.from_ns == 0 && a->part.to_ns == UINT64_MAX))
		gp_command_fail(0,
				"the trace has no %s; run gpuprof summary FILE to see what it has",
				a->list->things);
	else
		gp_command_fail(
			0, "no %s starts in that time; the trace ends at %s", a->list->things,
			gp_format_moment((int64_t)(last_unix_ns - scope->start_unix_ns)).text);
}

static int write_rows(const struct arguments *a, const struct gp_traces *traces, FILE *out)
{
	struct gp_table_writer writer;
	struct gp_scope scope;
	uint64_t rows = 0;
	int result = gp_scope_open(&scope, traces->models, traces->count, a->full_names), closed;

	gp_table_writer_open(&writer, a->format, out, false);
	if (result == 0)
		result = gp_event_list_write(a->list, &scope, &a->part, &writer, &rows);
	closed = gp_table_writer_close(&writer);
	if (result == 0 && closed == 0 && rows == 0)
		say_nothing(a, &scope);
	gp_scope_close(&scope);
	return result == 0 ? closed : result;
}

static int print(const struct gp_traces *traces, void *arguments)
{
	const struct arguments *a = arguments;
	char message[GP_MESSAGE_BYTES];
	struct gp_output_file file;
	int result;

	if (gp_align_hosts(traces->models, traces->count) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	result = gp_output_file_open(&file, a->output ? a->output : "-", NULL, message,
				     sizeof(message));
	if (result == 0) {
		result = write_rows(a, traces, file.stream);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_trace(int argc, char **argv)
{
	struct arguments a = {.format = &gp_table_text, .part.to_ns = UINT64_MAX};
	int status = parse(argc, argv, &a);

	return status == GP_COMMAND_GO_ON ? gp_traces_use(a.traces, a.trace_count, print, &a)
					  : status;
}

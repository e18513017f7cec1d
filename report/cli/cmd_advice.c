#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/advice/advice_print.h"
#include "report/base/message.h"
#include "report/cli/align_hosts.h"
#include "report/cli/commands.h"
#include "report/cli/large_job.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/base/text/did_you_mean.h"
#include "report/codec/output_file.h"
#include "report/load/traces.h"

static const char usage[] =
	"usage: gpuprof advice [options] FILE|FOLDER...\n"
	"\n"
	"Say what costs time in a program, where, and what to change, the largest possible saving\n"
	"first.  For a program with a main loop, savings are those of a step after the warm-up, and\n"
	"one-time costs come last.  Several files of one run are analyzed together.  Without\n"
	"findings, the command says so, and why the GPU was idle if it was idle for most of the time.\n"
	"\n"
	"  -F, --format FORMAT  text (default) or json\n"
	"  -n, --top N          print the first N findings (default: all)\n"
	"  -o, --output OUT     write to OUT (default: standard output)\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof advice gpuprof-app-1234.gpuprof\n"
	"  gpuprof explain sync-in-loop              what a rule means, and when to ignore it\n"
	"\n"
	"Exit status: 0, also with findings, or if a damaged file could be read in part; 1 if a\n"
	"file could not be read at all (the others are used); 2 for a wrong command line.\n";

struct arguments {
	const char *output;
	bool as_json;
	uint64_t limit; /* 0 = all */
	char *const *traces;
	size_t trace_count;
};

static int take_format(const struct gp_command_line *line, const char *name)
{
	struct arguments *a = line->arguments;
	struct gp_did_you_mean nearest = {.word = name};

	a->as_json = strcmp(name, "json") == 0;
	if (a->as_json || strcmp(name, "text") == 0)
		return GP_COMMAND_GO_ON;
	gp_did_you_mean_try(&nearest, "text");
	gp_did_you_mean_try(&nearest, "json");
	return gp_command_refuse("advice", "format", &nearest, "use text or json");
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"format", 'F', .take = take_format},
		{"top", 'n', .number = &a->limit, .most = GP_COMMAND_MOST},
		{"output", 'o', .text = &a->output},
		{0},
	};
	const struct gp_command_line line = {
		.command = "advice", .usage = usage, .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	return status == GP_COMMAND_GO_ON
		       ? gp_command_check_traces("advice", a->output, a->traces, a->trace_count)
		       : status;
}

static int write_to(FILE *out, const struct arguments *a, const struct gp_advice *advice)
{
	if (a->as_json)
		return gp_advice_print_json(out, advice);
	if (advice->count == 0)
		gp_advice_print_none(out, advice);
	gp_advice_print(out, advice, a->limit);
	return 0;
}

static int print(const struct gp_traces *traces, void *arguments)
{
	const struct arguments *a = arguments;
	char message[GP_MESSAGE_BYTES];
	struct gp_output_file file;
	struct gp_advice advice = {0};
	int result = gp_output_file_open(&file, a->output ? a->output : "-", NULL, message,
					 sizeof(message));

	if (result < 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	result = gp_align_hosts(traces->models, traces->count);
	if (result == 0)
		result = gp_advice_of(traces->models, traces->count, &advice);
	if (result == 0)
		result = write_to(file.stream, a, &advice);
	gp_advice_free(&advice);
	result = gp_output_file_close(&file, result, message, sizeof(message));
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/* A large job's advice is about some of its ranks. */
static int advise(struct arguments *a)
{
	struct gp_traces traces;
	struct gp_job job;
	int result = gp_large_job_load(&job, &traces, a->traces, a->trace_count), status;

	if (result == 0) {
		gp_large_job_explain(&job, "the advice is");
		status = print(&traces, a);
		status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	} else if (result == -ENODATA) {
		status = gp_traces_use(a->traces, a->trace_count, print, a);
	} else {
		status = gp_command_fail(GP_EXIT_FAILED, "no memory");
	}
	gp_traces_free(&traces);
	gp_job_free(&job);
	return status;
}

int gp_command_advice(int argc, char **argv)
{
	struct arguments a = {0};
	int status = parse(argc, argv, &a);

	return status == GP_COMMAND_GO_ON ? advise(&a) : status;
}

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/cli/command_line.h"
#include "report/cli/export_request.h"
#include "report/cli/pile.h"

struct arguments {
	struct gp_export_request request;
	const char *output; /* NULL = not given */
	char **traces;
	size_t trace_count;
};

static const char usage[] =
	"usage: gpuprof merge -o OUT FILE|FOLDER...\n"
	"\n"
	"Write several processes to one file with one timeline, a Chrome trace or another format.\n"
	"Collective operations align the clocks of several hosts; if the ranks have too few of them in\n"
	"common, the wall clocks count.  A Chrome trace aligns the processes of one host by its\n"
	"monotonic clock; other formats use its wall clock.  A GPU that several processes used appears\n"
	"once, with the streams of each process.  Equal call stacks of all processes are merged.\n"
	"\n"
	"  -o, --output OUT     write to OUT, - for standard output; NAME.gz is compressed\n"
	"  -F, --format FORMAT  write a format of gpuprof export (default chrome)\n"
	"  -l, --limit N        chrome: only the last N slices, calls and GPU operations (default:\n"
	"                       0 = all)\n"
	"  -v, --value WHAT     call stacks: show this value, as in gpuprof export\n"
	"  -h, --help           print this text\n";

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"output", 'o', .text = &a->output},
		{"format", 'F', .take = gp_export_request_take_format},
		{"limit", 'l', .number = &a->request.options.slice_limit, .most = GP_COMMAND_MOST},
		{"value", 'v', .take = gp_export_request_take_value},
		{0},
	};
	const struct gp_command_line line = {
		.command = "merge", .usage = usage, .options = options, .arguments = &a->request};
	int status = gp_command_line_read(&line, argc, argv);

	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	if (status == GP_COMMAND_GO_ON)
		status = gp_export_request_check(&line);
	if (status == GP_COMMAND_GO_ON)
		status = gp_command_check_traces("merge", a->output, a->traces, a->trace_count);
	if (status == GP_COMMAND_GO_ON)
		status = gp_export_request_check_name(&line, a->output);
	if (status == GP_COMMAND_GO_ON && !a->output)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"merge: no output file given; type for example: gpuprof merge -o all.json FILE...");
	return status;
}

static int write_merged(const struct arguments *a, struct gp_pile *pile)
{
	const struct gp_export_source source = gp_pile_source(pile);
	char message[GP_MESSAGE_BYTES];
	int result = gp_export_to(a->request.exporter, &source, &a->request.options, a->output,
				  NULL, message, sizeof(message));

	if (result == -ENODATA)
		return gp_command_fail(GP_EXIT_FAILED,
				       "merge: cannot write %s: none of the traces can be read",
				       a->output);
	return result == 0 ? gp_command_wrote(a->output, true)
			   : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_merge(int argc, char **argv)
{
	struct arguments a = {.request = GP_EXPORT_REQUEST};
	struct gp_pile pile = {0};
	int status = parse(argc, argv, &a);

	if (status != GP_COMMAND_GO_ON)
		return status;
	gp_pile_open(&pile, a.traces, a.trace_count);
	status = write_merged(&a, &pile);
	if (status == 0 && pile.any_failed)
		status = GP_EXIT_FAILED;
	gp_pile_close(&pile);
	return status;
}

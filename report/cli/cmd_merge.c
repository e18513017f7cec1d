#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"
#include "report/base/text/format.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/cli/export_request.h"
#include "report/codec/output_file.h"
#include "report/import/import.h"
#include "report/load/trace_files.h"
#include "report/load/traces.h"
#include "report/tables/by/host_clocks.h"
#include "report/trace/trace_boot.h"

#define MESSAGE_BYTES 4352

struct arguments {
	struct gp_export_request request;
	const char *output; /* NULL = not given */
	char **traces;
	size_t trace_count;
};

/* The processes, of which one at a time is loaded. */
struct pile {
	struct pile_process {
		const char *path;
		uint32_t number; /* in its file */
		bool failed;     /* and reported */
		bool warned;     /* loaded once, and its losses reported */
	} * processes;
	uint32_t count, capacity;
	size_t at; /* index of the loaded one */
	struct gp_model *model;
	struct gp_clock_fit fit;
	const struct gp_host_clocks *clocks; /* aligned; NULL until they are known */
	bool any_failed;
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

static const struct gp_model *get(void *context, size_t index)
{
	struct pile *pile = context;
	struct pile_process *process = &pile->processes[index];
	const struct gp_load_options options = {
		.save_to = -1, .process = process->number, .clocks = pile->clocks};
	char message[MESSAGE_BYTES];

	if (process->failed || (pile->model && pile->at == index))
		return process->failed ? NULL : pile->model;
	gp_model_free(pile->model);
	pile->model = NULL;
	pile->at = index;
	if (gp_model_load_with(process->path, &options, &pile->model, message, sizeof(message)) ==
	    0) {
		if (!process->warned)
			gp_traces_warn(pile->model);
		process->warned = true;
		return pile->model;
	}
	process->failed = pile->any_failed = true;
	gp_command_fail(0, "%s", message);
	return NULL;
}

/* Adds the processes of a trace file, which must live as long as the pile. */
static int add(struct pile *pile, const char *path)
{
	uint32_t count = gp_import_process_count(path);

	for (uint32_t i = 0; i < count; i++) {
		if (gp_array_grow(&pile->processes, &pile->capacity, pile->count,
				  sizeof(*pile->processes)) != 0)
			return -ENOMEM;
		pile->processes[pile->count++] = (struct pile_process){.path = path, .number = i};
	}
	return 0;
}

static bool are_of_several_hosts(const struct pile *pile)
{
	char first[GP_BOOT_ID_TEXT_BYTES] = "", id[GP_BOOT_ID_TEXT_BYTES];

	for (uint32_t i = 0; i < pile->count; i++) {
		if (!gp_trace_boot_id(pile->processes[i].path, id))
			continue;
		if (*first && strcmp(first, id) != 0)
			return true;
		memcpy(first, id, sizeof(first));
	}
	return false;
}

static void explain_clocks(const struct gp_host_clocks *clocks)
{
	uint32_t aligned = 0;
	uint64_t error_ns = 0;

	for (uint32_t i = 0; i < clocks->count; i++) {
		aligned += clocks->hosts[i].is_known;
		if (clocks->hosts[i].is_known && clocks->hosts[i].error_ns > error_ns)
			error_ns = clocks->hosts[i].error_ns;
	}
	if (aligned == clocks->count)
		fprintf(stderr,
			"gpuprof: the clocks of %u hosts are aligned by collective operations, within %s\n",
			clocks->count, gp_format_ns(error_ns).text);
	else
		fprintf(stderr,
			"gpuprof: %u of %u hosts (or boots of one host) are aligned by wall clocks only, which may differ by milliseconds: too few collective operations end at the same time\n",
			clocks->count - aligned, clocks->count);
}

/* Loads each model once more, to find the clocks of their hosts. */
static int align(struct pile *pile)
{
	int result = 0;

	if (!are_of_several_hosts(pile))
		return 0;
	for (uint32_t i = 0; i < pile->count && result == 0; i++) {
		const struct gp_model *model = get(pile, i);

		if (model)
			result = gp_clock_fit_add(&pile->fit, model);
	}
	if (result == 0)
		result = gp_clock_fit_solve(&pile->fit);
	gp_model_free(pile->model);
	pile->model = NULL;
	pile->clocks = &pile->fit.clocks;
	if (result == 0)
		explain_clocks(pile->clocks);
	return result;
}

static int write_merged(const struct arguments *a, struct pile *pile)
{
	const struct gp_export_source source = {.count = pile->count, .get = get, .context = pile};
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	int result = gp_output_file_open(&file, a->output, NULL, message, sizeof(message));

	if (result == 0) {
		result = gp_export_compress(a->request.exporter, &file);
		if (result == 0)
			result = a->request.exporter->write(&source, &a->request.options,
							    file.stream);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
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
	struct pile pile = {0};
	struct gp_trace_files files = {0};
	char message[MESSAGE_BYTES];
	int status = parse(argc, argv, &a), result;

	if (status != GP_COMMAND_GO_ON)
		return status;
	result = gp_traces_name_once(a.traces, &a.trace_count);
	for (size_t i = 0; i < a.trace_count && result == 0; i++)
		if (gp_trace_files_add(&files, a.traces[i], message, sizeof(message)) != 0) {
			gp_command_fail(0, "%s", message);
			pile.any_failed = true;
		}
	for (uint32_t i = 0; i < files.count && result == 0; i++)
		result = add(&pile, files.files[i].path);
	if (result == 0)
		result = align(&pile);
	status = result == 0 ? write_merged(&a, &pile)
			     : gp_command_fail(GP_EXIT_FAILED, "no memory");
	gp_model_free(pile.model);
	gp_clock_fit_free(&pile.fit);
	free(pile.processes);
	gp_trace_files_free(&files);
	return status == 0 && pile.any_failed ? GP_EXIT_FAILED : status;
}

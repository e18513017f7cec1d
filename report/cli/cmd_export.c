#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "gpuprof/count.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/cli/command_line.h"
#include "report/cli/export_request.h"
#include "report/cli/pile.h"
#include "report/base/text/format.h"
#include "report/codec/gzip.h"
#include "report/import/import.h"
#include "report/codec/output_file.h"
#include "report/load/load_model.h"
#include "report/load/trace_files.h"
#include "report/load/parts.h"
#include "report/load/traces.h"
#include "report/timeline/timeline.h"

#define MOST_PARTS 10000

struct arguments {
	struct gp_export_request request;
	const char *output; /* NULL = beside the trace */
	const char *trace;
	uint64_t parts;   /* 0 = one file */
	uint64_t at_once; /* events; 0 = all of a trace that is not large */
};

/* The exported model, or its parts one after the other. */
struct opened {
	const char *path;
	struct gp_model *model;
	size_t process;         /* its number in the file */
	struct gp_parts *parts; /* NULL = the model is the whole trace */
	size_t first;           /* the part in the current file */
	struct gp_export_source source;
};

/* Traces from this size on are large. */
#define LARGE_BYTES (UINT64_C(64) << 20)

/*
 * malloc() maps larger blocks and returns them to the system when they are freed. Smaller blocks
 * freed by one thread are kept for that thread, and another thread takes as much again.
 */
#define MAPPED_BYTES (1 << 20)

static const char usage[] =
	"usage: gpuprof export [options] FILE\n"
	"       gpuprof export -F parquet [-o OUT] FILE|FOLDER\n"
	"       gpuprof export --list\n"
	"\n"
	"Write a trace file in another format, or all traces in a folder as Parquet tables.\n"
	"\n"
	"  -F, --format FORMAT  write this format, see below (default chrome)\n"
	"  -o, --output OUT     write to OUT, - for standard output (default: beside FILE);\n"
	"                       NAME.gz is compressed.  With parquet, OUT is a new or empty folder\n"
	"      --list           list the formats, their suffixes and readers\n"
	"  -h, --help           print this text\n"
	"\n"
	"Part of a trace (not for openmetrics and parquet):\n"
	"      --start TIME     only events that still run at TIME, or begin later; times count from\n"
	"                       the first call or operation: 1.5s, 20ms, 300us, 5000ns\n"
	"      --end TIME       only events that begin before TIME\n"
	"      --min-duration TIME  only events that take at least TIME; marks and counters stay\n"
	"      --parts N        split the trace in time into N files, OUT.1.json and so on, with about\n"
	"                       equal numbers of events; an event is in the part in which it begins\n"
	"  -l, --limit N        chrome: only the last N slices, calls and GPU operations (default:\n"
	"                       0 = all)\n"
	"      --ranges-on-streams  chrome: draw ranges on the tracks of the streams, as Holistic-\n"
	"                       TraceAnalysis expects them, not on tracks of their own above\n"
	"      --counters       chrome, perfetto: add queue lengths of streams and bandwidth of copies\n"
	"                       over time\n"
	"      --critical-path  chrome, perfetto: add a track that shows what each moment waited for\n"
	"      --at-once N      keep about N events in memory at a time (default: 2 million for a\n"
	"                       trace of at least 64 MiB, else all)\n"
	"\n"
	"Formats of call stacks:\n"
	"  -v, --value WHAT     show this value, see below (default gpu-time)\n"
	"\n"
	"  gpuprof export --start 1s --end 1.2s --min-duration 10us FILE\n"
	"  gpuprof export --format sqlite FILE\n"
	"  gpuprof export -F parquet -o OUT FOLDER\n"
	"  gpuprof export -F folded -v leaked-bytes -o - FILE | flamegraph.pl > leaks.svg\n"
	"\n"
	"Formats:\n";

static void print_usage(void)
{
	fputs(usage, stdout);
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		printf("  %-19s  %s\n", (*at)->name, (*at)->help);
	puts("\nValues:");
	for (int i = 0; i < GP_STACK_METRICS; i++)
		printf("  %-19s  %s\n", gp_stack_metrics[i].word, gp_stack_metrics[i].title);
}

static void print_list(void)
{
	printf("%-12s%-18s%s\n", "format", "suffix", "read by");
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		printf("%-12s%-18s%s\n", (*at)->name, (*at)->suffix, (*at)->readers);
}

static int parse(int argc, char **argv, struct arguments *a)
{
	struct gp_slice_choice *choice = &a->request.options.choice;
	const struct gp_command_option options[] = {
		{"format", 'F', .take = gp_export_request_take_format},
		{"output", 'o', .text = &a->output},
		{"limit", 'l', .number = &a->request.options.slice_limit, .most = GP_COMMAND_MOST},
		{"value", 'v', .take = gp_export_request_take_value},
		{"list", .print = print_list},
		{"start", .time_ns = &choice->from_ns},
		{"end", .time_ns = &choice->to_ns},
		{"min-duration", .time_ns = &choice->least_ns},
		{"ranges-on-streams", .flag = &a->request.options.ranges_on_streams},
		{"counters", .flag = &a->request.options.counters},
		{"critical-path", .flag = &a->request.options.critical_path},
		{"parts", .number = &a->parts, .most = MOST_PARTS},
		{"at-once", .number = &a->at_once, .most = GP_COMMAND_MOST},
		{"help", 'h', .print = print_usage},
		{0},
	};
	const struct gp_command_line line = {
		.command = "export", .options = options, .arguments = &a->request};
	int status = gp_command_line_read(&line, argc, argv);

	a->trace = argv[optind];
	choice->is_part = a->parts > 0;
	if (status != GP_COMMAND_GO_ON)
		return status;
	if (argc - optind != 1)
		return gp_command_fail(
			GP_EXIT_USAGE, "export: name one trace file; see gpuprof export --help%s",
			a->trace ? "; to export several in one file, use gpuprof merge" : "");
	if (choice->to_ns > 0 && choice->from_ns >= choice->to_ns)
		return gp_command_fail(GP_EXIT_USAGE, "export: --start must be before --end");
	if (a->parts > 0 && a->output && strcmp(a->output, "-") == 0)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"export: --parts writes files, not standard output; name a file after -o");
	status = gp_export_request_check_name(&line, a->output);
	return status == GP_COMMAND_GO_ON ? gp_export_request_check(&line) : status;
}

/* ---- input ---- */

/* A process of a file that has several. */
static int load_process(struct opened *opened, size_t index, char *message, size_t message_bytes)
{
	const struct gp_load_options options = {.save_to = -1, .process = (uint32_t)index};

	gp_model_free(opened->model);
	opened->model = NULL;
	opened->process = index;
	return gp_model_load_with(opened->path, &options, &opened->model, message, message_bytes);
}

static const struct gp_model *get_model(void *context, size_t index)
{
	struct opened *opened = context;
	char message[GP_MESSAGE_BYTES];

	if (index != opened->process && load_process(opened, index, message, sizeof(message)) != 0)
		gp_command_fail(0, "%s", message);
	return opened->model;
}

static const struct gp_model *get_part(void *context, size_t index)
{
	struct opened *opened = context;

	return gp_parts_get(opened->parts, opened->first + index);
}

/* These options need the whole trace: the last slices, queue lengths and the critical path. */
static bool is_for_parts(const struct arguments *a)
{
	struct stat status;

	const struct gp_export_options *options = &a->request.options;

	return options->slice_limit == 0 && !options->counters && !options->critical_path &&
	       !gp_import_is_known(a->trace) &&
	       (a->at_once > 0 || (stat(a->trace, &status) == 0 && S_ISREG(status.st_mode) &&
				   (uint64_t)status.st_size >= LARGE_BYTES));
}

static const char *parts_trouble(void *context)
{
	return gp_parts_trouble(((struct opened *)context)->parts);
}

static int open_parts(const struct arguments *a, struct opened *opened)
{
	const struct gp_parts_wish wish = {
		.events = a->at_once > 0 ? a->at_once : GP_PARTS_EVENTS,
		.with_memory = (a->request.exporter->heeds & GP_EXPORT_MEMORY) != 0,
	};
	int result;

	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	result = gp_parts_open(a->trace, &a->request.options.choice, &wish, &opened->parts);
	if (result != 0)
		return result;
	opened->source = (struct gp_export_source){.count = gp_parts_count(opened->parts),
						   .get = get_part,
						   .context = opened,
						   .are_parts = true,
						   .trouble = parts_trouble};
	return 0;
}

/* A trace that cannot be read in parts is read as a whole; that reports the reason of a failure. */
static int open_trace(const struct arguments *a, struct opened *opened)
{
	char message[GP_MESSAGE_BYTES];

	if (is_for_parts(a) && open_parts(a, opened) == 0)
		return 0;
	opened->path = a->trace;
	opened->source = (struct gp_export_source){
		.count = gp_import_process_count(a->trace), .get = get_model, .context = opened};
	if (load_process(opened, 0, message, sizeof(message)) != 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	return 0;
}

static void close_trace(struct opened *opened)
{
	gp_parts_close(opened->parts);
	gp_model_free(opened->model);
}

static const struct gp_model *first_model(const struct opened *opened)
{
	return opened->source.get(opened->source.context, 0);
}

/* Refuses an empty part. An empty trace may be written as a whole. */
static int check_part(const struct arguments *a, const struct opened *opened)
{
	const struct gp_slice_choice *choice = &a->request.options.choice;
	const struct gp_model *model = first_model(opened);

	if (!model)
		return gp_command_fail(GP_EXIT_FAILED, "%s", gp_parts_trouble(opened->parts));
	gp_traces_warn(model);
	if ((choice->from_ns == 0 && choice->to_ns == 0 && choice->least_ns == 0) ||
	    opened->source.count > 1 || gp_timeline_has_any(model, choice))
		return 0;
	return gp_command_fail(
		GP_EXIT_FAILED,
		"export: %s has no events in that part, and no file is written; its calls and operations last from 0 to %s",
		a->trace, gp_format_ns(model->last_ns - model->first_ns).text);
}

/* ---- output ---- */

static int write_source(const struct opened *opened, const struct arguments *a, const char *path)
{
	char message[GP_MESSAGE_BYTES];
	int result = gp_export_to(a->request.exporter, &opened->source, &a->request.options, path,
				  a->output ? NULL : a->trace, message, sizeof(message));

	if (result == -ENODATA)
		return gp_command_fail(GP_EXIT_FAILED,
				       "export: cannot write %s: no trace can be read", path);
	return result == 0 ? gp_command_wrote(path, a->output)
			   : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/*
 * Where the part number goes: before the format's suffix, or else before the last "." of the name;
 * and before ".gz".
 */
static size_t find_ending(const char *path, const char *suffix)
{
	size_t length = strlen(path), suffix_bytes = strlen(suffix);
	const char *name = basename(path);
	size_t start = (size_t)(name - path);

	if (gp_gzip_is_meant(path))
		length -= strlen(".gz");
	if (length > suffix_bytes &&
	    strncmp(path + length - suffix_bytes, suffix, suffix_bytes) == 0)
		return length - suffix_bytes;
	for (size_t i = length; i > start + 1; i--)
		if (path[i - 1] == '.')
			return i - 1;
	return length;
}

/* Writes one file, with the events that begin in the chosen time. */
static int write_part(struct opened *opened, const struct arguments *a, const char *path,
		      uint64_t number)
{
	const struct gp_slice_choice *choice = &a->request.options.choice;
	size_t ending = find_ending(path, a->request.exporter->suffix);
	char *name;
	int status;

	asprintf(&name, "%.*s.%" PRIu64 "%s", (int)ending, path, number, path + ending);
	if (opened->parts)
		opened->source.count = gp_parts_between(opened->parts, choice->from_ns,
							choice->to_ns, &opened->first);
	status = write_source(opened, a, name);
	free(name);
	return status;
}

/* Finds where each file begins. */
static void cut(const struct opened *opened, const struct arguments *a, uint64_t *starts)
{
	uint32_t count = (uint32_t)a->parts;

	if (opened->parts)
		gp_parts_cut(opened->parts, starts, count);
	else
		gp_slice_choice_cut(&a->request.options.choice, opened->model, starts, count);
}

static int write_parts(struct opened *opened, const struct arguments *a, const char *path)
{
	struct arguments part = *a;
	uint64_t *starts = calloc((size_t)a->parts, sizeof(*starts));
	int status = 0;

	cut(opened, a, starts);
	for (uint64_t i = 0; i < a->parts && status == 0; i++) {
		part.request.options.choice.from_ns = starts[i];
		part.request.options.choice.to_ns =
			i + 1 < a->parts ? starts[i + 1] : a->request.options.choice.to_ns;
		status = write_part(opened, &part, path, i + 1);
	}
	free(starts);
	return status;
}

static int write_all(struct opened *opened, const struct arguments *a)
{
	char *path = a->output ? strdup(a->output)
			       : gp_output_path(a->trace, a->request.exporter->suffix);
	int status;

	if (!path)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (a->parts > 0)
		status = write_parts(opened, a, path);
	else
		status = write_source(opened, a, path);
	free(path);
	return status;
}

/* The traces of a folder: a job, for a format that is a folder, too. */
static int export_folder(struct arguments *a)
{
	char *paths[] = {(char *)a->trace};
	char *path = a->output ? strdup(a->output)
			       : gp_output_path(a->trace, a->request.exporter->suffix);
	struct gp_pile pile = {0};
	struct opened opened = {.path = a->trace};
	int status;

	if (path) {
		gp_pile_open(&pile, paths, COUNT(paths));
		opened.source = gp_pile_source(&pile);
	}
	status = opened.source.get ? write_source(&opened, a, path)
				   : gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (status == 0 && pile.any_failed)
		status = GP_EXIT_FAILED;
	gp_pile_close(&pile);
	free(path);
	return status;
}

int gp_command_export(int argc, char **argv)
{
	struct arguments a = {.request = GP_EXPORT_REQUEST};
	struct opened opened = {0};
	int status = parse(argc, argv, &a);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a.request.exporter->write_folder && gp_trace_files_is_folder(a.trace))
		return export_folder(&a);
	if (gp_trace_files_is_folder(a.trace))
		return gp_command_fail(
			GP_EXIT_USAGE,
			"export: %s is a folder; name one trace in it, or type: gpuprof merge -F %s -o OUT %s",
			a.trace, a.request.exporter->name, a.trace);
	status = open_trace(&a, &opened);
	if (status == 0 && a.output && gp_output_is_same(a.output, a.trace))
		status = gp_command_fail(
			GP_EXIT_USAGE, "export: %s is the trace itself; name another file after -o",
			a.output);
	if (status == 0)
		status = check_part(&a, &opened);
	if (status == 0)
		status = write_all(&opened, &a);
	close_trace(&opened);
	return status;
}

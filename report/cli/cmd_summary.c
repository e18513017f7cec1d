#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis/device/kernel_kinds.h"
#include "report/base/message.h"
#include "report/cli/align_hosts.h"
#include "report/cli/commands.h"
#include "report/cli/large_job.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/tables/memory_page.h"
#include "report/codec/output_file.h"
#include "report/summary/summary.h"
#include "report/summary/summary_document.h"
#include "report/tables/summary_by.h"
#include "report/analysis/memory/torch_snapshot.h"
#include "report/load/traces.h"

#define ROWS 12

static const char usage[] =
	"usage: gpuprof summary [options] FILE|FOLDER...\n"
	"\n"
	"Print a summary of trace files on one screen; several files of one run become one summary.\n"
	"For a program with a main loop it begins with the steps of the loop and their phases.\n"
	"With --by, print tables for people or other programs.  Traces of torch.profiler (Chrome JSON,\n"
	"plain or .gz) and of nsys export --type=sqlite are read like gpuprof's own.\n"
	"\n"
	"  -b, --by WHAT,...    print tables: kernel, copy, api, stream, ...; --by help lists them\n"
	"  -m, --memory         print memory by call site: leaks, owners of the peak, repeated\n"
	"                       allocations, and allocations that waited for the GPU\n"
	"      --torch-snapshot SNAP  add the memory that PyTorch gave to tensors; the traced process\n"
	"                       wrote the file SNAP with torch.cuda.memory._dump_snapshot()\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown; without --by, all but text\n"
	"                       print the tables of the summary\n"
	"      --full           print the whole summary: all sections, more rows and advice\n"
	"      --one-pass       print sums only, with little time and memory: no advice, no idle causes;\n"
	"                       the default for traces of 512 MiB and more without --full\n"
	"      --kinds FILE     read kinds of kernels that precede the built-in ones: lines of\n"
	"                       KIND: PATTERN, such as  stencil: *heat*  (* stands for any characters)\n"
	"  -n, --top N          print N rows of each table, with --full or --by (default: 12; all with\n"
	"                       --by); 0: all, and gpuprof's own counters; --rows N is the same\n"
	"      --sort COLUMN    sort the rows of a table: largest numbers first, text from A to Z\n"
	"  -f, --full-names     print kernel names with parameters and template arguments\n"
	"  -o, --output OUT     write to OUT (default: standard output)\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof summary --by kernel --top 5 FILE\n"
	"  gpuprof summary --memory FILE\n"
	"  gpuprof summary --by copy,api --format csv -o tables.csv FILE\n"
	"\n"
	"Exit status: 0, also if a damaged file could be read in part (missing records are reported);\n"
	"1 if a file could not be read at all (the others are used); 2 for a wrong command line.\n";

struct arguments {
	const char *output;
	char *const *traces;
	size_t trace_count;
	struct gp_summary_options page;
	bool full, memory, one_pass;
	const char *snapshot;    /* snapshot file of PyTorch; NULL = none */
	const char *kinds;       /* file of --kinds; NULL = none */
	struct gp_summary_by by; /* tables of --by; words NULL: the summary */
};

static int take_rows(const struct gp_command_line *line, const char *text)
{
	struct arguments *a = line->arguments;
	uint64_t number;

	if (!gp_command_number("summary", "--top", text, GP_COMMAND_MOST, &number))
		return GP_EXIT_USAGE;
	a->page.row_limit = a->by.row_limit = number;
	a->page.brief = false;
	a->by.every_row = number == 0;
	return GP_COMMAND_GO_ON;
}

static int check_by(const struct arguments *a)
{
	char message[GP_MESSAGE_BYTES];
	int result;

	if (strcmp(a->by.words, "help") == 0) {
		gp_summary_by_list(stdout);
		return 0;
	}
	result = gp_summary_by_check(&a->by, message, sizeof(message));
	if (result == 0)
		return GP_COMMAND_GO_ON;
	gp_command_fail(0, "%s", message);
	if (result == -ENOENT)
		gp_summary_by_list(stderr);
	return GP_EXIT_USAGE;
}

/* Formats other than text print the tables of the summary, or those of --memory. */
static int check_memory(struct arguments *a)
{
	if (a->memory && a->by.words)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"summary: --memory prints its own tables, without --by; for both, type for example: gpuprof summary --by memory-leak,kernel FILE");
	if (a->memory && a->by.format != &gp_table_text) {
		a->by.words = a->snapshot ? gp_memory_page_torch_words : gp_memory_page_words;
	} else if (!a->by.words && a->by.format != &gp_table_text) {
		a->by.words = gp_summary_page_words;
		a->by.write_more = gp_summary_write_documents;
	}
	return a->by.words ? check_by(a) : GP_COMMAND_GO_ON;
}

static int check(struct arguments *a)
{
	int status = check_memory(a);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a->one_pass && (a->by.words || a->memory || !a->page.brief))
		return gp_command_fail(
			GP_EXIT_USAGE,
			"summary: --one-pass prints one screen only; --by, --memory and --full need the whole trace: leave out --one-pass");
	if (!a->by.words && a->by.sort)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"summary: --sort needs a table; type for example: gpuprof summary --by kernel --sort count FILE");
	if (a->snapshot && !a->by.words && !a->memory)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"summary: --torch-snapshot needs tables; type for example: gpuprof summary --memory --torch-snapshot %s FILE",
			a->snapshot);
	if (a->snapshot && a->trace_count > 1)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"summary: --torch-snapshot needs one trace: that of the process that wrote the snapshot");
	return gp_command_check_traces("summary", a->output, a->traces, a->trace_count);
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"by", 'b', .text = &a->by.words},
		{"full", .flag = &a->full},
		{"one-pass", .flag = &a->one_pass},
		{"memory", 'm', .flag = &a->memory},
		{"torch-snapshot", .text = &a->snapshot},
		{"kinds", .text = &a->kinds},
		{"format", 'F', .format = &a->by.format},
		{"top", 'n', .take = take_rows},
		{"rows", .take = take_rows},
		{"sort", .text = &a->by.sort},
		{"full-names", 'f', .flag = &a->page.full_names},
		{"output", 'o', .text = &a->output},
		{0},
	};
	const struct gp_command_line line = {
		.command = "summary", .usage = usage, .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	a->by.full_names = a->page.full_names;
	if (a->full)
		a->page.brief = false;
	return status == GP_COMMAND_GO_ON ? check(a) : status;
}

/* ---- a large job ---- */

/* Tables add up all ranks, which are read one after the other. */
static bool adds_ranks(const struct arguments *a)
{
	return a->by.words && !a->by.write_more && !a->snapshot;
}

static int add_rank(void *tables, struct gp_model *rank)
{
	return gp_summary_by_job_add(tables, rank);
}

static int print_job_tables(FILE *out, const struct arguments *a)
{
	struct gp_summary_by_job tables;
	int result = gp_summary_by_job_open(&tables, &a->by);

	if (result == 0 && gp_summary_by_job_needs_ranks(&tables))
		result = gp_large_job_each(a->by.job, add_rank, &tables);
	if (result == 0)
		result = gp_summary_by_job_print(&tables, out);
	gp_summary_by_job_close(&tables);
	return result;
}

/* Anything else shows some of the ranks; the section about ranks compares all. */
static void use_job(struct arguments *a, const struct gp_job *job)
{
	a->page.job = a->by.job = job;
	if (a->by.write_more)
		gp_large_job_explain(job, "the section ranks is about all ranks, the rest");
	else if (a->memory)
		gp_large_job_explain(job, "the tables are");
}

static int load_job(struct arguments *a, struct gp_job *job, struct gp_traces *traces)
{
	int result;

	if (a->one_pass || a->snapshot)
		return -ENODATA;
	if (adds_ranks(a))
		result = gp_large_job_compare(job, a->traces, a->trace_count, &traces->any_failed);
	else
		result = gp_large_job_load(job, traces, a->traces, a->trace_count);
	if (result == 0)
		use_job(a, job);
	return result;
}

/* ---- printing ---- */

static int print_to(FILE *out, const struct arguments *a, const struct gp_traces *traces)
{
	const struct gp_memory_page_options memory = {
		.row_limit = a->page.row_limit, .torch = a->by.torch, .messages = stderr};

	if (a->by.job && adds_ranks(a))
		return print_job_tables(out, a);
	if (a->by.words)
		return gp_summary_by_print(out, traces->models, traces->count, &a->by);
	if (a->memory)
		return gp_memory_page_print(out, traces->models, traces->count, &memory);
	return gp_summary_print(out, traces->models, traces->count, &a->page);
}

static int print_all(const struct arguments *a, const struct gp_traces *traces)
{
	char message[GP_MESSAGE_BYTES];
	struct gp_output_file file;
	int result = gp_output_file_open(&file, a->output ? a->output : "-", NULL, message,
					 sizeof(message));

	if (result < 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	result = print_to(file.stream, a, traces);
	result = gp_output_file_close(&file, result, message, sizeof(message));
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/* Prints with the data of the snapshot and the file of kinds, if given. */
static int print(struct arguments *a, const struct gp_traces *traces)
{
	struct gp_torch_snapshot snapshot = {0};
	char message[GP_MESSAGE_BYTES];
	struct gp_kinds *kinds = gp_kinds_new(a->kinds, message, sizeof(message));
	int result = kinds ? 0 : -EINVAL, status;

	a->page.kinds = a->by.kinds = kinds;
	if (kinds && a->snapshot) {
		result = gp_torch_snapshot_load(a->snapshot, traces->models[0], &snapshot, message,
						sizeof(message));
		a->by.torch = &snapshot;
	}
	status = result == 0 ? print_all(a, traces)
			     : gp_command_fail(GP_EXIT_FAILED, "summary: %s", message);
	gp_torch_snapshot_free(&snapshot);
	gp_kinds_free(kinds);
	a->by.torch = NULL;
	return status;
}

/* One screen of another large trace needs sums only. */
static int load(struct arguments *a, struct gp_job *job, struct gp_traces *traces)
{
	bool is_screen = !a->by.words && !a->memory && a->page.brief;
	int result = load_job(a, job, traces);

	if (result != -ENODATA)
		return result;
	if (is_screen && (a->one_pass || gp_traces_are_large(a->traces, a->trace_count)))
		result = gp_traces_load_in_one_pass(traces, a->traces, a->trace_count);
	else
		result =
			gp_traces_load(traces, a->traces, a->trace_count, a->by.words || a->memory);
	return result == 0 ? gp_align_hosts(traces->models, traces->count) : result;
}

int gp_command_summary(int argc, char **argv)
{
	struct arguments a = {.page = {.brief = true, .row_limit = ROWS},
			      .by = {.format = &gp_table_text, .messages = stderr}};
	int status = parse(argc, argv, &a);
	struct gp_traces traces = {0};
	struct gp_job job = {0};

	if (status != GP_COMMAND_GO_ON)
		return status;
	status = 0;
	if (load(&a, &job, &traces) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (traces.count > 0 || a.by.job)
		status = print(&a, &traces);
	status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	gp_traces_free(&traces);
	gp_job_free(&job);
	return status;
}

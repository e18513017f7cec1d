#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/kernel_kinds.h"
#include "report/command.h"
#include "report/memory_page.h"
#include "report/output_file.h"
#include "report/summary.h"
#include "report/summary_by.h"
#include "report/torch_snapshot.h"
#include "report/traces.h"

#define MESSAGE_BYTES 4352
#define ROWS          12

static const char usage[] =
	"usage: gpuprof summary [options] FILE...\n"
	"\n"
	"Print a summary of trace files; several of one run become one.  With --by, print tables\n"
	"instead, for reading or for other programs.  Traces of torch.profiler (Chrome JSON, "
	"plain\n"
	"or .gz) and of nsys export --type=sqlite are read like gpuprof's own.\n"
	"\n"
	"  -b, --by WHAT,...    tables: kernel, copy, api, stream, ...; --by help lists them\n"
	"  -m, --memory         memory by call site: what was never freed, who held the peak, what "
	"was\n"
	"                       allocated again and again, and what waited for the GPU\n"
	"      --torch-snapshot SNAP  what PyTorch gave to tensors, too; SNAP is the file that "
	"the\n"
	"                       traced process wrote by torch.cuda.memory._dump_snapshot()\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown; of all but text without "
	"--by:\n"
	"                       the tables that the page is made of\n"
	"      --kinds FILE     kinds of kernels, in front of the built-in ones: lines of KIND: "
	"PATTERN,\n"
	"                       such as  stencil: *heat*  (* stands for any characters)\n"
	"  -n, --top N          rows of a table (default: 12, with --by all; 0 = all, and "
	"gpuprof's\n"
	"                       own counters); --rows N is the same\n"
	"      --sort COLUMN    order of a table's rows: largest numbers first, text from A on\n"
	"  -f, --full-names     kernel names in full, with parameters and template arguments\n"
	"  -o, --output OUT     the file to write (default: standard output)\n"
	"  -h, --help           this text\n"
	"\n"
	"  gpuprof summary --by kernel --top 5 FILE\n"
	"  gpuprof summary --memory FILE\n"
	"  gpuprof summary --by copy,api --format csv -o tables.csv FILE\n"
	"\n"
	"Exit status: 0, also where a damaged file could be read in part (what is missing is "
	"said);\n"
	"1 where a file could not be read at all, the others are used; 2 for a wrong command "
	"line.\n";

/* What the page tells, as tables. */
static const char page_words[] = "process,device,time,idle,gap,gap-site,kind,iteration,queue,"
				 "sequence,gpu,api,copy,stream,nvtx-time,"
				 "memory,memory-leak";

enum parsed { RUN, DONE, WRONG };

struct arguments {
	const char *output;
	char *const *traces;
	size_t trace_count;
	bool limited; /* row_limit was given */
	struct gp_summary_options page;
	bool memory;
	const char *snapshot;    /* of PyTorch; NULL = none */
	const char *kinds;       /* the file of --kinds; NULL = none */
	struct gp_summary_by by; /* words NULL: a page */
};

static enum parsed take_rows(struct arguments *a, const char *text)
{
	uint64_t number;

	if (!gp_command_number("summary", "--top", text, GP_COMMAND_MOST, &number))
		return WRONG;
	a->page.row_limit = number;
	a->limited = true;
	return RUN;
}

static enum parsed take_format(struct arguments *a, const char *name)
{
	a->by.format = gp_sheet_format_find(name);
	if (a->by.format)
		return RUN;
	gp_command_fail(0, "summary: there is no format %s; name %s", name, GP_SHEET_FORMATS);
	return WRONG;
}

static enum parsed take_option(struct arguments *a, int c)
{
	switch (c) {
	case 'b':
		a->by.words = optarg;
		return RUN;
	case 't':
		a->snapshot = optarg;
		return RUN;
	case 'k':
		a->kinds = optarg;
		return RUN;
	case 'm':
		a->memory = true;
		return RUN;
	case 'F':
		return take_format(a, optarg);
	case 'n':
		return take_rows(a, optarg);
	case 's':
		a->by.sort = optarg;
		return RUN;
	case 'f':
		a->page.full_names = true;
		return RUN;
	case 'o':
		a->output = optarg;
		return RUN;
	case 'h':
		fputs(usage, stdout);
		return DONE;
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed check_by(const struct arguments *a)
{
	char message[MESSAGE_BYTES];
	int result;

	if (strcmp(a->by.words, "help") == 0) {
		gp_summary_by_list(stdout);
		return DONE;
	}
	result = gp_summary_by_check(&a->by, message, sizeof(message));
	if (result == 0)
		return RUN;
	gp_command_fail(0, "%s", message);
	if (result == -ENOENT)
		gp_summary_by_list(stderr);
	return WRONG;
}

/* In other formats than text, the page is its tables, and --memory those of its own. */
static enum parsed check_memory(struct arguments *a)
{
	if (a->memory && a->by.words) {
		gp_command_fail(0,
				"summary: --memory is tables of its own; for others beside them "
				"type for example: gpuprof summary --by memory-leak,kernel FILE");
		return WRONG;
	}
	if (a->memory && a->by.format != &gp_sheet_text)
		a->by.words = a->snapshot ? gp_memory_page_torch_words : gp_memory_page_words;
	else if (!a->by.words && a->by.format != &gp_sheet_text)
		a->by.words = page_words;
	return RUN;
}

static enum parsed check(struct arguments *a)
{
	enum parsed parsed = check_memory(a);

	if (parsed == RUN && a->by.words)
		parsed = check_by(a);
	if (parsed != RUN)
		return parsed;
	if (!a->by.words && a->by.sort)
		gp_command_fail(0, "summary: --sort is for tables; type for example: "
				   "gpuprof summary --by kernel --sort count FILE");
	else if (a->snapshot && !a->by.words && !a->memory)
		gp_command_fail(0,
				"summary: --torch-snapshot is for tables; type for example: "
				"gpuprof summary --memory --torch-snapshot %s FILE",
				a->snapshot);
	else if (a->snapshot && a->trace_count > 1)
		gp_command_fail(0, "summary: --torch-snapshot needs one trace: that of the process "
				   "which wrote the snapshot");
	else if (a->trace_count == 0)
		gp_command_fail(0, "summary: name trace files; see gpuprof summary --help");
	else
		return RUN;
	return WRONG;
}

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"by", required_argument, NULL, 'b'},
		{"memory", no_argument, NULL, 'm'},
		{"torch-snapshot", required_argument, NULL, 't'},
		{"kinds", required_argument, NULL, 'k'},
		{"format", required_argument, NULL, 'F'},
		{"top", required_argument, NULL, 'n'},
		{"rows", required_argument, NULL, 'n'},
		{"sort", required_argument, NULL, 's'},
		{"full-names", no_argument, NULL, 'f'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	enum parsed parsed = RUN;

	for (int c;
	     parsed == RUN && (c = getopt_long(argc, argv, "b:mF:n:fo:h", table, NULL)) != -1;)
		parsed = take_option(a, c);
	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	a->by.row_limit = a->limited ? a->page.row_limit : 0;
	a->by.every_row = a->limited && a->page.row_limit == 0;
	a->by.full_names = a->page.full_names;
	if (parsed == RUN)
		parsed = check(a);
	if (parsed == RUN &&
	    !gp_command_output_is_free("summary", a->output, a->traces, a->trace_count))
		parsed = WRONG;
	return parsed;
}

static int print_to(FILE *out, const struct arguments *a, const struct gp_traces *traces)
{
	const struct gp_memory_page_options memory = {
		.row_limit = a->page.row_limit, .torch = a->by.torch, .messages = stderr};

	if (a->by.words)
		return gp_summary_by_print(out, traces->models, traces->count, &a->by);
	if (a->memory)
		return gp_memory_page_print(out, traces->models, traces->count, &memory);
	return gp_summary_print(out, traces->models, traces->count, &a->page);
}

static int print_all(const struct arguments *a, const struct gp_traces *traces)
{
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	int result =
		gp_output_file_open(&file, a->output ? a->output : "-", message, sizeof(message));

	if (result < 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	result = print_to(file.stream, a, traces);
	result = gp_output_file_close(&file, result, message, sizeof(message));
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/* With what the snapshot and the file of kinds say, if there are such. */
static int print(struct arguments *a, const struct gp_traces *traces)
{
	struct gp_torch_snapshot snapshot = {0};
	char message[MESSAGE_BYTES];
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

int gp_command_summary(int argc, char **argv)
{
	struct arguments a = {.page.row_limit = ROWS,
			      .by = {.format = &gp_sheet_text, .messages = stderr}};
	enum parsed parsed = parse(argc, argv, &a);
	struct gp_traces traces;
	int status = 0;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	if (gp_traces_load(&traces, a.traces, a.trace_count, a.by.words || a.memory) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (traces.count > 0)
		status = print(&a, &traces);
	status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	gp_traces_free(&traces);
	return status;
}

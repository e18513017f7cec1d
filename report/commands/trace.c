#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/chronicle.h"
#include "report/command.h"
#include "report/format.h"
#include "report/output_file.h"
#include "report/traces.h"

#define MESSAGE_BYTES 4352

static const char usage[] =
	"usage: gpuprof trace gpu|api|exec|nvtx [options] FILE...\n"
	"\n"
	"Print every GPU operation (gpu), API call (api), launch with its queue and kernel (exec), "
	"or\n"
	"NVTX range (nvtx) of trace files, one a line, in the order of their starts.  Times count "
	"from\n"
	"the first of the trace files' calls and operations.\n"
	"\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown\n"
	"      --start TIME     only what starts at that time or later: 1.5s, 20ms, 300us, 5000ns\n"
	"      --end TIME       only what starts before that time\n"
	"  -l, --limit N        only the first N of those\n"
	"  -f, --full-names     kernel names in full, with parameters and template arguments\n"
	"  -o, --output OUT     the file to write (default: standard output)\n"
	"  -h, --help           this text\n"
	"\n"
	"  gpuprof trace gpu --start 1s --end 1.01s FILE\n"
	"  gpuprof trace api --format csv -o calls.csv FILE\n"
	"\n"
	"Exit status: 0, also where a damaged file could be read in part (what is missing is "
	"said);\n"
	"1 where a file could not be read at all, the others are used; 2 for a wrong command "
	"line.\n";

enum parsed { RUN, DONE, WRONG };

struct arguments {
	const struct gp_chronicle *chronicle;
	const struct gp_sheet_format *format;
	const char *output;
	char *const *traces;
	size_t trace_count;
	bool full_names;
	struct gp_chronicle_part part;
};

/* "1.5s", "20ms", ...; without a unit, seconds. */
static enum parsed take_limit(struct arguments *a, const char *text)
{
	return gp_command_number("trace", "--limit", text, GP_COMMAND_MOST, &a->part.limit) ? RUN
											    : WRONG;
}

static enum parsed take_format(struct arguments *a, const char *name)
{
	a->format = gp_sheet_format_find(name);
	if (a->format)
		return RUN;
	gp_command_fail(0, "trace: there is no format %s; name %s", name, GP_SHEET_FORMATS);
	return WRONG;
}

static enum parsed take_option(struct arguments *a, int c)
{
	switch (c) {
	case 'F':
		return take_format(a, optarg);
	case 's':
		return gp_command_time("trace", "--start", optarg, &a->part.from_ns) ? RUN : WRONG;
	case 'e':
		return gp_command_time("trace", "--end", optarg, &a->part.to_ns) ? RUN : WRONG;
	case 'l':
		return take_limit(a, optarg);
	case 'f':
		a->full_names = true;
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

static enum parsed check(struct arguments *a, int argc, char **argv)
{
	a->chronicle = argc > 0 ? gp_chronicle_find(argv[0]) : NULL;
	a->traces = argv + 1;
	a->trace_count = argc > 0 ? (size_t)argc - 1 : 0;
	if (!a->chronicle && argc > 1)
		gp_command_fail(
			0, "trace: there is nothing called %s to list; say gpu, api, exec or nvtx",
			argv[0]);
	else if (!a->chronicle)
		gp_command_fail(
			0,
			"trace: say what to list, gpu, api, exec or nvtx, then name trace files; "
			"see gpuprof trace --help");
	else if (a->trace_count == 0)
		gp_command_fail(0, "trace: name trace files; see gpuprof trace --help");
	else if (a->part.from_ns >= a->part.to_ns)
		gp_command_fail(0, "trace: --start has to be before --end");
	else
		return RUN;
	return WRONG;
}

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"format", required_argument, NULL, 'F'}, {"start", required_argument, NULL, 's'},
		{"end", required_argument, NULL, 'e'},    {"limit", required_argument, NULL, 'l'},
		{"full-names", no_argument, NULL, 'f'},   {"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	enum parsed parsed = RUN;

	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "F:l:fo:h", table, NULL)) != -1;)
		parsed = take_option(a, c);
	if (parsed == RUN)
		parsed = check(a, argc - optind, argv + optind);
	if (parsed == RUN &&
	    !gp_command_output_is_free("trace", a->output, a->traces, a->trace_count))
		parsed = WRONG;
	return parsed;
}

/* How long the trace is, where a part of it was asked for. */
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
		gp_command_fail(0, "no %s was recorded; `gpuprof summary FILE` says what was",
				a->chronicle->things);
	else
		gp_command_fail(
			0, "no %s starts then; the trace ends at %s", a->chronicle->things,
			gp_format_moment((int64_t)(last_unix_ns - scope->start_unix_ns)).text);
}

static int write_rows(const struct arguments *a, const struct gp_traces *traces, FILE *out)
{
	struct gp_sheet_writer writer;
	struct gp_scope scope;
	uint64_t rows = 0;
	int result = gp_scope_open(&scope, traces->models, traces->count, a->full_names), closed;

	gp_sheet_writer_open(&writer, a->format, out, false);
	if (result == 0)
		result = gp_chronicle_write(a->chronicle, &scope, &a->part, &writer, &rows);
	closed = gp_sheet_writer_close(&writer);
	if (result == 0 && closed == 0 && rows == 0)
		say_nothing(a, &scope);
	gp_scope_close(&scope);
	return result == 0 ? closed : result;
}

static int print(const struct arguments *a, const struct gp_traces *traces)
{
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	int result =
		gp_output_file_open(&file, a->output ? a->output : "-", message, sizeof(message));

	if (result == 0) {
		result = write_rows(a, traces, file.stream);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_trace(int argc, char **argv)
{
	struct arguments a = {.format = &gp_sheet_text, .part.to_ns = UINT64_MAX};
	enum parsed parsed = parse(argc, argv, &a);
	struct gp_traces traces;
	int status = 0;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	if (gp_traces_load(&traces, a.traces, a.trace_count, true) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (traces.count > 0)
		status = print(&a, &traces);
	status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
	gp_traces_free(&traces);
	return status;
}

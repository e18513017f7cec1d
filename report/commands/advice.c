#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/advice_print.h"
#include "report/command.h"
#include "report/output_file.h"
#include "report/traces.h"

#define MESSAGE_BYTES 4352

static const char usage[] =
	"usage: gpuprof advice [options] FILE...\n"
	"\n"
	"Say what in a program costs time, where, and what to change, by what could be saved at\n"
	"most.  Several files of one run are looked at together.  Where nothing is worth a word,\n"
	"only that is printed, and where the GPU was idle for most of the time, why.\n"
	"\n"
	"  -F, --format FORMAT  text (default) or json\n"
	"  -n, --top N          the first N findings (default: all)\n"
	"  -o, --output OUT     the file to write (default: standard output)\n"
	"  -h, --help           this text\n"
	"\n"
	"  gpuprof advice gpuprof-app-1234.gpuprof\n"
	"  gpuprof explain sync-in-loop              what a rule means, and when to ignore it\n"
	"\n"
	"Exit status: 0, also where there is advice or a damaged file could be read in part; 1\n"
	"where a file could not be read at all, the others are used; 2 for a wrong command line.\n";

enum parsed { RUN, DONE, WRONG };

struct arguments {
	const char *output;
	bool as_json;
	size_t limit;
	char *const *traces;
	size_t trace_count;
};

static enum parsed take_format(struct arguments *a, const char *name)
{
	a->as_json = strcmp(name, "json") == 0;
	if (a->as_json || strcmp(name, "text") == 0)
		return RUN;
	gp_command_fail(0, "advice: there is no format %s; name text or json", name);
	return WRONG;
}

static enum parsed take_limit(struct arguments *a, const char *text)
{
	uint64_t number;

	if (!gp_command_number("advice", "--top", text, GP_COMMAND_MOST, &number))
		return WRONG;
	a->limit = number;
	return RUN;
}

static enum parsed take_option(struct arguments *a, int c)
{
	switch (c) {
	case 'F':
		return take_format(a, optarg);
	case 'n':
		return take_limit(a, optarg);
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

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"format", required_argument, NULL, 'F'},
		{"top", required_argument, NULL, 'n'},
		{"output", required_argument, NULL, 'o'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	enum parsed parsed = RUN;

	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "F:n:o:h", table, NULL)) != -1;)
		parsed = take_option(a, c);
	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	if (parsed != RUN)
		return parsed;
	if (a->trace_count == 0) {
		gp_command_fail(0, "advice: name trace files; see gpuprof advice --help");
		return WRONG;
	}
	return gp_command_output_is_free("advice", a->output, a->traces, a->trace_count) ? RUN
											 : WRONG;
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

static int print(const struct arguments *a, const struct gp_traces *traces)
{
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	struct gp_advice advice;
	int result =
		gp_output_file_open(&file, a->output ? a->output : "-", message, sizeof(message));

	if (result < 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	result = gp_advice_of(traces->models, traces->count, &advice);
	if (result == 0)
		result = write_to(file.stream, a, &advice);
	gp_advice_free(&advice);
	result = gp_output_file_close(&file, result, message, sizeof(message));
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_advice(int argc, char **argv)
{
	struct arguments a = {0};
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

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command.h"
#include "report/export.h"
#include "report/gzip.h"
#include "report/output_file.h"
#include "report/traces.h"

#define MESSAGE_BYTES 4352

#define MOST_PARTS 10000

struct arguments {
	const struct gp_exporter *exporter;
	const char *output; /* NULL = beside the trace */
	const char *trace;
	uint64_t parts; /* 0 = one file */
	struct gp_export_options options;
};

enum parsed { RUN, DONE, WRONG };

static const char usage[] =
	"usage: gpuprof export [options] FILE\n"
	"       gpuprof export --list\n"
	"\n"
	"Write a trace file in another format.\n"
	"\n"
	"  -F, --format FORMAT  one of those below (default chrome)\n"
	"  -o, --output OUT     the file to write, - for standard output (default: beside FILE);\n"
	"                       NAME.gz is compressed\n"
	"      --list           the formats, their suffixes, and who reads them\n"
	"  -h, --help           this text\n"
	"\n"
	"Part of a trace (not of openmetrics):\n"
	"      --start TIME     only what still runs at that time, or begins later; times count "
	"from\n"
	"                       the first call or operation: 1.5s, 20ms, 300us, 5000ns\n"
	"      --end TIME       only what begins before that time\n"
	"      --min-duration TIME  only what takes that long; marks and counters stay\n"
	"      --parts N        N files, OUT.1.json and so on, one after the other in time, of "
	"about\n"
	"                       as many events each; an event is in the part in which it begins\n"
	"  -l, --limit N        chrome: only the last N slices, calls and GPU operations "
	"(default:\n"
	"                       0 = all)\n"
	"\n"
	"Formats of call stacks:\n"
	"  -v, --value WHAT     what to show, one of those below (default gpu-time)\n"
	"\n"
	"  gpuprof export --start 1s --end 1.2s --min-duration 10us FILE\n"
	"  gpuprof export --format sqlite FILE\n"
	"  gpuprof export -F folded -v leaked-bytes -o - FILE | flamegraph.pl > leaks.svg\n"
	"\n"
	"Formats:\n";

static void print_usage(void)
{
	fputs(usage, stdout);
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		printf("  %-19s  %s\n", (*at)->name, (*at)->help);
	puts("\nValues:");
	for (int i = 0; i < GP_MEASURES; i++)
		printf("  %-19s  %s\n", gp_measures[i].word, gp_measures[i].title);
}

static void print_list(void)
{
	printf("%-12s%-18s%s\n", "format", "suffix", "read by");
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		printf("%-12s%-18s%s\n", (*at)->name, (*at)->suffix, (*at)->readers);
}

static enum parsed take_measure(struct arguments *a, const char *word)
{
	a->options.measure = gp_measure_find(word);
	if (a->options.measure < GP_MEASURES)
		return RUN;
	gp_command_fail(0, "export: there is no value %s; see gpuprof export --help", word);
	return WRONG;
}

/* That no option was given that the format does not heed. */
static enum parsed check(const struct arguments *a)
{
	const char *option = gp_export_unheeded(a->exporter, &a->options);

	if (option) {
		gp_command_fail(0, "export: %s, which --format %s does not write", option,
				a->exporter->name);
		return WRONG;
	}
	if (a->parts > 0 && a->output && strcmp(a->output, "-") == 0) {
		gp_command_fail(0, "export: --parts are files; name one after -o");
		return WRONG;
	}
	return RUN;
}

static enum parsed take_format(struct arguments *a, const char *name)
{
	char formats[GP_EXPORTER_LIST_BYTES];

	a->exporter = gp_exporter_find(name);
	if (a->exporter)
		return RUN;
	gp_exporter_list(formats, sizeof(formats));
	gp_command_fail(0, "export: there is no format %s; name one of %s", name, formats);
	return WRONG;
}

static enum parsed take_time(const char *option, uint64_t *time_ns)
{
	return gp_command_time("export", option, optarg, time_ns) ? RUN : WRONG;
}

static enum parsed take_number(const char *option, uint64_t most, uint64_t *number)
{
	return gp_command_number("export", option, optarg, most, number) ? RUN : WRONG;
}

/* Long options without a letter. */
enum { OPTION_LIST = 256, OPTION_START, OPTION_END, OPTION_SHORTEST, OPTION_PARTS };

static enum parsed take_part(int c, struct arguments *a)
{
	struct gp_slice_choice *choice = &a->options.choice;

	switch (c) {
	case OPTION_START:
		return take_time("--start", &choice->from_ns);
	case OPTION_END:
		return take_time("--end", &choice->to_ns);
	case OPTION_SHORTEST:
		return take_time("--min-duration", &choice->least_ns);
	case OPTION_PARTS:
		choice->is_part = true;
		return take_number("--parts", MOST_PARTS, &a->parts);
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed take_option(int c, struct arguments *a)
{
	switch (c) {
	case 'F':
		return take_format(a, optarg);
	case 'o':
		a->output = optarg;
		return RUN;
	case 'l':
		return take_number("--limit", GP_COMMAND_MOST, &a->options.slice_limit);
	case 'v':
		return take_measure(a, optarg);
	case 'h':
		print_usage();
		return DONE;
	case OPTION_LIST:
		print_list();
		return DONE;
	default:
		return take_part(c, a);
	}
}

static enum parsed take_trace(int argc, char **argv, struct arguments *a)
{
	const struct gp_slice_choice *choice = &a->options.choice;

	a->trace = argc == 1 ? argv[0] : NULL;
	if (!a->trace)
		gp_command_fail(0, "export: name one trace file; see gpuprof export --help%s",
				argc > 1 ? "; several become one by gpuprof merge" : "");
	else if (choice->to_ns > 0 && choice->from_ns >= choice->to_ns)
		gp_command_fail(0, "export: --start has to be before --end");
	else
		return check(a);
	return WRONG;
}

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"format", required_argument, NULL, 'F'},
		{"output", required_argument, NULL, 'o'},
		{"limit", required_argument, NULL, 'l'},
		{"value", required_argument, NULL, 'v'},
		{"list", no_argument, NULL, OPTION_LIST},
		{"start", required_argument, NULL, OPTION_START},
		{"end", required_argument, NULL, OPTION_END},
		{"min-duration", required_argument, NULL, OPTION_SHORTEST},
		{"parts", required_argument, NULL, OPTION_PARTS},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	enum parsed parsed = RUN;

	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "F:o:l:v:h", table, NULL)) != -1;)
		parsed = take_option(c, a);
	return parsed == RUN ? take_trace(argc - optind, argv + optind, a) : parsed;
}

static int write_model(const struct gp_model *model, const struct arguments *a, const char *path)
{
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	int result = gp_output_file_open(&file, path, message, sizeof(message));

	if (result == 0) {
		result = gp_export_compress(a->exporter, &file);
		if (result == 0)
			result = gp_export_model(a->exporter, model, &a->options, file.stream);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	return result == 0 ? gp_command_wrote(path)
			   : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/* Where the number of a part goes: before the format's suffix, else before the name's last ".", and before ".gz". */
static size_t find_ending(const char *path, const char *suffix)
{
	size_t length = strlen(path), suffix_bytes = strlen(suffix);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
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

static int write_part(const struct gp_model *model, const struct arguments *a, const char *path,
		      uint64_t number)
{
	size_t ending = find_ending(path, a->exporter->suffix);
	char *name;
	int status;

	if (asprintf(&name, "%.*s.%" PRIu64 "%s", (int)ending, path, number, path + ending) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	status = write_model(model, a, name);
	free(name);
	return status;
}

static int write_parts(const struct gp_model *model, const struct arguments *a, const char *path)
{
	struct arguments part = *a;
	uint64_t *starts = calloc((size_t)a->parts, sizeof(*starts));
	int status = 0;

	if (!starts ||
	    gp_slice_choice_cut(&a->options.choice, model, starts, (uint32_t)a->parts) < 0) {
		free(starts);
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	}
	for (uint64_t i = 0; i < a->parts && status == 0; i++) {
		part.options.choice.from_ns = starts[i];
		part.options.choice.to_ns =
			i + 1 < a->parts ? starts[i + 1] : a->options.choice.to_ns;
		status = write_part(model, &part, path, i + 1);
	}
	free(starts);
	return status;
}

int gp_command_export(int argc, char **argv)
{
	struct arguments a = {.exporter = gp_exporters[0],
			      .options = {.messages = stderr, .measure = GP_MEASURES}};
	enum parsed parsed = parse(argc, argv, &a);
	char message[MESSAGE_BYTES], *path;
	struct gp_model *model;
	int status;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	if (gp_model_load(a.trace, &model, message, sizeof(message)) != 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	if (a.output && gp_output_is_same(a.output, a.trace)) {
		gp_model_free(model);
		return gp_command_fail(GP_EXIT_USAGE,
				       "export: %s is the trace itself; name another file after -o",
				       a.output);
	}
	gp_traces_warn(model);
	path = a.output ? strdup(a.output) : gp_output_path(a.trace, a.exporter->suffix);
	if (!path)
		status = gp_command_fail(GP_EXIT_FAILED, "no memory");
	else
		status = a.parts > 0 ? write_parts(model, &a, path) : write_model(model, &a, path);
	free(path);
	gp_model_free(model);
	return status;
}

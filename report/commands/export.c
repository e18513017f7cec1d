#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command.h"
#include "report/export.h"
#include "report/output_file.h"
#include "report/traces.h"

#define MESSAGE_BYTES 4352

struct arguments {
	const struct gp_exporter *exporter;
	const char *output; /* NULL = beside the trace */
	const char *trace;
	struct gp_export_options options;
};

enum parsed { RUN, DONE, WRONG };

static void print_usage(void)
{
	fputs("usage: gpuprof export [options] FILE\n"
	      "\n"
	      "Write a trace file in another format.\n"
	      "\n"
	      "  -F, --format FORMAT  one of those below (default chrome)\n"
	      "  -o, --output OUT     the file to write, - for standard output (default: beside "
	      "FILE);\n"
	      "                       NAME.gz is compressed\n"
	      "  -l, --limit N        chrome: only the last N slices, calls and GPU operations "
	      "(default:\n"
	      "                       0 = all)\n"
	      "  -v, --value WHAT     call stacks: what to show, one of those below (default "
	      "gpu-time)\n"
	      "  -h, --help           this text\n"
	      "\n"
	      "  gpuprof export --format speedscope FILE\n"
	      "  gpuprof export -F folded -v leaked-bytes -o - FILE | flamegraph.pl > leaks.svg\n"
	      "\n"
	      "Formats:\n",
	      stdout);
	for (const struct gp_exporter *const *at = gp_exporters; *at; at++)
		printf("  %-19s  %s\n", (*at)->name, (*at)->help);
	puts("\nValues:");
	for (int i = 0; i < GP_MEASURES; i++)
		printf("  %-19s  %s\n", gp_measures[i].word, gp_measures[i].title);
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

	if (!option)
		return RUN;
	gp_command_fail(0, "export: %s, which --format %s does not write", option,
			a->exporter->name);
	return WRONG;
}

static enum parsed take_option(int c, struct arguments *a)
{
	char formats[128];

	switch (c) {
	case 'F':
		a->exporter = gp_exporter_find(optarg);
		if (a->exporter)
			return RUN;
		gp_exporter_list(formats, sizeof(formats));
		gp_command_fail(0, "export: there is no format %s; name one of %s", optarg,
				formats);
		return WRONG;
	case 'o':
		a->output = optarg;
		return RUN;
	case 'l':
		return gp_command_number("export", "--limit", optarg, GP_COMMAND_MOST,
					 &a->options.slice_limit)
			       ? RUN
			       : WRONG;
	case 'v':
		return take_measure(a, optarg);
	case 'h':
		print_usage();
		return DONE;
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"format", required_argument, NULL, 'F'}, {"output", required_argument, NULL, 'o'},
		{"limit", required_argument, NULL, 'l'},  {"value", required_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	enum parsed parsed = RUN;

	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "F:o:l:v:h", table, NULL)) != -1;)
		parsed = take_option(c, a);
	if (parsed == RUN && argc - optind != 1) {
		gp_command_fail(0, "export: name one trace file; see gpuprof export --help%s",
				argc - optind > 1 ? "; several become one by gpuprof merge" : "");
		return WRONG;
	}
	if (parsed == RUN)
		a->trace = argv[optind];
	return parsed == RUN ? check(a) : parsed;
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
	status = path ? write_model(model, &a, path) : gp_command_fail(GP_EXIT_FAILED, "no memory");
	free(path);
	gp_model_free(model);
	return status;
}

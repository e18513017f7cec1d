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
	const char *output; /* NULL = not given */
	char **traces;
	size_t trace_count;
	struct gp_export_options options;
};

/* The traces, of which one at a time is in memory. */
struct pile {
	char **traces;
	bool *failed; /* has been said */
	bool *warned; /* has been loaded, and what it lacks was said */
	size_t at;    /* index of model */
	struct gp_model *model;
	bool any_failed;
};

enum parsed { RUN, DONE, WRONG };

static const char usage[] =
	"usage: gpuprof merge -o OUT FILE...\n"
	"\n"
	"Write several processes in one file, a Chrome trace or another format, on one timeline:\n"
	"in a Chrome trace the processes of one machine by its monotonic clock, those of several\n"
	"machines by their wall clocks; else by the wall clock.  A GPU that several of them used\n"
	"is one, with the streams of each process.  Equal call stacks of all processes are one.\n"
	"\n"
	"  -o, --output OUT     the file to write, - for standard output; NAME.gz is\n"
	"                       compressed\n"
	"  -F, --format FORMAT  one of gpuprof export (default chrome)\n"
	"  -l, --limit N        chrome: only the last N slices, calls and GPU operations "
	"(default:\n"
	"                       0 = all)\n"
	"  -v, --value WHAT     call stacks: what to show, as of gpuprof export\n"
	"  -h, --help           this text\n";

static enum parsed take_format(struct arguments *a, const char *name)
{
	char formats[GP_EXPORTER_LIST_BYTES];

	a->exporter = gp_exporter_find(name);
	if (a->exporter)
		return RUN;
	gp_exporter_list(formats, sizeof(formats));
	gp_command_fail(0, "merge: there is no format %s; name one of %s", name, formats);
	return WRONG;
}

static enum parsed take_measure(struct arguments *a, const char *word)
{
	a->options.measure = gp_measure_find(word);
	if (a->options.measure < GP_MEASURES)
		return RUN;
	gp_command_fail(0, "merge: there is no value %s; see gpuprof export --help", word);
	return WRONG;
}

static enum parsed take_option(int c, struct arguments *a)
{
	switch (c) {
	case 'o':
		a->output = optarg;
		return RUN;
	case 'F':
		return take_format(a, optarg);
	case 'v':
		return take_measure(a, optarg);
	case 'l':
		return gp_command_number("merge", "--limit", optarg, GP_COMMAND_MOST,
					 &a->options.slice_limit)
			       ? RUN
			       : WRONG;
	case 'h':
		fputs(usage, stdout);
		return DONE;
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed check(const struct arguments *a)
{
	const char *option = gp_export_unheeded(a->exporter, &a->options);

	if (option)
		gp_command_fail(0, "merge: %s, which --format %s does not write", option,
				a->exporter->name);
	else if (a->trace_count == 0)
		gp_command_fail(0, "merge: name trace files; see gpuprof merge --help");
	else if (!a->output)
		gp_command_fail(0, "merge: name the file to write; type for example: gpuprof merge "
				   "-o all.json FILE...");
	return !option && a->trace_count > 0 && a->output ? RUN : WRONG;
}

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"output", required_argument, NULL, 'o'}, {"format", required_argument, NULL, 'F'},
		{"limit", required_argument, NULL, 'l'},  {"value", required_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	enum parsed parsed = RUN;

	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "o:F:l:v:h", table, NULL)) != -1;)
		parsed = take_option(c, a);
	a->traces = argv + optind;
	a->trace_count = (size_t)(argc - optind);
	return parsed == RUN ? check(a) : parsed;
}

static const struct gp_model *get(void *context, size_t index)
{
	struct pile *pile = context;
	char message[MESSAGE_BYTES];

	if (pile->failed[index] || (pile->model && pile->at == index))
		return pile->failed[index] ? NULL : pile->model;
	gp_model_free(pile->model);
	pile->model = NULL;
	pile->at = index;
	if (gp_model_load(pile->traces[index], &pile->model, message, sizeof(message)) == 0) {
		if (!pile->warned[index])
			gp_traces_warn(pile->model);
		pile->warned[index] = true;
		return pile->model;
	}
	pile->failed[index] = pile->any_failed = true;
	gp_command_fail(0, "%s", message);
	return NULL;
}

static int write_merged(const struct arguments *a, struct pile *pile)
{
	const struct gp_export_source source = {
		.count = a->trace_count, .get = get, .context = pile};
	char message[MESSAGE_BYTES];
	struct gp_output_file file;
	int result = gp_output_file_open(&file, a->output, message, sizeof(message));

	if (result == 0) {
		result = gp_export_compress(a->exporter, &file);
		if (result == 0)
			result = a->exporter->write(&source, &a->options, file.stream);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	if (result == -ENODATA)
		return gp_command_fail(GP_EXIT_FAILED,
				       "merge: %s is not written: none of the traces can be read",
				       a->output);
	return result == 0 ? gp_command_wrote(a->output)
			   : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_merge(int argc, char **argv)
{
	struct arguments a = {.exporter = &gp_exporter_chrome,
			      .options = {.messages = stderr, .measure = GP_MEASURES}};
	enum parsed parsed = parse(argc, argv, &a);
	struct pile pile = {0};
	int status;

	if (parsed != RUN || a.trace_count == 0)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	if (!gp_command_output_is_free("merge", a.output, a.traces, a.trace_count))
		return GP_EXIT_USAGE;
	a.trace_count = gp_traces_name_once(a.traces, a.trace_count);
	pile.traces = a.traces;
	pile.failed = calloc(a.trace_count, sizeof(*pile.failed));
	pile.warned = calloc(a.trace_count, sizeof(*pile.warned));
	status = pile.failed && pile.warned ? write_merged(&a, &pile)
					    : gp_command_fail(GP_EXIT_FAILED, "no memory");
	gp_model_free(pile.model);
	free(pile.failed);
	free(pile.warned);
	return status == 0 && pile.any_failed ? GP_EXIT_FAILED : status;
}

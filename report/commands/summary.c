#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command.h"
#include "report/model.h"
#include "report/summary.h"

#define MESSAGE_BYTES 4352
#define ROWS          12

static const char usage[] =
	"usage: gpuprof summary [options] FILE...\n"
	"\n"
	"Print a summary of trace files; several of one run become one.\n"
	"\n"
	"  -f, --full-names  kernel names in full, with parameters and template arguments\n"
	"  -n, --rows N      rows per table (default 12; 0 = all, and gpuprof's own counters)\n"
	"  -h, --help        this text\n";

enum parsed { RUN, DONE, WRONG };

static enum parsed parse(int argc, char **argv, struct gp_summary_options *options)
{
	static const struct option table[] = {
		{"full-names", no_argument, NULL, 'f'},
		{"rows", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	char *end;

	for (int c; (c = getopt_long(argc, argv, "fn:h", table, NULL)) != -1;) {
		if (c == 'f') {
			options->full_names = true;
		} else if (c == 'n') {
			options->row_limit = strtoul(optarg, &end, 10);
			if (end != optarg && *end == '\0' && *optarg != '-')
				continue;
			gp_command_fail(0, "summary: --rows needs a number, not %s", optarg);
			return WRONG;
		} else if (c == 'h') {
			fputs(usage, stdout);
			return DONE;
		} else {
			return WRONG; /* getopt has said why */
		}
	}
	if (optind < argc)
		return RUN;
	gp_command_fail(0, "summary: name trace files; see gpuprof summary --help");
	return WRONG;
}

/* Load what can be loaded; one bad file does not hide the others. */
static size_t load(char *const *paths, size_t count, struct gp_model **models)
{
	char message[MESSAGE_BYTES];
	size_t loaded = 0;

	for (size_t i = 0; i < count; i++) {
		if (gp_model_load(paths[i], &models[loaded], message, sizeof(message)) == 0)
			loaded++;
		else
			gp_command_fail(0, "%s", message);
	}
	return loaded;
}

static int print(struct gp_model *const *models, size_t count,
		 const struct gp_summary_options *options)
{
	int result = gp_summary_print(stdout, models, count, options);

	if (result == 0 && fflush(stdout) == 0)
		return 0;
	return gp_command_fail(GP_EXIT_FAILED, "the summary cannot be written: %s",
			       result < 0 ? strerror(-result) : "output error");
}

int gp_command_summary(int argc, char **argv)
{
	struct gp_summary_options options = {.row_limit = ROWS};
	enum parsed parsed = parse(argc, argv, &options);
	struct gp_model **models;
	size_t wanted, loaded;
	int status = 0;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	wanted = (size_t)(argc - optind);
	models = calloc(wanted, sizeof(struct gp_model *));
	if (!models)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	loaded = load(argv + optind, wanted, models);
	if (loaded > 0)
		status = print(models, loaded, &options);
	for (size_t i = 0; i < loaded; i++)
		gp_model_free(models[i]);
	free(models);
	return status == 0 && loaded < wanted ? GP_EXIT_FAILED : status;
}

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hardware/metric_set.h"
#include "report/base/text/did_you_mean.h"
#include "report/base/message.h"
#include "report/cli/command_line.h"
#include "report/cli/commands.h"
#include "report/codec/output_file.h"
#include "report/counters/metric_library.h"
#include "report/counters/metric_tables.h"
#include "report/document/table_writer.h"
#include "report/load/command.h"

static const char usage[] =
	"usage: gpuprof metrics list [options] [TEXT...]\n"
	"       gpuprof metrics passes [options] METRIC...\n"
	"       gpuprof metrics sets [options] [SET...]\n"
	"       gpuprof metrics chips [options]\n"
	"\n"
	"Print what the hardware counters of a GPU can measure.  This needs libcupti, but no GPU and\n"
	"no driver.\n"
	"\n"
	"  list    metrics with every TEXT in their names or descriptions; a TEXT with * is a pattern\n"
	"          for the whole name\n"
	"  passes  how often a kernel must run for each METRIC, alone and with those before it\n"
	"  sets    the named sets below: their passes, and which of their metrics the chip measures\n"
	"  chips   the chips that libcupti knows, and GPUs that have them\n"
	"\n"
	"  -c, --chip CHIP      the chip, or a GPU that has it, such as H200 (default GH100, or the first\n"
	"                       that gpuprof metrics chips lists)\n"
	"      --pm             metrics for sampling over time, not for kernels and ranges\n"
	"  -e, --ends           list full names, with their ends: .sum, .avg.per_second, ...\n"
	"      --cupti FILE     load this libcupti.so (default: GPUPROF_CUPTI, else an installed one)\n"
	"  -F, --format FORMAT  text (default), csv, json or markdown\n"
	"  -o, --output OUT     write to OUT (default: standard output)\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof metrics list --chip GA100 dram bytes\n"
	"  gpuprof metrics passes dram__bytes_read.sum lts__t_sector_hit_rate.pct\n"
	"\n"
	"Exit status: 0, 1 if there is no usable libcupti, 2 for a wrong command line.\n"
	"\n"
	"Sets:\n";

static void print_usage(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < GP_METRIC_SETS; i++)
		printf("  %-19s  %s\n", gp_metric_sets[i].name, gp_metric_sets[i].meaning);
}

struct arguments {
	const struct gp_metric_table *table;
	struct gp_metric_request request;
	const struct gp_table_format *format;
	const char *cupti, *output;
	bool pm;
};

static int refuse(const char *word)
{
	struct gp_did_you_mean nearest = {.word = word};

	for (const struct gp_metric_table *at = gp_metric_tables; at->fill; at++)
		gp_did_you_mean_try(&nearest, at->head.name);
	return gp_command_refuse("metrics", "table", &nearest, "use list, passes, sets or chips");
}

static const struct gp_metric_table *find_table(const char *word)
{
	for (const struct gp_metric_table *at = gp_metric_tables; at->fill; at++)
		if (strcmp(at->head.name, word) == 0)
			return at;
	return NULL;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"chip", 'c', .text = &a->request.chip},      {"pm", .flag = &a->pm},
		{"ends", 'e', .flag = &a->request.with_ends}, {"cupti", .text = &a->cupti},
		{"format", 'F', .format = &a->format},        {"output", 'o', .text = &a->output},
		{"help", 'h', .print = print_usage},          {0},
	};
	const struct gp_command_line line = {
		.command = "metrics", .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (optind == argc)
		return gp_command_fail(GP_EXIT_USAGE,
				       "metrics: name a table: list, passes, sets or chips; see "
				       "gpuprof metrics --help");
	a->table = find_table(argv[optind]);
	a->request.kind = a->pm ? GP_PROFILER_PM : GP_PROFILER_RANGE;
	a->request.words = argv + optind + 1;
	a->request.word_count = (size_t)(argc - optind - 1);
	return a->table ? GP_COMMAND_GO_ON : refuse(argv[optind]);
}

static int write_table(const struct arguments *a, const struct gp_table *table)
{
	struct gp_table_writer writer;
	struct gp_output_file file;
	char message[GP_MESSAGE_BYTES];
	int result = gp_output_file_open(&file, a->output ? a->output : "-", NULL, message,
					 sizeof(message));

	if (result == 0) {
		gp_table_writer_open(&writer, a->format, file.stream, false);
		gp_table_writer_rows(&writer, table, 0);
		result = gp_output_file_close(&file, gp_table_writer_close(&writer), message,
					      sizeof(message));
	}
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

/* The usual one, if this libcupti knows it. */
static const char *default_chip(struct gp_profiler_host *host)
{
	static const char usual[] = "GH100";
	const char *const *names;
	size_t count;

	if (gp_profiler_host_chips(host, &names, &count) != 0 || count == 0)
		return usual;
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], usual) == 0)
			return usual;
	return names[0];
}

int gp_command_metrics(int argc, char **argv)
{
	struct gp_profiler_host host;
	struct arguments a = {.format = &gp_table_text,
			      .cupti = getenv("GPUPROF_CUPTI"),
			      .request = {.host = &host}};
	int status = parse(argc, argv, &a);
	char message[GP_MESSAGE_BYTES];
	struct gp_table table;

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a.cupti && *a.cupti == '\0')
		a.cupti = NULL;
	if (gp_metric_library_open(&host, a.cupti, message, sizeof(message)) != 0)
		return gp_command_fail(GP_EXIT_FAILED, "metrics: %s", message);
	if (!a.request.chip)
		a.request.chip = default_chip(&host);
	a.request.chip = gp_metric_chip_of(a.request.chip);
	gp_table_open(&table, &a.table->head);
	status = a.table->fill(&a.request, &table);
	if (status == 0)
		status = write_table(&a, &table);
	gp_table_close(&table);
	return status;
}

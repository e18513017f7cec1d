#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/diff/check_request.h"
#include "report/diff/figures.h"
#include "report/document/table_writer.h"
#include "report/load/traces.h"

struct arguments {
	struct gp_check_request request;
	const char *write_baseline, *calibrate;
};

static const char usage[] =
	"usage: gpuprof check --baseline BASE [options] RUN...\n"
	"       gpuprof check --write-baseline BASE RUN...\n"
	"       gpuprof check --calibrate THRESHOLDS RUN...\n"
	"\n"
	"Check whether a program does more work, or takes longer, than before: a gate for CI.  A RUN\n"
	"is a trace file, or a folder with the traces of all processes of one run.  `gpuprof-run\n"
	"--runs 7 --check BASE -- PROGRAM` records the runs and checks them.\n"
	"\n"
	"Counts and bytes are compared exactly; times are compared by rank tests, which need several\n"
	"runs: begin with 20 for the baseline and 7 for the check.\n"
	"\n"
	"  pass          nothing is worse by more than the thresholds\n"
	"  regression    some metric is worse by more than its threshold; fewer than 1 in 100 checks\n"
	"                of equal programs reports a regression by chance\n"
	"  inconclusive  there are too few runs (the report says how many are needed), or a trace\n"
	"                is incomplete\n"
	"\n"
	"  -b, --baseline BASE        compare with this baseline\n"
	"  -w, --write-baseline BASE  write the baseline of these runs\n"
	"  -c, --calibrate FILE       write thresholds that fit the variation of these runs of one\n"
	"                             program (- for standard output)\n"
	"  -t, --thresholds FILE      read the thresholds: lines such as `wall 5% 1ms`, `launches 2`,\n"
	"                             `copy_time off`, `kernel /gemm/ 10%` (default: 0 for counts\n"
	"                             and bytes, 5% and at least 50us for times, 5% for energy)\n"
	"  -s, --strict               fail if inconclusive\n"
	"  -a, --all                  print the metrics that passed, too\n"
	"      --any-device           accept a baseline of another device\n"
	"      --markdown FILE        write the report as GitHub markdown (- for standard output)\n"
	"      --junit FILE           write the report as JUnit XML\n"
	"      --json FILE            write the report as JSON\n"
	"      --list                 print the metrics\n"
	"  -h, --help                 print this text\n"
	"\n"
	"  gpuprof-run --runs 20 -o runs -- ./app\n"
	"  gpuprof check --write-baseline base.json runs/*\n"
	"  gpuprof check --baseline base.json --junit check.xml new/*\n"
	"\n"
	"Exit status: 0 pass, or inconclusive without --strict; 80 regression; 81 inconclusive with\n"
	"--strict; 64 wrong options or thresholds, or a baseline of another device; 1 if a file\n"
	"cannot be read or written.\n";

static void print_metrics(void)
{
	for (int i = 0; i < GP_METRICS; i++)
		printf("%-26s %-5s  %s%s\n", gp_metric_rows[i].name,
		       gp_unit_name(gp_metric_rows[i].unit), gp_metric_rows[i].meaning,
		       gp_metric_rows[i].gated ? "" : " (checked only if the thresholds name it)");
	printf("%-26s %-5s  %s\n", "kernel", gp_unit_name(GP_UNIT_NS),
	       "all launches of one kernel: the 20 longest kernels, and those that the thresholds name");
}

static int refuse(const char *why)
{
	return gp_command_fail(GP_EXIT_USAGE, "check: %s; see gpuprof check --help", why);
}

static int check(const struct arguments *a)
{
	const struct gp_check_request *request = &a->request;
	int asked =
		(request->baseline != NULL) + (a->write_baseline != NULL) + (a->calibrate != NULL);

	if (asked == 0)
		return refuse("name the baseline to compare with (-b BASE) or to write (-w BASE)");
	if (asked > 1)
		return refuse("--baseline, --write-baseline and --calibrate exclude each other");
	if (request->run_count == 0)
		return refuse("no run given; name trace files or folders of traces");
	return GP_COMMAND_GO_ON;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* Standard output takes one report only. */
static FILE *text_of(const struct gp_check_request *request)
{
	return is_stdout(request->markdown) || is_stdout(request->junit) || is_stdout(request->json)
		       ? NULL
		       : stdout;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	struct gp_check_request *request = &a->request;
	const struct gp_command_option options[] = {
		{"baseline", 'b', .text = &request->baseline},
		{"write-baseline", 'w', .text = &a->write_baseline},
		{"calibrate", 'c', .text = &a->calibrate},
		{"thresholds", 't', .text = &request->thresholds},
		{"strict", 's', .flag = &request->strict},
		{"all", 'a', .flag = &request->all},
		{"any-device", .flag = &request->any_device},
		{"markdown", .text = &request->markdown},
		{"junit", .text = &request->junit},
		{"json", .text = &request->json},
		{"list", .print = print_metrics},
		{0},
	};
	const struct gp_command_line line = {
		.command = "check", .usage = usage, .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	request->runs = argv + optind;
	request->run_count = (size_t)(argc - optind);
	request->text = text_of(request);
	return status == GP_COMMAND_GO_ON ? check(a) : status;
}

int gp_command_check(int argc, char **argv)
{
	struct arguments a = {0};
	struct gp_check_request *request = &a.request;
	int status = parse(argc, argv, &a);

	if (status != GP_COMMAND_GO_ON)
		return status == GP_EXIT_USAGE ? GP_CHECK_EXIT_USAGE : status;
	gp_traces_name_once((char **)request->runs, &request->run_count);
	if (a.write_baseline)
		return gp_check_write_baseline(a.write_baseline, request->runs, request->run_count);
	if (a.calibrate)
		return gp_check_calibrate(a.calibrate, request->runs, request->run_count);
	return gp_check_run(request);
}

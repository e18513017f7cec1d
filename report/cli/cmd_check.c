#include <getopt.h>
#include <stdio.h>
#include <string.h>

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
	"Say whether a program does more, or takes longer, than it did: a gate for CI.  A RUN is a\n"
	"trace file, or a folder with the traces of all processes of one run.  `gpuprof-run --runs 7\n"
	"--check BASE -- PROGRAM` makes the runs and checks them in one go.\n"
	"\n"
	"Counts and bytes are compared first, as they are; then times, by rank tests, which need\n"
	"several runs: 20 for the baseline and 7 for the check are a good start.\n"
	"\n"
	"  pass          nothing is worse by more than the thresholds\n"
	"  regression    something is; with all metrics together, that is wrong for less than 1 in\n"
	"                100 checks of equal programs\n"
	"  inconclusive  these runs cannot tell, or a trace is partial; it says how many runs would\n"
	"\n"
	"  -b, --baseline BASE        the baseline to compare with\n"
	"  -w, --write-baseline BASE  write the baseline of these runs\n"
	"  -c, --calibrate FILE       write thresholds that suit how much these runs of one program\n"
	"                             vary (- for standard output)\n"
	"  -t, --thresholds FILE      what is tolerated: lines such as `wall 5% 1ms`, `launches 2`,\n"
	"                             `copy_time off`, `kernel /gemm/ 10%` (default: of counts and\n"
	"                             bytes nothing, of times 5% and at least 50us)\n"
	"  -s, --strict               inconclusive fails, too\n"
	"  -a, --all                  print also what passed\n"
	"      --any-device           compare also with the baseline of another device\n"
	"      --markdown FILE        write the report as GitHub markdown (- for standard output)\n"
	"      --junit FILE           the same as JUnit XML\n"
	"      --json FILE            the same as JSON\n"
	"      --list                 print the metrics\n"
	"  -h, --help                 this text\n"
	"\n"
	"  gpuprof-run --runs 20 -o runs -- ./app\n"
	"  gpuprof check --write-baseline base.json runs/*\n"
	"  gpuprof check --baseline base.json --junit check.xml new/*\n"
	"\n"
	"Exit status: 0 pass, or inconclusive without --strict; 80 regression; 81 inconclusive with\n"
	"--strict; 64 wrong options or thresholds, or a baseline of another device; 1 a file that\n"
	"cannot be read or written.\n";

static void print_metrics(void)
{
	for (int i = 0; i < GP_METRICS; i++)
		printf("%-26s %-5s  %s%s\n", gp_metric_rows[i].name,
		       gp_unit_name(gp_metric_rows[i].unit), gp_metric_rows[i].meaning,
		       gp_metric_rows[i].gated ? "" : " (judged only where thresholds name it)");
	printf("%-26s %-5s  %s\n", "kernel", gp_unit_name(GP_UNIT_NS),
	       "of one kernel's launches together: the 20 longest, and those that thresholds name");
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
		return refuse(
			"say with -b BASE which baseline to compare with, or with -w BASE which to write");
	if (asked > 1)
		return refuse("--baseline, --write-baseline and --calibrate exclude each other");
	if (request->run_count == 0)
		return refuse("name traces, or folders of traces");
	return GP_COMMAND_GO_ON;
}

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

/* One report at a time is on stdout. */
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
	if (gp_traces_name_once((char **)request->runs, &request->run_count) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (a.write_baseline)
		return gp_check_write_baseline(a.write_baseline, request->runs, request->run_count);
	if (a.calibrate)
		return gp_check_calibrate(a.calibrate, request->runs, request->run_count);
	return gp_check_run(request);
}

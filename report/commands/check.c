#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/command.h"
#include "report/diff/check_request.h"
#include "report/diff/figures.h"
#include "report/sheet_writer.h"
#include "report/traces.h"

enum parsed { RUN, DONE, WRONG };

struct arguments {
	struct gp_check_request request;
	const char *write_baseline, *calibrate;
};

static const char usage[] =
	"usage: gpuprof check --baseline BASE [options] RUN...\n"
	"       gpuprof check --write-baseline BASE RUN...\n"
	"       gpuprof check --calibrate THRESHOLDS RUN...\n"
	"\n"
	"Say whether a program does more, or takes longer, than it did: a gate for CI.  A RUN is "
	"a\n"
	"trace file, or a folder with the traces of all processes of one run.  `gpuprof-run --runs "
	"7\n"
	"--check BASE -- PROGRAM` makes the runs and checks them in one go.\n"
	"\n"
	"Counts and bytes are compared first, as they are; then times, by rank tests, which need\n"
	"several runs: 20 for the baseline and 7 for the check are a good start.\n"
	"\n"
	"  pass          nothing is worse by more than the thresholds\n"
	"  regression    something is; with all metrics together, that is wrong for less than 1 "
	"in\n"
	"                100 checks of equal programs\n"
	"  inconclusive  these runs cannot tell, or a trace is partial; it says how many runs "
	"would\n"
	"\n"
	"  -b, --baseline BASE        the baseline to compare with\n"
	"  -w, --write-baseline BASE  write the baseline of these runs\n"
	"  -c, --calibrate FILE       write thresholds that suit how much these runs of one "
	"program\n"
	"                             vary (- for standard output)\n"
	"  -t, --thresholds FILE      what is tolerated: lines such as `wall 5% 1ms`, `launches "
	"2`,\n"
	"                             `copy_time off`, `kernel /gemm/ 10%` (default: of counts "
	"and\n"
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
	"Exit status: 0 pass, or inconclusive without --strict; 80 regression; 81 inconclusive "
	"with\n"
	"--strict; 64 wrong options or thresholds, or a baseline of another device; 1 a file that\n"
	"cannot be read or written.\n";

/* Options without a letter. */
enum { ANY_DEVICE = 256, MARKDOWN, JUNIT, JSON, LIST };

static void print_metrics(void)
{
	for (int i = 0; i < GP_METRICS; i++)
		printf("%-26s %-5s  %s%s\n", gp_metric_rows[i].name,
		       gp_sheet_unit_name(gp_metric_rows[i].unit), gp_metric_rows[i].meaning,
		       gp_metric_rows[i].gated ? "" : " (judged only where thresholds name it)");
	printf("%-26s %-5s  %s\n", "kernel", gp_sheet_unit_name(GP_UNIT_NS),
	       "of one kernel's launches together: the 20 longest, and those that thresholds name");
}

static enum parsed take_option(struct arguments *a, int c)
{
	struct gp_check_request *request = &a->request;

	switch (c) {
	case 'b':
		request->baseline = optarg;
		return RUN;
	case 'w':
		a->write_baseline = optarg;
		return RUN;
	case 'c':
		a->calibrate = optarg;
		return RUN;
	case 't':
		request->thresholds = optarg;
		return RUN;
	case 's':
		request->strict = true;
		return RUN;
	case 'a':
		request->all = true;
		return RUN;
	case ANY_DEVICE:
		request->any_device = true;
		return RUN;
	case MARKDOWN:
		request->markdown = optarg;
		return RUN;
	case JUNIT:
		request->junit = optarg;
		return RUN;
	case JSON:
		request->json = optarg;
		return RUN;
	case LIST:
		print_metrics();
		return DONE;
	case 'h':
		fputs(usage, stdout);
		return DONE;
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed refuse(const char *why)
{
	gp_command_fail(0, "check: %s; see gpuprof check --help", why);
	return WRONG;
}

static enum parsed check(const struct arguments *a)
{
	const struct gp_check_request *request = &a->request;
	int asked =
		(request->baseline != NULL) + (a->write_baseline != NULL) + (a->calibrate != NULL);

	if (asked == 0)
		return refuse("name a baseline to compare with, or one to write");
	if (asked > 1)
		return refuse("--baseline, --write-baseline and --calibrate exclude each other");
	if (request->run_count == 0)
		return refuse("name traces, or folders of traces");
	return RUN;
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

static enum parsed parse(int argc, char **argv, struct arguments *a)
{
	static const struct option table[] = {
		{"baseline", required_argument, NULL, 'b'},
		{"write-baseline", required_argument, NULL, 'w'},
		{"calibrate", required_argument, NULL, 'c'},
		{"thresholds", required_argument, NULL, 't'},
		{"strict", no_argument, NULL, 's'},
		{"all", no_argument, NULL, 'a'},
		{"any-device", no_argument, NULL, ANY_DEVICE},
		{"markdown", required_argument, NULL, MARKDOWN},
		{"junit", required_argument, NULL, JUNIT},
		{"json", required_argument, NULL, JSON},
		{"list", no_argument, NULL, LIST},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	enum parsed parsed = RUN;

	for (int c;
	     parsed == RUN && (c = getopt_long(argc, argv, "b:w:c:t:sah", table, NULL)) != -1;)
		parsed = take_option(a, c);
	a->request.runs = argv + optind;
	a->request.run_count = (size_t)(argc - optind);
	a->request.text = text_of(&a->request);
	return parsed == RUN ? check(a) : parsed;
}

int gp_command_check(int argc, char **argv)
{
	struct arguments a = {0};
	enum parsed parsed = parse(argc, argv, &a);
	struct gp_check_request *request = &a.request;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_CHECK_EXIT_USAGE;
	request->run_count = gp_traces_name_once((char **)request->runs, request->run_count);
	if (a.write_baseline)
		return gp_check_write_baseline(a.write_baseline, request->runs, request->run_count);
	if (a.calibrate)
		return gp_check_calibrate(a.calibrate, request->runs, request->run_count);
	return gp_check_run(request);
}

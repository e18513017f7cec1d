#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/cli/align_hosts.h"
#include "report/cli/command_line.h"
#include "report/cli/large_job.h"
#include "report/diff/run_set.h"
#include "report/base/text/format.h"
#include "report/analysis/host/python_samples.h"
#include "report/html/html.h"
#include "report/codec/output_file.h"
#include "report/load/traces.h"

static const char usage[] =
	"usage: gpuprof html [options] FILE|FOLDER...\n"
	"       gpuprof html -o OUT [options] A... -- B...\n"
	"\n"
	"Write one HTML file that shows a whole recording: an overview, a timeline, tables, flame\n"
	"graphs, memory over time.  Any current browser opens it with a double click; it loads nothing\n"
	"from the network.  Several trace files of one run become one page.  A... -- B... are sets of\n"
	"repeated runs, as for gpuprof diff: the page compares all of them, and otherwise shows the\n"
	"run of B with the median wall time.\n"
	"\n"
	"  -o, --output OUT     write to OUT, - for standard output (default: NAME.html beside the\n"
	"                       first NAME.gpuprof); NAME.gz is compressed\n"
	"  -l, --limit N        group short neighbors in the timeline if there are more than N calls,\n"
	"                       operations and ranges (default: 4000000; 0 = group none)\n"
	"      --min-duration TIME  group events shorter than TIME in the timeline with neighbors that\n"
	"                       are closer than TIME: 10us\n"
	"      --counters       add queue lengths of streams and bandwidth of copies to the timeline\n"
	"  -c, --compare BASE   compare with another run: BASE is its trace file; give the option once\n"
	"                       for each of its processes\n"
	"  -h, --help           print this text\n"
	"\n"
	"  gpuprof html --compare before.gpuprof after.gpuprof\n"
	"  gpuprof html -o compared.html before/* -- after/*\n"
	"  gpuprof html gpuprof-app-1234.gpuprof\n"
	"  gpuprof html -o report.html rank*.gpuprof\n"
	"  gpuprof html --min-duration 20us trace.json.gz\n"
	"\n"
	"Exit status: 0, also if a damaged file could be read in part (the page says so); 1 if a file\n"
	"could not be read at all (the others are used); 2 for a wrong command line.\n";

struct arguments {
	const char *output; /* NULL = not given */
	char **bases;       /* has space for all words */
	size_t base_count;
	char **runs; /* the runs to compare with */
	size_t run_count;
	char **traces; /* the runs that are compared */
	size_t trace_count;
	struct gp_run_set base_set, run_set;
	struct gp_html_options options;
};

static int take_base(const struct gp_command_line *line, const char *path)
{
	struct arguments *a = line->arguments;

	a->bases[a->base_count++] = (char *)path;
	return GP_COMMAND_GO_ON;
}

static int check(const struct arguments *a)
{
	int status = gp_command_check_traces("html", a->output, a->traces, a->trace_count);

	if (status != GP_COMMAND_GO_ON)
		return status;
	if (a->run_count > 0 && a->base_count > 0)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"html: the runs before -- are the base of the comparison; leave out --compare %s",
			a->bases[0]);
	if (a->run_count > 0 && !a->output)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"html: the page cannot lie beside the traces, where the next comparison would read it as a run; name another place with -o OUT");
	if (!gp_command_output_is_free("html", a->output, a->bases, a->base_count) ||
	    !gp_command_output_is_free("html", a->output, a->runs, a->run_count))
		return GP_EXIT_USAGE;
	return GP_COMMAND_GO_ON;
}

/* Words before "--" are the runs to compare with. */
static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"output", 'o', .text = &a->output},
		{"limit", 'l', .number = &a->options.event_limit, .most = GP_COMMAND_MOST},
		{"compare", 'c', .take = take_base},
		{"min-duration", .time_ns = &a->options.least_ns},
		{"counters", .flag = &a->options.counters},
		{0},
	};
	const struct gp_command_line line = {
		.command = "html", .usage = usage, .options = options, .arguments = a};
	int separator = 1, status;

	while (separator < argc && strcmp(argv[separator], "--") != 0)
		separator++;
	status = gp_command_line_read(&line, separator, argv);
	a->traces = argv + optind;
	a->trace_count = (size_t)(separator - optind);
	if (separator < argc) {
		a->runs = a->traces;
		a->run_count = a->trace_count;
		a->traces = argv + separator + 1;
		a->trace_count = (size_t)(argc - separator - 1);
	}
	return status == GP_COMMAND_GO_ON ? check(a) : status;
}

static void explain(const struct gp_html_result *result)
{
	if (result->is_limited)
		fprintf(stderr,
			"gpuprof: the page's timeline groups %s events shorter than %s with their neighbors; to draw each, add --limit 0\n",
			gp_format_count(result->grouped).text, gp_format_ns(result->least_ns).text);
	if (result->crowded > 0)
		fprintf(stderr,
			"gpuprof: the page's timeline draws %s events together in the last row of their track, as too many overlap; the tables have each of them\n",
			gp_format_count(result->crowded).text);
	gp_host_depth_explain(&result->host_depth, stderr);
}

static int write_page(struct gp_model *const *models, size_t count, const struct arguments *a,
		      const char *trace, const char *path)
{
	char message[GP_MESSAGE_BYTES];
	struct gp_html_result written = {0};
	struct gp_output_file file;
	size_t length = strlen(path);
	int result = gp_output_file_open(&file, path, a->output ? NULL : trace, message,
					 sizeof(message));

	if (result == 0) {
		if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
			result = gp_output_file_compress(&file);
		if (result == 0)
			result = gp_html_write(models, count, &a->options, file.stream, &written);
		result = gp_output_file_close(&file, result, message, sizeof(message));
	}
	if (result != 0)
		return gp_command_fail(GP_EXIT_FAILED, "%s", message);
	explain(&written);
	return gp_command_wrote(path, a->output);
}

/* "." and ".." have no name that a page could have. */
static char *name_of(const char *trace)
{
	const char *slash = strrchr(trace, '/'), *last = slash ? slash + 1 : trace;
	bool is_dots = strcmp(last, ".") == 0 || strcmp(last, "..") == 0;

	return is_dots ? realpath(trace, NULL) : strdup(trace);
}

static int write_named(struct gp_model *const *models, size_t count, const struct arguments *a)
{
	char *trace = name_of(a->traces[0]);
	char *path = a->output ? strdup(a->output)
		     : trace   ? gp_output_path(trace, GP_HTML_SUFFIX)
			       : NULL;
	int status = path ? write_page(models, count, a, trace, path)
			  : gp_command_fail(GP_EXIT_FAILED, "no memory");

	free(trace);
	free(path);
	return status;
}

/*
 * Writes the page, compared with another run if one is given. Fails if that run cannot be read: a
 * page without it would replace one that has it.
 */
static int write_compared(const struct gp_traces *traces, void *arguments)
{
	struct arguments *a = arguments;
	struct gp_traces bases = {0};
	int status = 0;

	if (gp_align_hosts(traces->models, traces->count) < 0)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	if (a->base_count > 0 && gp_traces_load(&bases, a->bases, a->base_count, true) < 0)
		status = gp_command_fail(GP_EXIT_FAILED, "no memory");
	else if (bases.any_failed)
		status = GP_EXIT_FAILED;
	a->options.base = bases.models;
	a->options.base_count = bases.count;
	if (status == 0)
		status = write_named(traces->models, traces->count, a);
	gp_traces_free(&bases);
	return status;
}

/* Loads some of the ranks of a large job; -ENODATA: it is none (gp_large_job_load()). */
static int load_shown(struct gp_job *job, struct gp_traces *traces, char *const *paths,
		      size_t count)
{
	int result = gp_large_job_load(job, traces, paths, count);

	if (result == 0)
		gp_large_job_explain(job, "the page compares all ranks; its timeline is");
	return result;
}

/* The page of one run, all of which is in memory, or some of the ranks of a large job. */
static int write_run(struct arguments *a)
{
	struct gp_traces traces;
	struct gp_job job;
	int result = load_shown(&job, &traces, a->traces, a->trace_count), status;

	if (result == 0) {
		a->options.job = &job;
		status = write_compared(&traces, a);
		status = status == 0 && traces.any_failed ? GP_EXIT_FAILED : status;
		a->options.job = NULL;
	} else if (result == -ENODATA) {
		status = gp_traces_use(a->traces, a->trace_count, write_compared, a);
	} else {
		status = gp_command_fail(GP_EXIT_FAILED, "no memory");
	}
	gp_traces_free(&traces);
	gp_job_free(&job);
	return status;
}

/* ---- sets of runs ---- */

/* A run of a set: all of its processes, or some of the ranks of a large job. */
struct shown {
	struct gp_traces traces;
	struct gp_job job;
};

static int load_middle(struct shown *shown, const struct gp_run_set *set, char *message,
		       size_t message_bytes)
{
	char *path = gp_run_set_middle(set)->name;
	int result = load_shown(&shown->job, &shown->traces, &path, 1);
	struct gp_run_models run;

	if (result != -ENODATA) {
		snprintf(message, message_bytes, "no memory");
		return result;
	}
	result = gp_run_models_load(&run, path, message, message_bytes);
	shown->traces = (struct gp_traces){.models = run.models, .count = run.count};
	return result;
}

static void free_shown(struct shown *shown)
{
	gp_traces_free(&shown->traces);
	gp_job_free(&shown->job);
}

static int fail_runs(const char *message)
{
	return gp_command_fail(GP_EXIT_FAILED, "html: %s", message);
}

/* Loads the metrics of all runs into set, and the median run into shown. */
static int load_runs(char **paths, size_t count, struct gp_run_set *set, struct shown *shown)
{
	char message[GP_MESSAGE_BYTES];

	gp_traces_name_once(paths, &count);
	if (gp_run_set_load(set, paths, count, message, sizeof(message)) < 0 ||
	    load_middle(shown, set, message, sizeof(message)) < 0)
		return fail_runs(message);
	return 0;
}

static int write_sets(struct arguments *a)
{
	struct shown base = {0}, run = {0};
	int status = load_runs(a->runs, a->run_count, &a->base_set, &base);

	if (status == 0)
		status = load_runs(a->traces, a->trace_count, &a->run_set, &run);
	a->options.base = base.traces.models;
	a->options.base_count = base.traces.count;
	a->options.job = run.job.count > 0 ? &run.job : NULL;
	a->options.base_runs = &a->base_set;
	a->options.runs = &a->run_set;
	if (status == 0)
		status = write_named(run.traces.models, run.traces.count, a);
	a->options.job = NULL;
	free_shown(&base);
	free_shown(&run);
	gp_run_set_free(&a->base_set);
	gp_run_set_free(&a->run_set);
	return status;
}

/* The figures of large jobs are added up rank by rank, as those of repeated runs are. */
static bool compares_large_jobs(const struct arguments *a)
{
	return a->base_count == 1 && a->trace_count == 1 &&
	       (gp_traces_are_many(a->bases, 1, GP_JOB_SHOWN) ||
		gp_traces_are_many(a->traces, 1, GP_JOB_SHOWN));
}

int gp_command_html(int argc, char **argv)
{
	struct arguments a = {.options.event_limit = GP_HTML_EVENTS,
			      .bases = calloc((size_t)argc + 1, sizeof(char *))};
	int status;

	status = parse(argc, argv, &a);
	if (status == GP_COMMAND_GO_ON && compares_large_jobs(&a)) {
		a.runs = a.bases;
		a.run_count = a.base_count;
	}
	if (status == GP_COMMAND_GO_ON && a.run_count > 0)
		status = write_sets(&a);
	else if (status == GP_COMMAND_GO_ON)
		status = write_run(&a);
	free(a.bases);
	return status;
}

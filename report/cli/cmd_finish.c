#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/option.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/cli/command_line.h"
#include "report/finish/finish.h"
#include "report/trace/orphans.h"
#include "report/load/traces.h"

#define MOST_SLICES 999999999999999999u /* of GPUPROF_CHROME_LIMIT */

static const char usage[] =
	"usage: gpuprof finish [options] FILE...\n"
	"\n"
	"Complete the traces of a program that has ended: write NAME.json beside each NAME.gpuprof and\n"
	"print one summary on stderr.  If the program was killed, its last records are moved from\n"
	"/dev/shm into its trace.  The environment (GPUPROF_SUMMARY, ...) sets the defaults of the\n"
	"options, as for the program.\n"
	"\n"
	"  -s, --summary WHERE   print to stderr, to none, or append to a file (%p, %n, %h, %r, %q{VAR}\n"
	"                        as in gpuprof-run --output, for the first FILE)\n"
	"      --chrome FORMAT   write json or none\n"
	"      --chrome-limit N  write only the last N slices to the Chrome trace, 0 = all\n"
	"      --html            write one HTML page of all FILEs, beside the first one\n"
	"  -q, --quiet           print nothing\n"
	"      --progress-fd N   write a byte to descriptor N as a sign of progress\n"
	"  -h, --help            print this text\n";

static const char *from_environment(enum gp_option option)
{
	char variable[64];
	const char *value;

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	value = getenv(variable);
	return value && *value ? value : gp_option_rows[option].value;
}

static int take_progress_fd(const struct gp_command_line *line, const char *text)
{
	struct gp_finish_options *options = line->arguments;
	uint64_t number;

	if (!gp_command_number("finish", "--progress-fd", text, INT32_MAX, &number))
		return GP_EXIT_USAGE;
	options->progress_fd = (int)number;
	return GP_COMMAND_GO_ON;
}

static int parse(int argc, char **argv, struct gp_finish_options *options)
{
	const struct gp_command_option table[] = {
		{"summary", 's', .text = &options->summary},
		{"chrome", .text = &options->chrome},
		{"chrome-limit", .number = &options->chrome_limit, .most = MOST_SLICES},
		{"html", .flag = &options->html},
		{"quiet", 'q', .flag = &options->quiet},
		{"progress-fd", .take = take_progress_fd},
		{0},
	};
	const struct gp_command_line line = {
		.command = "finish", .usage = usage, .options = table, .arguments = options};
	int status;

	options->summary = from_environment(GP_OPTION_ID_SUMMARY);
	options->chrome = from_environment(GP_OPTION_ID_CHROME);
	options->html = strcmp(from_environment(GP_OPTION_ID_HTML), "0") != 0;
	options->quiet = strcmp(from_environment(GP_OPTION_ID_QUIET), "0") != 0;
	if (!gp_command_number("finish", "GPUPROF_CHROME_LIMIT",
			       from_environment(GP_OPTION_ID_CHROME_LIMIT), MOST_SLICES,
			       &options->chrome_limit))
		return GP_EXIT_USAGE;
	status = gp_command_line_read(&line, argc, argv);
	if (status != GP_COMMAND_GO_ON || optind < argc)
		return status;
	return gp_command_fail(GP_EXIT_USAGE,
			       "finish: name trace files; see gpuprof finish --help");
}

int gp_command_finish(int argc, char **argv)
{
	struct gp_finish_options options = {.progress_fd = -1};
	int result, status = parse(argc, argv, &options);
	size_t count;

	if (status != GP_COMMAND_GO_ON)
		return status;
	/*
	 * The reader of the progress or of stderr may end before this process. Writes beyond
	 * RLIMIT_FSIZE fail instead.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	options.at_exit = options.progress_fd >= 0; /* the library sets --progress-fd */
	count = (size_t)(argc - optind);
	gp_traces_name_once(argv + optind, &count);
	result = gp_finish(argv + optind, count, &options);
	gp_orphans_save(argv[optind]);
	return result == 0 ? 0 : GP_EXIT_FAILED;
}

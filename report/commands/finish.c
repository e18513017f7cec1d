#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/option.h"
#include "report/command.h"
#include "report/finish.h"
#include "report/orphans.h"
#include "report/traces.h"

#define MOST_SLICES 999999999999999999u /* what GPUPROF_CHROME_LIMIT may be */

static const char usage[] =
	"usage: gpuprof finish [options] FILE...\n"
	"\n"
	"Do what is done when a profiled program ends: write NAME.json beside each NAME.gpuprof "
	"and\n"
	"print one summary on stderr.  What the rings of a killed program still hold in /dev/shm "
	"is\n"
	"moved into its trace.  Options that are not given come from the environment\n"
	"(GPUPROF_SUMMARY, ...), as for the program.\n"
	"\n"
	"  -s, --summary WHERE   stderr, none, or a file to append to (%p, %n, %h, %q{VAR} as in\n"
	"                        gpuprof-run --output, of the first FILE)\n"
	"      --chrome FORMAT   json or none\n"
	"      --chrome-limit N  only the last N slices in the Chrome trace, 0 = all\n"
	"      --html            one HTML page of all of them, beside the first one, for a "
	"browser\n"
	"  -q, --quiet           print nothing\n"
	"      --progress-fd N   write a byte to descriptor N now and then\n"
	"  -h, --help            this text\n";

enum parsed { RUN, DONE, WRONG };
enum { CHROME = 256, CHROME_LIMIT, HTML, PROGRESS_FD };

static const char *from_environment(enum gp_option option)
{
	char variable[64];
	const char *value;

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	value = getenv(variable);
	return value && *value ? value : gp_option_rows[option].value;
}

static enum parsed take_number(const char *option, const char *text, uint64_t most, uint64_t *value)
{
	return gp_command_number("finish", option, text, most, value) ? RUN : WRONG;
}

static enum parsed take_option(int c, struct gp_finish_options *options)
{
	enum parsed parsed = RUN;
	uint64_t number;

	switch (c) {
	case 's':
		options->summary = optarg;
		return RUN;
	case 'q':
		options->quiet = true;
		return RUN;
	case CHROME:
		options->chrome = optarg;
		return RUN;
	case HTML:
		options->html = true;
		return RUN;
	case CHROME_LIMIT:
		return take_number("--chrome-limit", optarg, MOST_SLICES, &options->chrome_limit);
	case PROGRESS_FD:
		parsed = take_number("--progress-fd", optarg, INT32_MAX, &number);
		options->progress_fd = (int)number;
		return parsed;
	case 'h':
		fputs(usage, stdout);
		return DONE;
	default:
		return WRONG; /* getopt has said why */
	}
}

static enum parsed parse(int argc, char **argv, struct gp_finish_options *options)
{
	static const struct option table[] = {
		{"summary", required_argument, NULL, 's'},
		{"chrome", required_argument, NULL, CHROME},
		{"chrome-limit", required_argument, NULL, CHROME_LIMIT},
		{"html", no_argument, NULL, HTML},
		{"quiet", no_argument, NULL, 'q'},
		{"progress-fd", required_argument, NULL, PROGRESS_FD},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	enum parsed parsed =
		take_number("GPUPROF_CHROME_LIMIT", from_environment(GP_OPTION_ID_CHROME_LIMIT),
			    MOST_SLICES, &options->chrome_limit);

	options->summary = from_environment(GP_OPTION_ID_SUMMARY);
	options->chrome = from_environment(GP_OPTION_ID_CHROME);
	options->html = strcmp(from_environment(GP_OPTION_ID_HTML), "0") != 0;
	options->quiet = strcmp(from_environment(GP_OPTION_ID_QUIET), "0") != 0;
	for (int c; parsed == RUN && (c = getopt_long(argc, argv, "s:qh", table, NULL)) != -1;)
		parsed = take_option(c, options);
	if (parsed != RUN || optind < argc)
		return parsed;
	gp_command_fail(0, "finish: name trace files; see gpuprof finish --help");
	return WRONG;
}

int gp_command_finish(int argc, char **argv)
{
	struct gp_finish_options options = {.progress_fd = -1};
	enum parsed parsed = parse(argc, argv, &options);
	size_t count;
	int result;

	if (parsed != RUN)
		return parsed == DONE ? 0 : GP_EXIT_USAGE;
	/* whoever waited for progress, or read stderr, may go before we are done; a file that may not grow is an error */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	options.at_exit = options.progress_fd >= 0; /* the library has one */
	count = gp_traces_name_once(argv + optind, (size_t)(argc - optind));
	result = gp_finish(argv + optind, count, &options);
	gp_orphans_save(argv[optind]);
	return result == 0 ? 0 : GP_EXIT_FAILED;
}

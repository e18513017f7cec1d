/* Two commands: attach and detach. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/attach/attach.h"
#include "report/base/text/text.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/run/options.h"

static const char attach_usage[] =
	"usage: gpuprof attach PID [options]\n"
	"\n"
	"Start recording in a running program of Python 3.14 or later that uses CUDA already, by Python's\n"
	"own interface for debuggers (sys.remote_exec).  The program must belong to you, and the kernel\n"
	"must allow you to trace it.  Its main thread takes the request before its next Python\n"
	"instruction; while it runs C code or waits, it does not.  What happened before is unknown.\n"
	"\n"
	"Options of gpuprof-run choose what is recorded: --output, --trace, --stacks, --sample,\n"
	"--duration, --keep-last and others.  Those that need the start of a program, or concern its end,\n"
	"are refused.  --delay counts from now.\n"
	"\n"
	"      --python PROGRAM  call this Python, of the same version, instead of the program's own\n"
	"      --timeout S       wait at most S seconds for the program to take the request (default 10)\n"
	"  -h, --help            print this text\n"
	"\n"
	"  gpuprof attach 1234\n"
	"  gpuprof attach 1234 --stacks all --duration 10\n"
	"  gpuprof detach 1234\n";

static const char detach_usage[] =
	"usage: gpuprof detach PID [options]\n"
	"\n"
	"End a recording that gpuprof attach has started, and finish its trace as gpuprof finish does,\n"
	"whose options this command takes.  The program goes on.  CUPTI calls nothing of gpuprof any\n"
	"more, its threads and rings are gone; its library stays mapped, without a cost.\n"
	"\n"
	"      --python PROGRAM  call this Python, of the same version, instead of the program's own\n"
	"      --timeout S       wait at most S seconds for the program to take the request (default 10)\n"
	"  -h, --help            print this text\n";

#define LIMIT_S      10
#define MOST_LIMIT_S 86400

struct arguments {
	const char *command, *usage;
	struct gp_attach attach;
};

/* Options that cannot hold in a running program, and why. */
static const struct {
	enum gp_option option;
	const char *why;
} refused[] = {
#define AT_DETACH "gpuprof detach finishes the trace: give it to that"
	{GP_OPTION_ID_SUMMARY, AT_DETACH},
	{GP_OPTION_ID_CHROME, AT_DETACH},
	{GP_OPTION_ID_CHROME_LIMIT, AT_DETACH},
	{GP_OPTION_ID_HTML, AT_DETACH},
	{GP_OPTION_ID_FINISH_TIMEOUT, AT_DETACH},
#define AT_START "it begins with the program's first context: start it with gpuprof-run"
	{GP_OPTION_ID_HW_TIMELINE, AT_START},
	{GP_OPTION_ID_STALLS, AT_START},
	{GP_OPTION_ID_COUNTERS, AT_START},
	{GP_OPTION_ID_ROOFLINE, AT_START},
	{GP_OPTION_ID_COUNTERS_INTERVAL, AT_START},
#define BY_LAUNCHER "gpuprof-run does that for a program that it starts"
	{GP_OPTION_ID_ENERGY, BY_LAUNCHER},
	{GP_OPTION_ID_FOLLOW, BY_LAUNCHER},
	{GP_OPTION_ID_WAIT, BY_LAUNCHER},
	{GP_OPTION_ID_RUNS, BY_LAUNCHER},
	{GP_OPTION_ID_CHECK, BY_LAUNCHER},
	{GP_OPTION_ID_THRESHOLDS, BY_LAUNCHER},
	{GP_OPTION_ID_STRICT, BY_LAUNCHER},
#define ONE_PROCESS "PID names the one process"
	{GP_OPTION_ID_PROCESSES, ONE_PROCESS},
	{GP_OPTION_ID_RANKS, ONE_PROCESS},
	{GP_OPTION_ID_SHARE, "only a library that is loaded at the start can share CUPTI"},
	{GP_OPTION_ID_TOGGLE_SIGNAL,
	 "a running program gets no handler of gpuprof: attach and detach instead"},
};

static const char *why_refused(enum gp_option option)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (refused[i].option == option)
			return refused[i].why;
	return NULL;
}

static int take_own(struct arguments *arguments, const char *name, const char *value)
{
	uint64_t number;

	if (value == NULL)
		return gp_command_fail(GP_EXIT_USAGE,
				       "option %s needs a value; see gpuprof %s --help", name,
				       arguments->command);
	if (strcmp(name, "--python") == 0) {
		arguments->attach.python = value;
		return GP_COMMAND_GO_ON;
	}
	if (!gp_command_number(arguments->command, name, value, MOST_LIMIT_S, &number))
		return GP_EXIT_USAGE;
	arguments->attach.limit_s = (unsigned)number;
	return GP_COMMAND_GO_ON;
}

/* Takes --python and --timeout, with their values, out of argv. */
static int take_own_options(struct arguments *arguments, int *argc, char **argv)
{
	static const char *const names[] = {"--python", "--timeout"};
	int kept = 1, status = GP_COMMAND_GO_ON;

	for (int i = 1; i < *argc && status == GP_COMMAND_GO_ON; i++) {
		size_t length = strcspn(argv[i], "=");
		const char *found = NULL;

		for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
			if (strlen(names[k]) == length && strncmp(argv[i], names[k], length) == 0)
				found = names[k];
		if (found == NULL)
			argv[kept++] = argv[i];
		else if (argv[i][length] == '=')
			status = take_own(arguments, found, argv[i] + length + 1);
		else if (i + 1 < *argc)
			status = take_own(arguments, found, argv[++i]);
		else
			status = take_own(arguments, found, NULL);
	}
	argv[kept] = NULL;
	*argc = kept;
	return status;
}

/* The number may come first or last; it becomes the last word. */
static bool take_pid(struct arguments *arguments, int *argc, char **argv)
{
	int at = *argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9' ? 1 : *argc - 1;
	char *end;
	unsigned long pid;

	errno = 0;
	pid = at > 0 ? strtoul(argv[at], &end, 10) : 0;
	if (at <= 0 || pid == 0 || pid > INT32_MAX || errno != 0 || *end != '\0')
		return false;
	arguments->attach.pid = (unsigned)pid;
	for (; at + 1 < *argc; at++)
		argv[at] = argv[at + 1];
	argv[--*argc] = NULL;
	return true;
}

static int begin(struct arguments *arguments, int *argc, char **argv)
{
	int status = take_own_options(arguments, argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	for (int i = 1; i < *argc; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(arguments->usage, stdout);
			return 0;
		}
	if (take_pid(arguments, argc, argv))
		return GP_COMMAND_GO_ON;
	return gp_command_fail(GP_EXIT_USAGE,
			       "%s: name a process by its number; see gpuprof %s --help",
			       arguments->command, arguments->command);
}

/* ---- attach ---- */

/* Paths count from the folder of the command, not from that of the program. */
static int make_absolute(const char *path, char *absolute, size_t bytes)
{
	char folder[PATH_MAX] = "";

	if (path[0] != '/' && path[0] != '\0' && getcwd(folder, sizeof(folder)) == NULL)
		return gp_command_fail(GP_EXIT_FAILED, "attach: the current folder is unknown: %s",
				       strerror(errno));
	if (snprintf(absolute, bytes, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", path) >=
	    (int)bytes)
		return gp_command_fail(GP_EXIT_FAILED, "attach: %s is too long", path);
	return 0;
}

/* The library would write these at the end of the program. */
static const char *const fixed[] = {GP_OPTION_PREFIX "CHROME=none", GP_OPTION_PREFIX "SUMMARY=none",
				    GP_OPTION_PREFIX "HTML=0"};
#define FIXED (sizeof(fixed) / sizeof(fixed[0]))

struct variables {
	char texts[GP_OPTIONS][PATH_MAX + 64];
	const char *list[FIXED + GP_OPTIONS + 1];
	size_t count;
};

static int add_variable(struct variables *variables, enum gp_option option, const char *value)
{
	char *text = variables->texts[option];
	int length = snprintf(text, sizeof(variables->texts[option]),
			      GP_OPTION_PREFIX "%s=", gp_option_rows[option].variable);

	variables->list[variables->count++] = text;
	if (option == GP_OPTION_ID_OUTPUT || option == GP_OPTION_ID_CUPTI)
		return make_absolute(value, text + length, PATH_MAX);
	snprintf(text + length, PATH_MAX, "%s", value);
	return 0;
}

static int add_variables(struct variables *variables, const struct gp_run_options *options)
{
	int status = 0;

	for (size_t i = 0; i < FIXED; i++)
		variables->list[variables->count++] = fixed[i];
	for (int i = 0; i < GP_OPTIONS && status == 0; i++) {
		const char *why = why_refused((enum gp_option)i);

		if (options->given[i] && why != NULL)
			return gp_command_fail(GP_EXIT_USAGE, "attach: there is no --%s here: %s",
					       gp_option_rows[i].long_name, why);
		if (why == NULL && (i == GP_OPTION_ID_OUTPUT ||
				    strcmp(options->values[i], gp_option_rows[i].value) != 0))
			status = add_variable(variables, (enum gp_option)i, options->values[i]);
	}
	return status;
}

static int read_options(struct variables *variables, int argc, char **argv, bool *is_quiet)
{
	struct gp_run_options options;
	char **words = calloc((size_t)argc + 2, sizeof(*words));
	char message[1024];
	int status;

	/* the parser wants a program, which is the process here */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	words[argc] = "PID";
	if (gp_run_options_parse(&options, argc + 1, words, message, sizeof(message)) != 0)
		status = gp_command_fail(GP_EXIT_USAGE, "attach: %s", message);
	else if (options.program[1] != NULL)
		status = gp_command_fail(GP_EXIT_USAGE,
					 "attach: %s is no option; see gpuprof attach --help",
					 options.program[0]);
	else
		status = add_variables(variables, &options);
	*is_quiet = status == 0 && gp_run_options_flag(&options, GP_OPTION_ID_QUIET);
	free(words);
	return status;
}

int gp_command_attach(int argc, char **argv)
{
	static struct variables variables;
	struct arguments arguments = {.command = "attach",
				      .usage = attach_usage,
				      .attach = {.command = "attach", .limit_s = LIMIT_S}};
	char trace[PATH_MAX];
	bool is_quiet;
	int status = begin(&arguments, &argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	status = read_options(&variables, argc, argv, &is_quiet);
	if (status != 0)
		return status;
	arguments.attach.options = variables.list;
	status = gp_attach(&arguments.attach, trace);
	if (status != 0 || is_quiet)
		return status;
	printf("recording process %u into ", arguments.attach.pid);
	gp_text_print(stdout,
		      trace[0] != '\0' ? trace : "a trace that begins with its first context");
	printf("; to end it, type: gpuprof detach %u\n", arguments.attach.pid);
	return 0;
}

/* ---- detach ---- */

int gp_command_detach(int argc, char **argv)
{
	struct arguments arguments = {.command = "detach",
				      .usage = detach_usage,
				      .attach = {.command = "detach", .limit_s = LIMIT_S}};
	char trace[PATH_MAX];
	int status = begin(&arguments, &argc, argv);

	if (status != GP_COMMAND_GO_ON)
		return status;
	status = gp_attach(&arguments.attach, trace);
	if (status != 0)
		return status;
	if (trace[0] == '\0')
		return gp_command_fail(GP_EXIT_FAILED,
				       "detach: process %u had no context, so there is no trace",
				       arguments.attach.pid);
	argv[0] = "finish";
	argv[argc] = trace; /* where the number was */
	argv[argc + 1] = NULL;
	return gp_command_finish(argc + 1, argv);
}

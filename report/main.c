/* main: the program `gpuprof`, which runs one of its commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "gpuprof/version.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/text/did_you_mean.h"
#include "report/run/run.h"
#include "report/base/big_stack.h"
#include "report/base/streams.h"

struct command {
	const char *name;
	const char *arguments;
	const char *help;
	int (*run)(int argc, char **argv);
};

static int print_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("gpuprof " GP_VERSION);
	return 0;
}

static int print_help(int argc, char **argv);

static const struct command commands[] = {
	{"run", "[options] -- PROGRAM...", "run a program under the profiler, then print a summary",
	 gp_command_run},
	{"attach", "PID [options]", "record a running Python program (3.14 and later)",
	 gp_command_attach},
	{"detach", "PID [options]", "end that, and print the summary", gp_command_detach},
	{"summary", "[options] FILE...", "print a summary of trace files, or tables (--by kernel)",
	 gp_command_summary},
	{"top", "[options] [PID|FILE]", "watch a running program: GPU, kernels, copies, memory",
	 gp_command_top},
	{"trace", "LIST [options] FILE...",
	 "list operations, calls, ranges, Python samples; curves over time", gp_command_trace},
	{"html", "[options] FILE...", "write an HTML page: timeline, flame graphs, tables",
	 gp_command_html},
	{"serve", "[options] FILE...",
	 "serve that page at a local address, and its numbers as JSON", gp_command_serve},
	{"advice", "[options] FILE...", "say what costs time, where, and what to change",
	 gp_command_advice},
	{"explain", "RULE", "explain a rule of advice, and when to ignore it", gp_command_explain},
	{"export", "[options] FILE", "write a trace file in another format", gp_command_export},
	{"merge", "-o OUT FILE|FOLDER...", "write several processes to one file", gp_command_merge},
	{"finish", "[options] FILE...",
	 "write the Chrome trace and the summary of an ended program", gp_command_finish},
	{"diff", "[options] A... -- B...", "compare two runs, or two sets of runs",
	 gp_command_diff},
	{"check", "--baseline BASE RUN...", "compare runs with a baseline: a gate for CI",
	 gp_command_check},
	{"recipe", "NAME OUT", "ask a question about all ranks of a job, in SQL",
	 gp_command_recipe},
	{"metrics", "TABLE [options] [NAME...]",
	 "list what the hardware counters of a GPU can measure", gp_command_metrics},
	{"doctor", "[PROGRAM]", "check that profiling works here, or say how to fix it",
	 gp_command_doctor},
	{"version", "", "print the version", print_version},
	{"help", "", "print this text", print_help},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Commands of other profilers, and the words that replace each. */
#define ALIAS_WORDS 3
static const char *const aliases[][1 + ALIAS_WORDS] = {
	{"profile", "run"},
	{"record", "run"},
	{"memory", "summary", "--memory"},
	{"flame", "export", "--format", "folded"},
	{"timeline", "html"},
	{"holistic", "summary", "--by", "time,idle,kind,kernel"},
	{"hta", "summary", "--by", "time,idle,kind,kernel"},
	{"compile", "summary", "--by", "module,tuning"},
};

static const struct command *find(const char *name);

/* Or those of a command. */
static int print_help(int argc, char **argv)
{
	const struct command *command = argc > 1 ? find(argv[1]) : NULL;

	if (command && command->run != print_help)
		return command->run(2, (char *[]){argv[1], "--help", NULL});
	puts("gpuprof shows what a CUDA program did. Its trace files are named NAME.gpuprof.\n"
	     "\n"
	     "usage: gpuprof COMMAND ...\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-8s %-26s %s\n", commands[i].name, commands[i].arguments,
		       commands[i].help);
	fputs("\nNames of other profilers:", stdout);
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		printf("%s %s", i > 0 ? "," : "", aliases[i][0]);
	puts("\n"
	     "For the options of a command: gpuprof COMMAND --help\n"
	     "\n"
	     "  gpuprof run ./app                          profile a program\n"
	     "  gpuprof summary gpuprof-app-1234.gpuprof   print the summary again\n"
	     "  gpuprof export gpuprof-app-1234.gpuprof    write a file for https://ui.perfetto.dev");
	return 0;
}

static const struct command *find(const char *name)
{
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";
	else if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int refuse(const char *name)
{
	struct gp_did_you_mean nearest = {.word = name};
	char word[GP_SHELL_WORD_BYTES];

	for (size_t i = 0; i < COMMANDS; i++)
		gp_did_you_mean_try(&nearest, commands[i].name);
	if (!nearest.found && access(name, F_OK) == 0)
		return gp_command_fail(
			GP_EXIT_USAGE,
			"%s is no command; to read a trace, type: gpuprof summary %s", name,
			gp_shell_word(name, word, sizeof(word)));
	if (nearest.found)
		return gp_command_fail(GP_EXIT_USAGE,
				       "there is no command %s; did you mean gpuprof %s?", name,
				       nearest.found);
	return gp_command_fail(GP_EXIT_USAGE, "there is no command %s; see gpuprof help", name);
}

static int run(const struct command *command, int argc, char **argv)
{
	if (command->run != gp_command_run)
		gp_streams_wait();
	return gp_big_stack_run(command->run, argc, argv);
}

/* An alias with the arguments that follow it. */
static int run_alias(const char *const *alias, int argc, char **argv)
{
	char **words = calloc((size_t)argc + ALIAS_WORDS, sizeof(*words));
	int count = 0, result;

	if (!words)
		return gp_command_fail(GP_EXIT_FAILED, "no memory");
	while (count < ALIAS_WORDS && alias[1 + count]) {
		words[count] = (char *)alias[1 + count];
		count++;
	}
	memcpy(words + count, argv + 1, (size_t)(argc - 1) * sizeof(*words));
	result = run(find(alias[1]), count + argc - 1, words);
	free(words);
	return result;
}

int main(int argc, char **argv)
{
	const struct command *command;

	gp_streams_keep_free();
	if (argc < 2)
		return gp_command_fail(GP_EXIT_USAGE, "no command given; see gpuprof help");
	command = find(argv[1]);
	if (command)
		return run(command, argc - 1, argv + 1);
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(argv[1], aliases[i][0]) == 0)
			return run_alias(aliases[i], argc - 1, argv + 1);
	return refuse(argv[1]);
}

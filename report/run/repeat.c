#include "report/run/repeat.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/run/child.h"
#include "report/run/environment.h"

#define OURSELVES    "/proc/self/exe"
#define LARGEST_NAME 1000000000ul

/* In place of a path: each run creates its own session. */
#define SESSION_OF_SERIES "series"

/* The state of a series of runs. */
struct series {
	struct gp_repeat *repeat;
	const struct gp_run_options *options;
	const char *folder;
	unsigned long first;   /* number of the first new run */
	unsigned long earlier; /* number of earlier runs in the folder */
	char **arguments;
	struct gp_environment environment;
	struct gp_child_signals signals;
	char *message;
	size_t message_bytes;
};

static bool is_default(const struct gp_run_options *options, enum gp_option option)
{
	return strcmp(options->values[option], gp_option_rows[option].value) == 0;
}

bool gp_repeat_is_wanted(const struct gp_run_options *options)
{
	return options->given[GP_OPTION_ID_RUNS] || !is_default(options, GP_OPTION_ID_RUNS) ||
	       *options->values[GP_OPTION_ID_CHECK];
}

bool gp_repeat_is_running(void)
{
	const char *session = getenv(GP_SESSION_VARIABLE);

	return session && strcmp(session, SESSION_OF_SERIES) == 0;
}

void gp_repeat_free(struct gp_repeat *repeat)
{
	for (size_t i = 0; i < repeat->count; i++)
		free(repeat->folders[i]);
	free(repeat->folders);
	*repeat = (struct gp_repeat){0};
}

static int fail(const struct series *series, int error, const char *what)
{
	snprintf(series->message, series->message_bytes, "cannot make runs in %s: %s",
		 series->folder, what);
	return error;
}

/* For a failed mkdir(). */
static int fail_to_make(const struct series *series, int error)
{
	char what[256];

	snprintf(what, sizeof(what), "%s; name another folder with -o", strerror(error));
	return fail(series, -error, what);
}

/* ---- folders ---- */

static int choose_folder(struct series *series)
{
	const struct gp_run_options *options = series->options;

	series->folder = is_default(options, GP_OPTION_ID_OUTPUT)
				 ? GP_REPEAT_FOLDER
				 : options->values[GP_OPTION_ID_OUTPUT];
	if (strchr(series->folder, '%'))
		return fail(series, -EINVAL,
			    "with --runs and --check, -o needs a folder without %");
	if (mkdir(series->folder, 0777) < 0 && errno != EEXIST)
		return fail_to_make(series, errno);
	return 0;
}

/* Warns that a wildcard (FOLDER/...*) in a command names the earlier runs, too. */
static void say_earlier(const struct series *series)
{
	char bytes[GP_SHELL_WORD_BYTES];
	const char *word = gp_shell_word(series->folder, bytes, sizeof(bytes));

	if (series->earlier > 0 && is_default(series->options, GP_OPTION_ID_CHECK) &&
	    !gp_run_options_flag(series->options, GP_OPTION_ID_QUIET))
		fprintf(stderr,
			"gpuprof: %s has %lu earlier run%s: %s/* includes them; the new runs begin at %s/%lu\n",
			series->folder, series->earlier, series->earlier == 1 ? "" : "s", word,
			word, series->first);
}

/* Continues after the largest existing number. */
static int choose_first(struct series *series)
{
	DIR *folder = opendir(series->folder);
	const struct dirent *entry;

	if (!folder)
		return fail(series, -errno, strerror(errno));
	series->first = 1;
	while ((entry = readdir(folder)) != NULL) {
		char *end;
		unsigned long number = strtoul(entry->d_name, &end, 10);

		if (*end != '\0' || number == 0 || number >= LARGEST_NAME)
			continue;
		series->earlier++;
		if (number >= series->first)
			series->first = number + 1;
	}
	closedir(folder);
	return 0;
}

/* ---- runs ---- */

static int set_option(struct series *series, enum gp_option option, const char *value)
{
	char variable[64];

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	return gp_environment_set(&series->environment, variable, value);
}

/* The runs of a series print no summaries by default. */
static int set_quieter(struct series *series, enum gp_option option)
{
	char variable[64];

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	if (gp_environment_get(&series->environment, variable))
		return 0;
	return set_option(series, option, "none");
}

static int set_environment(struct series *series)
{
	int error = gp_environment_copy(&series->environment, environ);

	for (int i = 0; i < GP_OPTIONS && !error; i++)
		if (series->options->given[i])
			error = set_option(series, (enum gp_option)i, series->options->values[i]);
	if (!error)
		error = set_option(series, GP_OPTION_ID_RUNS,
				   gp_option_rows[GP_OPTION_ID_RUNS].value);
	if (!error)
		error = set_option(series, GP_OPTION_ID_CHECK, "");
	if (!error)
		error = gp_environment_set(&series->environment, GP_SESSION_VARIABLE,
					   SESSION_OF_SERIES);
	if (!error)
		error = set_quieter(series, GP_OPTION_ID_SUMMARY);
	return error ? error : set_quieter(series, GP_OPTION_ID_CHROME);
}

/* gpuprof run -- PROGRAM... */
static int set_arguments(struct series *series)
{
	static char ourselves[] = OURSELVES, run[] = "run", end[] = "--";
	char **program = series->options->program;
	size_t count = 0;

	while (program[count])
		count++;
	series->arguments = calloc(count + 4, sizeof(*series->arguments));
	if (!series->arguments)
		return -ENOMEM;
	series->arguments[0] = ourselves;
	series->arguments[1] = run;
	series->arguments[2] = end;
	memcpy(series->arguments + 3, program, count * sizeof(*program));
	return 0;
}

/* The slash at the end stands for default trace names in that folder. */
static int make_folder(struct series *series, unsigned long number, char **folder)
{
	char *output;
	int error;

	if (asprintf(folder, "%s/%lu", series->folder, number) < 0) {
		*folder = NULL;
		return fail(series, -ENOMEM, "no memory");
	}
	if (mkdir(*folder, 0777) < 0)
		return fail_to_make(series, errno);
	if (asprintf(&output, "%s/", *folder) < 0)
		return fail(series, -ENOMEM, "no memory");
	error = set_option(series, GP_OPTION_ID_OUTPUT, output);
	free(output);
	return error ? fail(series, error, "no memory") : 0;
}

/* A signal between two runs goes to the next one. */
static int run_once(struct series *series, unsigned long number)
{
	const struct gp_child_wait wait = {.interrupted = &series->repeat->interrupted};
	struct gp_child_signals again;
	char *folder = NULL;
	int error = make_folder(series, number, &folder);

	if (!error) {
		gp_child_hold_signals(series->repeat->count == 0 ? &series->signals : &again);
		error = gp_child_run(&series->signals, &wait, series->arguments,
				     series->environment.entries, &series->repeat->status);
		if (error)
			fail(series, error, strerror(-error));
	}
	if (error)
		free(folder);
	else
		series->repeat->folders[series->repeat->count++] = folder;
	return error;
}

static int run_all(struct series *series)
{
	unsigned long runs = strtoul(series->options->values[GP_OPTION_ID_RUNS], NULL, 10);
	int error = 0;

	series->repeat->folders = calloc(runs + 1, sizeof(*series->repeat->folders));
	if (!series->repeat->folders)
		return fail(series, -ENOMEM, "no memory");
	for (unsigned long i = 0; !error && i < runs; i++) {
		error = run_once(series, series->first + i);
		if (series->repeat->status != 0 || series->repeat->interrupted)
			break;
	}
	return error;
}

int gp_repeat_run(struct gp_repeat *repeat, const struct gp_run_options *options, char *message,
		  size_t message_bytes)
{
	struct series series = {.repeat = repeat,
				.options = options,
				.message = message,
				.message_bytes = message_bytes};
	int error = choose_folder(&series);

	if (!error)
		error = choose_first(&series);
	if (!error && (set_environment(&series) || set_arguments(&series)))
		error = fail(&series, -ENOMEM, "no memory");
	if (!error)
		say_earlier(&series);
	if (!error)
		error = run_all(&series);
	gp_environment_free(&series.environment);
	free(series.arguments);
	return error;
}

#include "report/doctor/trial.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpuprof/option.h"
#include "report/base/memstream.h"
#include "report/doctor/ask.h"
#include "report/load/load_model.h"
#include "report/model/model.h"
#include "report/run/environment.h"
#include "report/run/injection.h"

#define MOST_ARGUMENTS 64
#define TRACE_NAME     "trial"
#define PREFIX         "gpuprof: "

/* ---- the output of the probe ---- */

static void take_result(struct gp_trial_result *result, const char *value)
{
	char *end;

	result->code = (int)strtol(value, &end, 10);
	snprintf(result->name, sizeof(result->name), "%s", *end == ' ' ? end + 1 : end);
}

static void take_text(struct gp_trial *trial, const char *name, const char *value)
{
	const struct {
		const char *name;
		char *text;
		size_t bytes;
	} texts[] = {
		{"step", trial->step, sizeof(trial->step)},
		{"unloadable", trial->unloadable, sizeof(trial->unloadable)},
		{"library", trial->library, sizeof(trial->library)},
		{"driver", trial->driver, sizeof(trial->driver)},
		{"driver-error", trial->driver_error, sizeof(trial->driver_error)},
		{"device", trial->device, sizeof(trial->device)},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i].name, name) == 0)
			snprintf(texts[i].text, texts[i].bytes, "%s", value);
}

static void take_number(struct gp_trial *trial, const char *name, const char *value)
{
	const struct {
		const char *name;
		struct gp_trial_result *result;
	} results[] = {
		{"init", &trial->init},       {"count-result", &trial->count},
		{"context", &trial->context}, {"work", &trial->work},
		{"kernels", &trial->kernels},
	};

	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		if (strcmp(results[i].name, name) == 0)
			take_result(results[i].result, value);
	if (strcmp(name, "version") == 0)
		trial->version = strtoul(value, NULL, 10);
	if (strcmp(name, "devices") == 0)
		trial->devices = (int)strtol(value, NULL, 10);
}

static void take_lines(struct gp_trial *trial, char *text)
{
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = 0;
		take_text(trial, line, value);
		take_number(trial, line, value);
	}
}

/* ---- the process ---- */

/*
 * Drops all options of gpuprof: the launcher would refuse invalid ones, and the probe is always
 * recorded.
 */
static bool is_kept(const char *variable, bool recorded)
{
	static const char *const tools[] = {"LD_PRELOAD=", GP_INJECTION_CUDA "=",
					    GP_INJECTION_NVTX "="};

	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (strncmp(variable, tools[i], strlen(tools[i])) == 0)
			return recorded;
	return strncmp(variable, GP_OPTION_PREFIX, strlen(GP_OPTION_PREFIX)) != 0;
}

/* A list of files or folders for the loader. */
struct list {
	const char *name, *separators;
	bool has_bare_names; /* which the loader looks for in its own folders */
};

static bool is_relative(const struct list *list, const char *item, size_t length)
{
	return *item != '/' && *item != '$' &&
	       !(list->has_bare_names && !memchr(item, '/', length));
}

static void print_absolute(FILE *out, const struct list *list, const char *items, const char *here)
{
	size_t length;

	for (;; items += length + 1) {
		length = strcspn(items, list->separators);
		if (is_relative(list, items, length)) /* an empty folder is the current one */
			fprintf(out, "%s%s", here, length > 0 ? "/" : "");
		fprintf(out, "%.*s", (int)length, items);
		if (!items[length])
			return;
		fputc(items[length], out);
	}
}

/* The trial runs in another folder, so relative paths are made absolute. */
static int make_absolute(struct gp_environment *environment, const struct list *list)
{
	const char *items = gp_environment_get(environment, list->name);
	char here[PATH_MAX], *text = NULL;
	size_t bytes;
	FILE *out;
	int error;

	if (!items || !*items || !getcwd(here, sizeof(here)) || strpbrk(here, list->separators))
		return 0;
	out = open_memstream(&text, &bytes);
	if (!out)
		return -ENOMEM;
	print_absolute(out, list, items, here);
	error = gp_memstream_close(out, &text);
	if (!error)
		error = gp_environment_set(environment, list->name, text);
	free(text);
	return error;
}

static int make_environment(struct gp_environment *environment, bool recorded)
{
	static const struct list lists[] = {{"LD_LIBRARY_PATH", ":;", false},
					    {"LD_PRELOAD", ": ", true}};
	size_t count = 0;
	char **kept;
	int error;

	while (environ[count])
		count++;
	kept = calloc(count + 1, sizeof(*kept));
	count = 0;
	for (char **variable = environ; kept && *variable; variable++)
		if (is_kept(*variable, recorded))
			kept[count++] = *variable;
	error = kept ? gp_environment_copy(environment, kept) : -ENOMEM;
	free(kept);
	for (size_t i = 0; !error && recorded && i < sizeof(lists) / sizeof(lists[0]); i++)
		error = make_absolute(environment, &lists[i]);
	return error;
}

static void begin(struct gp_trial *trial)
{
	const struct gp_trial_result none = {GP_TRIAL_RESULT_NONE, ""};

	memset(trial, 0, sizeof(*trial));
	trial->init = trial->count = trial->context = trial->work = trial->kernels = none;
}

static int make(struct gp_trial *trial, char *const *arguments, const char *folder,
		unsigned limit_s)
{
	struct gp_doctor_answer *answer = malloc(sizeof(*answer));
	struct gp_environment environment = {0};
	struct gp_question question = {
		.arguments = arguments,
		.folder = folder,
		.limit_s = limit_s,
	};
	int error = answer ? make_environment(&environment, folder != NULL) : -ENOMEM;

	question.environment = environment.entries;
	if (!error)
		error = gp_ask(&question, answer);
	if (!error) {
		trial->is_made = true;
		trial->timed_out = answer->timed_out;
		trial->status = answer->status;
		snprintf(trial->said, sizeof(trial->said), "%.*s", (int)sizeof(trial->said) - 1,
			 answer->errors);
		take_lines(trial, answer->out);
	}
	gp_environment_free(&environment);
	free(answer);
	return error;
}

static int own_path(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	path[length] = 0;
	return 0;
}

int gp_trial_plain(struct gp_trial *trial, unsigned limit_s)
{
	char own[PATH_MAX];
	char *arguments[] = {own, "doctor", "--probe=gpu", NULL};
	int error = own_path(own);

	begin(trial);
	return error ? error : make(trial, arguments, NULL, limit_s);
}

/* ---- the trace ---- */

static void take_info(const struct gp_model *model, enum gp_info info, char text[PATH_MAX])
{
	snprintf(text, PATH_MAX, "%s", model->info[info] ? model->info[info] : "");
}

static void take_trace(struct gp_trial *trial, const char *path)
{
	char message[512];
	struct gp_model *model;
	const char *version;

	if (gp_model_load(path, &model, message, sizeof(message)) != 0)
		return;
	version = model->info[GP_INFO_CUPTI_VERSION];
	trial->has_trace = true;
	trial->cupti_version = version ? strtoul(version, NULL, 10) : 0;
	take_info(model, GP_INFO_CUPTI_PATH, trial->cupti);
	take_info(model, GP_INFO_RING_FILE, trial->rings);
	trial->calls = model->call_count;
	trial->ops = model->op_count - model->losses.ops_untimed;
	trial->ranges = model->range_count;
	trial->energies = model->energy_count;
	trial->counted = model->counted_count;
	gp_model_free(model);
}

static bool is_trace(const char *name)
{
	const char *end = strrchr(name, '.');

	return end && strcmp(end, ".gpuprof") == 0;
}

static void take_traces(struct gp_trial *trial, DIR *listing, const char *folder)
{
	struct dirent *entry;
	char path[PATH_MAX];

	while ((entry = readdir(listing)) != NULL)
		if (is_trace(entry->d_name) && snprintf(path, sizeof(path), "%s/%s", folder,
							entry->d_name) < (int)sizeof(path))
			take_trace(trial, path);
}

/* Takes the traces in the folder, with the rings of a killed probe, then removes all files. */
static void take_folder(struct gp_trial *trial, const struct gp_trial_options *options)
{
	DIR *listing = fdopendir(dup(options->folder_fd));
	struct dirent *entry;

	if (!listing)
		return;
	take_traces(trial, listing, options->folder);
	rewinddir(listing);
	while ((entry = readdir(listing)) != NULL)
		unlinkat(dirfd(listing), entry->d_name,
			 0); /* fails for "." and "..", which are folders */
	closedir(listing);
}

/* A command line and its strings. */
struct command {
	char own[PATH_MAX], rings[64], cupti[PATH_MAX + 16], probe[32];
	char *arguments[MOST_ARGUMENTS];
	size_t count;
};

static void add_arguments(struct command *command, char *const *arguments)
{
	for (; arguments && *arguments; arguments++)
		if (command->count < MOST_ARGUMENTS - 1)
			command->arguments[command->count++] = *arguments;
}

static void set_cupti(struct command *command, const char *name)
{
	char path[PATH_MAX];
	const char *file = *name && realpath(name, path) ? path : name;

	snprintf(command->cupti, sizeof(command->cupti), "--cupti=%s", file);
}

static int make_command(struct command *command, const struct gp_trial_options *options)
{
	char *const first[] = {
		command->own,           "run",          "--summary=none", "--chrome=none",
		"--output=" TRACE_NAME, command->rings, command->cupti,   NULL};
	char *const probe[] = {"--", command->own, "doctor", command->probe, NULL};

	*command = (struct command){.own = ""};
	add_arguments(command, first);
	add_arguments(command, options->arguments);
	add_arguments(command, probe);
	add_arguments(command, options->libraries);
	snprintf(command->rings, sizeof(command->rings), "--rings=%s", options->rings);
	snprintf(command->probe, sizeof(command->probe), "--probe=%s",
		 gp_probe_words[options->probe]);
	set_cupti(command, options->cupti);
	return own_path(command->own);
}

int gp_trial_recorded(struct gp_trial *trial, const struct gp_trial_options *options)
{
	struct command *command = malloc(sizeof(*command));
	int error = command ? make_command(command, options) : -ENOMEM;

	begin(trial);
	if (!error)
		error = make(trial, command->arguments, options->folder, options->limit_s);
	if (!error)
		take_folder(trial, options);
	free(command);
	return error;
}

void gp_trial_find_line(const struct gp_trial *trial, const char *part, char *line, size_t bytes)
{
	char text[sizeof(trial->said)], *save;

	memcpy(text, trial->said, sizeof(text));
	line[0] = 0;
	for (char *next = strtok_r(text, "\n", &save); next; next = strtok_r(NULL, "\n", &save))
		if (strncmp(next, PREFIX, strlen(PREFIX)) == 0 && strstr(next, part))
			snprintf(line, bytes, "%s", next + strlen(PREFIX));
}

bool gp_trial_ended_well(const struct gp_trial *trial)
{
	return trial->is_made && !trial->timed_out && strcmp(trial->step, "done") == 0;
}

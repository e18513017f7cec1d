#include "report/run/run.h"

#include <errno.h>
#include <libiberty/libiberty.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpuprof/count.h"
#include "gpuprof/job_place.h"
#include "gpuprof/shell_word.h"
#include "gpuprof/version.h"
#include "report/base/memory.h"
#include "report/base/message.h"
#include "report/load/command.h"
#include "report/diff/check_request.h"
#include "report/finish/finish.h"
#include "report/trace/orphans.h"
#include "report/run/child.h"
#include "report/run/energy_sampler.h"
#include "report/run/environment.h"
#include "report/run/injection.h"
#include "report/run/left_behind.h"
#include "report/run/library.h"
#include "report/finish/nothing.h"
#include "report/run/options.h"
#include "report/run/output.h"
#include "report/run/repeat.h"
#include "report/run/run_traces.h"
#include "report/finish/session.h"
#include "report/run/target.h"
#include "report/base/streams.h"
#include "report/base/text/text.h"

#define LEFT_BYTES 256
#define MOST_RANKS (1ul << 24) /* counted ones */

/* One run, from the command line to the end of the program. */
struct run {
	struct gp_run_options options;
	struct gp_library library;
	struct gp_session session;
	enum gp_target_bar bar;
	bool stands_aside; /* another tool uses CUDA_INJECTION64_PATH */
	struct gp_nothing nothing;
	struct gp_child_signals signals;
	struct gp_environment environment;
	char pattern[GP_OUTPUT_PATTERN_BYTES]; /* of the traces, for glob(3) */
	time_t started;
	struct gp_energy_sampler energy_sampler;
	struct gp_energy_entries energies;
	const char *no_energy;          /* why there are none; NULL = no reason */
	char left[LEFT_BYTES];          /* processes that the program left behind; "" = none */
	pid_t pid;                      /* of the program */
	int status;                     /* of the program, as from waitpid() */
	char name[GP_CHILD_NAME_BYTES]; /* the kernel's name of it at its end */
	char message[GP_MESSAGE_BYTES]; /* reason of a failed step, for the user */
};

__attribute__((format(printf, 3, 4))) static int explain(struct run *run, int error,
							 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(run->message, sizeof(run->message), format, arguments);
	va_end(arguments);
	return error;
}

/* Prints a line whose argument may hold any bytes. */
__attribute__((format(printf, 1, 0))) static void warn_of(const char *format, const char *text)
{
	char *escaped = gp_text_escape(text);

	fprintf(stderr, format, escaped ? escaped : "(no memory)");
	free(escaped);
}

static void warn_of_unknown_variables(void)
{
	const char *entry;
	size_t position = 0;

	while ((entry = gp_run_options_unknown_variable(environ, &position)) != NULL) {
		const char *nearest = gp_run_options_nearest_variable(entry);
		char *name = strndup(entry, strcspn(entry, "="));
		char *escaped = name ? gp_text_escape(name) : NULL;

		fprintf(stderr, "gpuprof: unknown variable %s is ignored; %s%s%s\n",
			escaped ? escaped : "(no memory)",
			nearest ? "did you mean " GP_OPTION_PREFIX : "see gpuprof-run --help",
			nearest ? nearest : "", nearest ? "?" : "");
		free(escaped);
		free(name);
	}
}

/* A program that cannot be profiled still runs, and its children may be profiled. */
static void warn_of_bar(const struct run *run)
{
	const char *text = gp_target_bar_text(run->bar);
	char *program = text ? gp_text_escape(run->options.program[0]) : NULL;

	if (text)
		fprintf(stderr, "gpuprof: %s is not profiled: %s\n",
			program ? program : "(no memory)", text);
	free(program);
}

/*
 * Whether preloading would crash such a program or make its loader complain. A loader path ($LIB)
 * avoids both.
 */
static bool must_not_preload(const struct run *run)
{
	return !run->library.by_loader_path &&
	       (run->bar == GP_TARGET_MUSL || run->bar == GP_TARGET_OTHER_MACHINE);
}

static int set_preload(struct run *run)
{
	char path[PATH_MAX];
	const char *old = gp_environment_get(&run->environment, "LD_PRELOAD");
	int error = gp_library_preload_path(&run->library, &run->session, path);

	if (error || must_not_preload(run) || (old && strstr(old, path)))
		return error;
	return gp_environment_prepend(&run->environment, "LD_PRELOAD", path);
}

/*
 * The library sets these variables when it starts, but constructors of the program's libraries may
 * run before. A value that is set already stays. A program that loads no library does not need it.
 */
static int set_injection(struct run *run, const char *variable)
{
	char path[PATH_MAX];

	if (run->bar != GP_TARGET_OPEN || gp_environment_get(&run->environment, variable) ||
	    gp_environment_get(&run->environment, GP_INJECTION_BY_NCU) ||
	    gp_library_real_path(&run->library, path))
		return 0;
	return gp_environment_set(&run->environment, variable, path);
}

/* As the library decides; without ranges NVTX stays off. */
static bool wants_ranges(const struct run *run)
{
	const char *trace = run->options.values[GP_OPTION_ID_TRACE];

	return strncmp(run->options.values[GP_OPTION_ID_CAPTURE_RANGE], "nvtx:", 5) == 0 ||
	       gp_option_list_has(trace, "default") || gp_option_list_has(trace, "nvtx") ||
	       gp_option_list_has(trace, "api-all");
}

static int set_option(struct run *run, enum gp_option option, const char *value)
{
	char variable[64];

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	return gp_environment_set(&run->environment, variable, value);
}

/* Options from the environment are there already. */
static int set_given_options(struct run *run)
{
	int error = 0;

	for (int i = 0; i < GP_OPTIONS && !error; i++)
		if (run->options.given[i])
			error = set_option(run, (enum gp_option)i, run->options.values[i]);
	return error;
}

static bool is_summary_file(const char *summary)
{
	return strcmp(summary, "stderr") && strcmp(summary, "none");
}

/*
 * Makes the path absolute, as the program may change its folder, and the loader looks for a bare
 * name in its own folders.
 */
static int set_cupti(struct run *run)
{
	const char *name = run->options.values[GP_OPTION_ID_CUPTI];
	char path[PATH_MAX];

	if (*name == '/' || !*name || !realpath(name, path))
		return 0;
	return set_option(run, GP_OPTION_ID_CUPTI, path);
}

/* Makes file names independent of the program's current folder. */
static int set_file_options(struct run *run)
{
	const char *const *values = run->options.values;
	char name[GP_OUTPUT_BYTES];
	int error = gp_output_template(values[GP_OPTION_ID_OUTPUT], name, run->message,
				       sizeof(run->message));

	if (!error) {
		gp_output_pattern(name, run->pattern);
		error = set_option(run, GP_OPTION_ID_OUTPUT, name);
	}
	if (error || !is_summary_file(values[GP_OPTION_ID_SUMMARY]))
		return error;
	error = gp_output_summary(values[GP_OPTION_ID_SUMMARY], name, run->message,
				  sizeof(run->message));
	return error ? error : set_option(run, GP_OPTION_ID_SUMMARY, name);
}

static int set_environment(struct run *run)
{
	int error = gp_environment_copy(&run->environment, environ);

	if (!error)
		error = set_given_options(run);
	if (!error)
		error = set_file_options(run);
	if (!error)
		error = set_cupti(run);
	if (!error)
		error = gp_environment_set(&run->environment, GP_SESSION_VARIABLE,
					   run->session.path);
	if (!error)
		error = set_preload(run);
	if (!error)
		error = set_injection(run, GP_INJECTION_CUDA);
	if (!error && wants_ranges(run))
		error = set_injection(run, GP_INJECTION_NVTX);
	/*
	 * gcc's address sanitizer ends a program in which it is not the first library; any process
	 * of the tree may use it.
	 */
	if (!error)
		error = gp_environment_append(&run->environment, "ASAN_OPTIONS",
					      "verify_asan_link_order=0");
	return error;
}

/* The value of the variable if it does not name our library; else NULL. */
static const char *other_tool(const struct run *run, const char *variable)
{
	return gp_injection_other(gp_environment_get(&run->environment, variable));
}

/* NVTX loads one library only. */
static void look_for_other_nvtx_tool(const struct run *run)
{
	const char *path = other_tool(run, GP_INJECTION_NVTX);

	if (path && !gp_run_options_flag(&run->options, GP_OPTION_ID_QUIET))
		warn_of("gpuprof: NVTX_INJECTION64_PATH names another tool (%s), so ranges are not recorded; to record them, type: unset NVTX_INJECTION64_PATH\n",
			path);
}

/* The driver loads one library only; if another tool's is named, nothing is recorded. */
static void look_for_other_injection(struct run *run)
{
	const char *path = other_tool(run, GP_INJECTION_CUDA);

	run->stands_aside = path != NULL;
	if (run->stands_aside && !gp_run_options_flag(&run->options, GP_OPTION_ID_QUIET))
		warn_of("gpuprof: CUDA_INJECTION64_PATH names another tool (%s), so nothing is recorded; to profile, type: unset CUDA_INJECTION64_PATH\n",
			path);
}

static int prepare(struct run *run)
{
	int error = gp_library_find(&run->library, run->message, sizeof(run->message));

	if (error)
		return error;
	error = gp_session_open(&run->session);
	if (error)
		return explain(
			run, error,
			"cannot make a folder in $XDG_RUNTIME_DIR, $TMPDIR, /tmp or /dev/shm: %s; set TMPDIR to a writable folder",
			strerror(-error));
	error = set_environment(run);
	if (!error) {
		look_for_other_injection(run);
		look_for_other_nvtx_tool(run);
	}
	if (error == -ENOMEM)
		explain(run, error, "no memory to start the program");
	return error;
}

static bool is_folder(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* What to type for a file that is no program itself, by its ending; NULL: not known. */
static const char *interpreter_of(const char *program)
{
	static const char *const endings[][2] = {
		{".py", "gpuprof-run python3"},
		{".sh", "gpuprof-run sh"},
		{".cu", "nvcc -lineinfo -o app"},
		{".cpp", "nvcc -lineinfo -o app"},
	};
	const char *dot = strrchr(program, '.');

	for (size_t i = 0; dot && i < COUNT(endings); i++)
		if (strcmp(dot, endings[i][0]) == 0)
			return endings[i][1];
	return NULL;
}

static void explain_not_executable(struct run *run, int error, const char *program)
{
	const char *command = interpreter_of(program);
	char room[GP_SHELL_WORD_BYTES];
	const char *word = gp_shell_word(program, room, sizeof(room));

	if (command)
		explain(run, error, "cannot run %s: it is not an executable file; type: %s %s",
			program, command, word);
	else
		explain(run, error,
			"cannot run %s: it is not an executable file; type: chmod +x %s, or name its interpreter first",
			program, word);
}

static int find_program(struct run *run)
{
	const char *program = run->options.program[0];
	char path[PATH_MAX], word[GP_SHELL_WORD_BYTES];
	int error = gp_target_find(program, path);

	if (error == -ENOENT && is_folder(program)) /* such as ".", which is not in PATH */
		error = -EISDIR;
	if (!error)
		run->bar = gp_target_look(path);
	else if (error == -EACCES ||
		 (error == -ENOENT && interpreter_of(program) && access(program, R_OK) == 0))
		explain_not_executable(run, error, program);
	else if (error == -EISDIR)
		explain(run, error, "cannot run %s: it is a folder; name a program", program);
	else if (strchr(program, '/'))
		explain(run, error, "cannot run %s: there is no such file", program);
	else if (access(program, F_OK) == 0)
		explain(run, error, "cannot run %s: no such program in PATH; is it ./%s?", program,
			gp_shell_word(program, word, sizeof(word)));
	else
		explain(run, error, "cannot run %s: no such program in PATH", program);
	return error;
}

static int status_of_start_error(int error)
{
	return error == -ENOENT ? GP_RUN_NOT_FOUND : GP_RUN_NOT_EXECUTABLE;
}

#define KERNELS_NAME_BYTES 15u /* the kernel keeps the first ones */

/* A shell or env becomes another program by exec; some programs rename themselves. */
static void say_new_name(const struct run *run)
{
	const char *old = basename(run->options.program[0]);

	if (!*run->name || strncmp(old, run->name, KERNELS_NAME_BYTES) == 0)
		return;
	fputs(", its process then called ", stderr);
	gp_text_print(stderr, run->name);
	fputs(",", stderr);
}

static void say_nothing(const struct run *run)
{
	const char *program = run->options.program[0];

	if (!*run->left) {
		gp_nothing_print(&run->nothing, program);
		return;
	}
	fprintf(stderr,
		"gpuprof: nothing was recorded yet: %s left processes that still run: ", program);
	gp_text_print(stderr, run->left);
	fputs("; each of them that uses the GPU finishes its trace when it ends; to wait for them, use --wait=all\n",
	      stderr);
}

/* Whether --ranks includes the rank that this launcher starts. */
static bool is_included(const struct run *run)
{
	return gp_job_is_included(run->options.values[GP_OPTION_ID_RANKS]);
}

/* Not all shells report this, and for process 1 nothing does. */
static void say_how_it_ended(const struct run *run, const struct gp_run_traces *traces)
{
	bool has_trace = traces->count > 0 || traces->found > 0;
	const char *program = run->options.program[0];
	int number = WIFSIGNALED(run->status) ? WTERMSIG(run->status) : 0;

	if (!has_trace && !is_included(run))
		return;
	if (number) {
		fprintf(stderr, "gpuprof: %s", program);
		say_new_name(run);
		fprintf(stderr, " was ended by %s (%s)%s\n", strsigno(number), strsignal(number),
			has_trace || run->stands_aside ? "" : "; no trace was found");
	} else if (!has_trace && !run->stands_aside)
		say_nothing(run);
	if (has_trace && traces->found == 0 && !run->nothing.has_driver)
		gp_nothing_print_driver(stderr);
}

/* ---- a rank of many ---- */

/*
 * Nobody reads a summary of each rank, and the Chrome traces of all ranks fill the disk: a rank writes
 * only its trace, unless the user asks for more.
 */
static void leave_out(struct gp_run_options *options, enum gp_option option)
{
	char variable[64];

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[option].variable);
	if (options->given[option] || getenv(variable))
		return;
	options->values[option] = "none";
	options->given[option] = true;
}

static bool is_one_of_many(void)
{
	const char *world_size = gp_job_place().world_size;

	return gp_job_rank() >= 0 && world_size && strtoul(world_size, NULL, 10) > 1;
}

/* The recorded ranks of the job, as a sentence; returns the first one, 0 if there is none. */
static unsigned long describe_ranks(const char *ranks, unsigned long world_size, char text[96])
{
	unsigned long first = 0, count = 0;

	snprintf(text, 96, "%s",
		 *ranks ? "the first rank of each host leaves a trace (--ranks node)"
			: "each rank leaves a trace");
	if (!*ranks || strcmp(ranks, "node") == 0)
		return 0;
	for (unsigned long rank = world_size < MOST_RANKS ? world_size : MOST_RANKS; rank-- > 0;) {
		if (!gp_option_ranks_have(ranks, rank))
			continue;
		first = rank;
		count++;
	}
	snprintf(text, 96, "%lu of %lu ranks leave%s a trace (--ranks)", count, world_size,
		 count == 1 ? "s" : "");
	return first;
}

/* Only the first recorded rank prints where the traces of all ranks are; rank 0 if there is none. */
static void say_where_ranks_are(const struct run *run)
{
	char variable[64], which[96], folder[GP_OUTPUT_BYTES], word[GP_SHELL_WORD_BYTES];
	unsigned long world_size = strtoul(gp_job_place().world_size, NULL, 10);
	const char *output;

	snprintf(variable, sizeof(variable), GP_OPTION_PREFIX "%s",
		 gp_option_rows[GP_OPTION_ID_OUTPUT].variable);
	output = gp_environment_get(&run->environment, variable);
	if (!output ||
	    (unsigned long)gp_job_rank() !=
		    describe_ranks(run->options.values[GP_OPTION_ID_RANKS], world_size, which))
		return;
	gp_output_folder(output, folder);
	fprintf(stderr, "gpuprof: %s; when all %lu have ended, type: gpuprof summary %s\n", which,
		world_size, gp_shell_word(folder, word, sizeof(word)));
}

static void finish_traces(const struct run *run, const struct gp_run_traces *traces)
{
	const char *const *values = run->options.values;
	struct gp_finish_options options = {
		.summary = values[GP_OPTION_ID_SUMMARY],
		.chrome = values[GP_OPTION_ID_CHROME],
		.chrome_limit = strtoull(values[GP_OPTION_ID_CHROME_LIMIT], NULL, 10),
		.html = gp_run_options_flag(&run->options, GP_OPTION_ID_HTML),
		.quiet = gp_run_options_flag(&run->options, GP_OPTION_ID_QUIET),
		.names_no_files = gp_repeat_is_running() || is_one_of_many(),
		.ended_only = true,
		.ended_pid = (uint32_t)run->pid,
		.ended_status = run->status,
		.energies = run->energies,
		.progress_fd = -1,
	};

	if (!options.quiet)
		say_how_it_ended(run, traces);
	if (!options.quiet && run->no_energy)
		fprintf(stderr, "gpuprof: energy (--energy) was not sampled: %s\n", run->no_energy);
	gp_finish(traces->paths, traces->count, &options);
	if (!options.quiet && is_one_of_many() && (traces->count > 0 || !is_included(run)))
		say_where_ranks_are(run);
}

/*
 * If there is no trace, looks for processes that still run. If there is none, one may have ended
 * after the traces were listed, so they are listed again.
 */
static int find_traces(struct run *run, struct gp_run_traces *traces)
{
	int error = gp_run_traces_find(traces, &run->session, run->pattern, run->started);

	if (error || traces->count > 0 || traces->found > 0 ||
	    gp_left_behind(run->session.path, run->left, sizeof(run->left)) > 0)
		return error;
	gp_run_traces_free(traces);
	*traces = (struct gp_run_traces){0};
	return gp_run_traces_find(traces, &run->session, run->pattern, run->started);
}

/*
 * Closes the session first: if the user presses Ctrl-C now, only outputs are missing that gpuprof
 * can write later.
 */
static void finish(struct run *run)
{
	struct gp_run_traces traces = {0};
	int error;

	gp_memory_set_exit_status(WIFEXITED(run->status) ? WEXITSTATUS(run->status)
							 : 128 + WTERMSIG(run->status));
	error = find_traces(run, &traces);
	gp_streams_wait(); /* the program may have changed them */
	gp_nothing_read(&run->nothing, &run->session);
	if (gp_target_bar_text(run->bar))
		run->nothing.is_said = true;
	if (traces.count > 0 || traces.found > 0)
		gp_session_tell_outer(GP_SESSION_OTHER);
	gp_session_close(&run->session);
	signal(SIGXFSZ, SIG_IGN); /* makes writes beyond RLIMIT_FSIZE fail instead */
	if (error)
		fprintf(stderr, "gpuprof: cannot list the traces of this run: %s\n",
			strerror(-error));
	else
		finish_traces(run, &traces); /* reports its failures; the exit status is the
						program's */
	gp_orphans_save(traces.count ? traces.paths[0] : NULL);
	gp_run_traces_free(&traces);
}

static void say_waiting(void)
{
	fputs("gpuprof: the program has ended; waiting for the processes that it left running (Ctrl-C ends the wait)\n",
	      stderr);
}

static void start_energy_sampler(struct run *run)
{
	uint64_t interval_ns;

	if (gp_option_is_interval(&gp_option_rows[GP_OPTION_ID_ENERGY],
				  run->options.values[GP_OPTION_ID_ENERGY], &interval_ns) &&
	    interval_ns > 0 && is_included(run))
		gp_energy_sampler_start(&run->energy_sampler, &run->session, interval_ns);
}

static int run_program(struct run *run)
{
	bool is_quiet = gp_run_options_flag(&run->options, GP_OPTION_ID_QUIET);
	struct gp_child_wait wait = {
		.for_all = !strcmp(run->options.values[GP_OPTION_ID_WAIT], "all"),
		.on_waiting = is_quiet ? NULL : say_waiting,
		.name = run->name,
		.pid = &run->pid,
	};
	int error;

	if (!is_quiet) {
		warn_of_unknown_variables();
		warn_of_bar(run);
	}
	start_energy_sampler(run);
	gp_memory_begin_attempt(); /* whatever happens, the launcher waits for the program */
	error = gp_child_run(&run->signals, &wait, run->options.program, run->environment.entries,
			     &run->status);
	(void)gp_memory_end_attempt();
	run->no_energy = gp_energy_sampler_end(&run->energy_sampler, &run->energies);
	if (error) {
		explain(run, error, "cannot run %s: %s", run->options.program[0],
			error == -ENOENT ? "its interpreter is missing" : strerror(-error));
		return gp_command_fail(status_of_start_error(error), "%s", run->message);
	}
	finish(run);
	return gp_child_end_alike(run->status);
}

static int run(struct run *run)
{
	int error = find_program(run);

	if (error)
		return gp_command_fail(status_of_start_error(error), "%s", run->message);
	run->started = time(NULL);
	gp_child_hold_signals(&run->signals);
	if (prepare(run))
		return gp_command_fail(GP_RUN_FAILED, "%s", run->message);
	return run_program(run);
}

/* ---- repeated runs ---- */

static struct gp_check_request check_of(const struct gp_run_options *options)
{
	const char *thresholds = options->values[GP_OPTION_ID_THRESHOLDS];

	return (struct gp_check_request){
		.baseline = options->values[GP_OPTION_ID_CHECK],
		.thresholds = *thresholds ? thresholds : NULL,
		.strict = gp_run_options_flag(options, GP_OPTION_ID_STRICT),
		.text = gp_run_options_flag(options, GP_OPTION_ID_QUIET) ? NULL : stderr,
	};
}

static void say_where(const struct gp_repeat *repeat)
{
	if (repeat->count == 1)
		fprintf(stderr, "gpuprof: 1 run: %s\n", repeat->folders[0]);
	else
		fprintf(stderr, "gpuprof: %zu runs: %s to %s\n", repeat->count, repeat->folders[0],
			repeat->folders[repeat->count - 1]);
}

static void say_failure(const struct gp_repeat *repeat, bool compares)
{
	if (WIFSIGNALED(repeat->status))
		fprintf(stderr, "gpuprof: run %zu was ended by signal %d", repeat->count,
			WTERMSIG(repeat->status));
	else
		fprintf(stderr, "gpuprof: run %zu ended with exit status %d", repeat->count,
			WEXITSTATUS(repeat->status));
	fprintf(stderr, ": no more runs were made%s\n",
		compares ? ", and nothing was compared" : "");
}

/* A failure of the program precedes that of the check. */
static int conclude(const struct gp_run_options *options, const struct gp_repeat *repeat)
{
	struct gp_check_request check = check_of(options);
	int status;

	if (check.text && repeat->count > 0)
		say_where(repeat);
	if (repeat->status != 0) {
		if (check.text)
			say_failure(repeat, *check.baseline);
		return gp_child_end_alike(repeat->status);
	}
	if (repeat->interrupted)
		return gp_command_fail(GP_RUN_FAILED,
				       "interrupted in run %zu; no more runs were made",
				       repeat->count);
	if (!*check.baseline)
		return 0;
	check.runs = repeat->folders;
	check.run_count = repeat->count;
	status = gp_check_run(&check);
	return status == GP_CHECK_EXIT_FAILED ? GP_RUN_FAILED : status;
}

/* Checks the baseline before the program runs for hours. */
static int run_repeatedly(struct run *run)
{
	struct gp_check_request check = check_of(&run->options);
	struct gp_repeat repeat = {0};
	int status = *check.baseline ? gp_check_inputs(&check) : 0;

	if (status)
		return status;
	if (gp_repeat_run(&repeat, &run->options, run->message, sizeof(run->message)) < 0)
		status = gp_command_fail(GP_RUN_FAILED, "%s", run->message);
	else
		status = conclude(&run->options, &repeat);
	gp_repeat_free(&repeat);
	return status;
}

int gp_command_run(int argc, char **argv)
{
	struct run one = {0};
	int status = 0;

	if (gp_run_options_parse(&one.options, argc, argv, one.message, sizeof(one.message)))
		return gp_command_fail(GP_RUN_FAILED, "%s", one.message);
	if (is_one_of_many()) {
		leave_out(&one.options, GP_OPTION_ID_SUMMARY);
		leave_out(&one.options, GP_OPTION_ID_CHROME);
	}
	if (one.options.action == GP_RUN_HELP)
		gp_run_options_help(stdout);
	else if (one.options.action == GP_RUN_VERSION)
		printf("gpuprof %s\n", GP_VERSION);
	else if (gp_repeat_is_wanted(&one.options))
		status = run_repeatedly(&one);
	else
		status = run(&one);
	gp_session_close(&one.session);
	gp_environment_free(&one.environment);
	return status;
}

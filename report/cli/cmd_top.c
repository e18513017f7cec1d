#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/cli/commands.h"
#include "report/load/command.h"
#include "report/base/message.h"
#include "report/load/trace_files.h"
#include "report/base/array.h"
#include "report/cli/command_line.h"
#include "report/base/memstream.h"
#include "report/base/monotonic.h"
#include "report/base/text/secrets.h"
#include "report/base/text/text.h"
#include "report/codec/output_file.h"
#include "report/top/job_page.h"
#include "report/top/openmetrics.h"
#include "report/top/page.h"
#include "report/trace/running.h"
#include "report/top/screen.h"

#define BATCH_ROWS    12
#define NS_PER_S      UINT64_C(1000000000)
#define MAPPED_BYTES  (1 << 17)
#define COMMAND_BYTES 4096 /* longest command line in the list of programs */
#define COMMAND_ROOM  100  /* its columns in the list */

static const char usage[] =
	"usage: gpuprof top [options] [PID|FILE|FOLDER]\n"
	"\n"
	"Watch a program while it is recorded: how busy the GPUs are, kernels, launches and copies\n"
	"per second, memory, open NVTX ranges, lost records.  Name a process or a trace file, or\n"
	"neither if you record one program only.  For the FOLDER of a job, it shows a row for each\n"
	"rank (its step, how busy it is, memory), and the rank that the others wait for.  This slows\n"
	"no program down.  q quits.\n"
	"\n"
	"  -d, --delay SECONDS   update every SECONDS (default: 1; at least 0.1)\n"
	"  -n, --iterations N    end after N pages (default: when the program ends)\n"
	"  -r, --rows N          list N kernels or ranks (default: as many as fit, 12 with --batch;\n"
	"                        0 = all)\n"
	"  -b, --batch           print pages one after the other as plain text; the default if the\n"
	"                        output is not a terminal\n"
	"  -o, --openmetrics FILE  write the numbers to FILE at each update, for a monitoring system,\n"
	"                        instead of showing pages\n"
	"  -h, --help            print this text\n"
	"\n"
	"  gpuprof top 1234\n"
	"  gpuprof top traces\n"
	"  gpuprof top --batch --iterations 1 gpuprof-app-1234.gpuprof\n"
	"  gpuprof top --delay 15 --openmetrics /var/lib/node_exporter/textfile/train.prom traces\n"
	"\n"
	"Exit status: 0; 1 if there is nothing to watch, or more than one program; 2 for a wrong\n"
	"command line.\n";

struct arguments {
	const char *target; /* NULL = find the recorded program */
	uint64_t delay_ns;
	uint64_t iterations; /* 0 = no limit */
	size_t rows;         /* SIZE_MAX = all */
	bool has_rows;
	bool batch;
	const char *openmetrics; /* a file; NULL = pages */
};

/* ---- the command line ---- */

static int take_delay(const struct gp_command_line *line, const char *text)
{
	struct arguments *a = line->arguments;
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end != '\0' || !(seconds >= 0.1 && seconds <= 86400))
		return gp_command_fail(
			GP_EXIT_USAGE,
			"top: --delay needs a number of seconds from 0.1 to 86400, not %s", text);
	a->delay_ns = (uint64_t)(seconds * (double)NS_PER_S);
	return GP_COMMAND_GO_ON;
}

static int take_rows(const struct gp_command_line *line, const char *text)
{
	struct arguments *a = line->arguments;
	uint64_t number;

	if (!gp_command_number("top", "--rows", text, GP_COMMAND_MOST, &number))
		return GP_EXIT_USAGE;
	a->rows = number != 0 ? number : SIZE_MAX;
	a->has_rows = true;
	return GP_COMMAND_GO_ON;
}

static int parse(int argc, char **argv, struct arguments *a)
{
	const struct gp_command_option options[] = {
		{"delay", 'd', .take = take_delay},
		{"iterations", 'n', .number = &a->iterations, .most = GP_COMMAND_MOST},
		{"rows", 'r', .take = take_rows},
		{"batch", 'b', .flag = &a->batch},
		{"openmetrics", 'o', .text = &a->openmetrics},
		{0},
	};
	const struct gp_command_line line = {
		.command = "top", .usage = usage, .options = options, .arguments = a};
	int status = gp_command_line_read(&line, argc, argv);

	if (status == GP_COMMAND_GO_ON && argc - optind > 1)
		return gp_command_fail(GP_EXIT_USAGE,
				       "top: name one process, one trace file or one folder");
	a->target = argv[optind];
	a->batch |= a->openmetrics || !gp_screen_is_possible();
	if (a->batch && !a->has_rows)
		a->rows = BATCH_ROWS;
	return status;
}

/* ---- which program ---- */

/* The command line of a process, with spaces for NULs, and without its secrets. Free it. */
static char *read_command(uint32_t pid)
{
	char path[64], text[COMMAND_BYTES], *masked, *escaped, *fitted;
	FILE *file;
	size_t got = 0;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	file = fopen(path, "re");
	if (file) {
		got = fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
	}
	for (size_t i = 0; i + 1 < got; i++)
		text[i] = text[i] == '\0' ? ' ' : text[i];
	text[got] = '\0';
	masked = gp_secrets_mask(text);
	escaped = masked ? gp_text_escape(masked) : NULL;
	fitted = escaped ? gp_text_fit(escaped, COMMAND_ROOM) : NULL;
	free(masked);
	free(escaped);
	return fitted;
}

static int list(const struct gp_running_list *running)
{
	gp_command_fail(0,
			"top: %u programs are being recorded; type one of these:", running->count);
	for (uint32_t i = 0; i < running->count; i++) {
		char *command = read_command(running->programs[i].pid);

		fprintf(stderr, "  gpuprof top %-8u  # %s\n", running->programs[i].pid,
			command ? command : "");
		free(command);
	}
	return GP_EXIT_FAILED;
}

/* Returns 0 if the text is not a process id. */
static uint32_t pid_of(const char *text)
{
	char *end;
	unsigned long pid = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || pid > UINT32_MAX ||
	    access(text, F_OK) == 0)
		return 0;
	return (uint32_t)pid;
}

static int choose(const struct gp_running_list *running, uint32_t pid, char path[])
{
	const struct gp_running *program =
		pid != 0 ? gp_running_of(running, pid) : running->programs;

	if (pid == 0 && running->count > 1)
		return list(running);
	if (pid == 0 && running->count == 0)
		return gp_command_fail(
			GP_EXIT_FAILED,
			"top: no program of yours is being recorded; start one with `gpuprof run ./app`, or name a trace: gpuprof top FILE");
	if (!program)
		return gp_command_fail(
			GP_EXIT_FAILED,
			"top: process %u is not being recorded, or belongs to another user; run gpuprof top to list your programs, or gpuprof top FILE to read a trace",
			pid);
	strcpy(path, program->trace_path);
	return 0;
}

/*
 * Writes the path of the trace to read; path has GP_MESSAGE_BYTES bytes. Returns 0 or an exit status.
 */
static int find_trace(const struct arguments *a, char path[])
{
	uint32_t pid = a->target ? pid_of(a->target) : 0;
	struct gp_running_list running;
	int status = GP_EXIT_FAILED;

	if (a->target && pid == 0) {
		if ((size_t)snprintf(path, GP_MESSAGE_BYTES, "%s", a->target) >= GP_MESSAGE_BYTES)
			return gp_command_fail(GP_EXIT_FAILED, "top: the name is too long");
		return 0;
	}
	if (gp_running_find(&running) == 0)
		status = choose(&running, pid, path);
	else
		gp_command_fail(0, "no memory");
	gp_running_free(&running);
	return status;
}

/* ---- watching ---- */

/* A trace that is watched. */
struct member {
	char *path;
	struct gp_tail *tail;
	struct gp_live *live;
};

struct watch {
	const struct arguments *arguments;
	const char *folder; /* of a job; NULL = one program */
	struct member *members;
	uint32_t count, capacity;
	uint32_t unread; /* files of the folder that could not be opened, ... */
	bool is_full;    /* ... because no more files may be open */
	struct gp_names *names;
	uint64_t now_ns;
	enum gp_screen_event event;   /* the last event */
	char error[GP_MESSAGE_BYTES]; /* why a file could not be written */
};

/* ---- the traces ---- */

static void free_member(struct member *member)
{
	gp_tail_close(member->tail);
	gp_live_free(member->live);
	free(member->path);
}

/* Returns 0, or a negative errno value with a line for the user. */
static int add_member(struct watch *w, const char *path, char message[GP_MESSAGE_BYTES])
{
	struct member member = {.path = strdup(path),
				.live = gp_live_new(w->folder && !w->arguments->openmetrics)};
	int result = -ENOMEM;

	snprintf(message, GP_MESSAGE_BYTES, "no memory");
	if (member.path && member.live &&
	    gp_array_grow(&w->members, &w->capacity, w->count, sizeof(*w->members)) == 0)
		result = gp_tail_open(path, &member.tail, message, GP_MESSAGE_BYTES);
	if (result == 0)
		w->members[w->count++] = member;
	else
		free_member(&member);
	return result;
}

static bool is_member(const struct watch *w, const char *path)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (strcmp(w->members[i].path, path) == 0)
			return true;
	return false;
}

/*
 * The traces that the folder has now: a rank may start later.  A file that cannot be opened is tried
 * again the next time; if there are only such files, it fails as add_member().
 */
static int add_folder(struct watch *w, char message[GP_MESSAGE_BYTES])
{
	struct gp_trace_files files = {0};
	int result = gp_trace_files_add(&files, w->folder, message, GP_MESSAGE_BYTES), error = 0;

	if (result == 0) {
		w->unread = 0;
		w->is_full = false;
	}
	for (uint32_t i = 0; i < files.count && result == 0; i++) {
		if (is_member(w, files.files[i].path))
			continue;
		error = add_member(w, files.files[i].path, message);
		w->unread += error != 0;
		w->is_full |= error == -EMFILE;
	}
	gp_trace_files_free(&files);
	if (result == 0 && w->count == 0)
		return error != 0 ? error : -ENODATA;
	return result;
}

/* Each trace needs two descriptors. */
static void allow_more_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

static bool is_left(const struct watch *w)
{
	return w->event == GP_SCREEN_QUIT || w->event == GP_SCREEN_SIGNAL;
}

static void show_progress(struct watch *w)
{
	double read = 0, bytes = 0;
	char text[64];

	for (uint32_t i = 0; i < w->count; i++) {
		const struct gp_tail_state *state = gp_tail_state(w->members[i].tail);

		read += (double)state->read_bytes;
		bytes += (double)state->file_bytes;
	}
	w->event = gp_screen_wait(0);
	if (gp_monotonic_ns() < w->now_ns + NS_PER_S / 2)
		return;
	snprintf(text, sizeof(text), "gpuprof top: reading the trace%s: %.0f %%\n",
		 w->count > 1 ? "s" : "", bytes > 0 ? read / bytes * 100 : 0);
	gp_screen_show(text);
}

/* Reads all records of a trace that are there. */
static int read_member(struct watch *w, const struct member *member)
{
	const struct gp_record_sink sink = {gp_live_take, member->live};
	int result = 1;

	while (result > 0 && !is_left(w)) {
		int settled;

		result = gp_tail_read(member->tail, &sink);
		settled = result >= 0 ? gp_live_settle(member->live) : 0;
		if (settled < 0)
			result = settled;
		if (result > 0 && !w->arguments->batch)
			show_progress(w);
	}
	if (w->folder) {
		gp_tail_rest(member->tail);
		gp_live_rest(member->live);
	}
	return result;
}

static int read_on(struct watch *w)
{
	int result = 0;

	w->now_ns = gp_monotonic_ns();
	for (uint32_t i = 0; i < w->count && result >= 0 && !is_left(w); i++)
		result = read_member(w, &w->members[i]);
	w->now_ns = gp_monotonic_ns();
	return result < 0 ? result : 0;
}

/* Of the member, without the size of the terminal. */
static struct gp_page page_of(const struct watch *w, const struct member *member)
{
	return (struct gp_page){
		.live = member->live,
		.tail = gp_tail_state(member->tail),
		.names = w->names,
		.path = member->path,
		.kernel_rows = w->arguments->rows,
	};
}

static struct gp_page make_page(const struct watch *w)
{
	struct gp_page page = page_of(w, &w->members[0]);
	size_t rows;

	if (!w->arguments->batch)
		gp_screen_size(&rows, &page.columns);
	if (!w->arguments->batch && !w->arguments->has_rows)
		page.kernel_rows = rows;
	return page;
}

/* Free them. */
static struct gp_page *pages_of(const struct watch *w)
{
	struct gp_page *pages = calloc((size_t)w->count + 1, sizeof(*pages));

	for (uint32_t i = 0; i < w->count; i++)
		pages[i] = page_of(w, &w->members[i]);
	return pages;
}

static int print_job(FILE *out, const struct watch *w, const struct gp_page *sized)
{
	struct gp_page *pages = pages_of(w);
	const struct gp_job_page job = {.folder = w->folder,
					.ranks = pages,
					.count = w->count,
					.unread = w->unread,
					.is_full = w->is_full,
					.columns = sized->columns,
					.rows = sized->kernel_rows};
	int result = gp_job_page_print(out, &job);

	free(pages);
	return result;
}

static int print_page(FILE *out, const struct watch *w)
{
	struct gp_page page = make_page(w);
	int result = w->folder ? print_job(out, w, &page) : gp_page_print_head(out, &page);

	return result == 0 && !w->folder ? gp_page_print_kernels(out, &page) : result;
}

static int write_openmetrics(struct watch *w)
{
	struct gp_output_file file;
	struct gp_page *pages;
	int result = gp_output_file_open(&file, w->arguments->openmetrics, NULL, w->error,
					 sizeof(w->error));

	if (result < 0)
		return result;
	pages = pages_of(w);
	gp_top_openmetrics_print(file.stream, pages, w->count);
	free(pages);
	return gp_output_file_close(&file, 0, w->error, sizeof(w->error));
}

static int show(struct watch *w)
{
	char *text = NULL;
	size_t bytes;
	FILE *out;
	int result;

	if (w->arguments->openmetrics)
		return write_openmetrics(w);
	out = open_memstream(&text, &bytes);
	result = out ? print_page(out, w) : -ENOMEM;
	if (out && gp_memstream_close(out, &text) != 0)
		result = -ENOMEM;
	if (result == 0 && w->arguments->batch) {
		fputs(text, stdout);
		putchar('\n');
		result = fflush(stdout) == 0 ? 0 : -errno;
	} else if (result == 0) {
		gp_screen_show(text);
	}
	free(text);
	return result;
}

static int wait_for_next(struct watch *w, uint64_t until_ns)
{
	int result = 0;

	do {
		struct timespec until = {(time_t)(until_ns / NS_PER_S),
					 (long)(until_ns % NS_PER_S)};

		if (w->arguments->batch) {
			while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) ==
			       EINTR)
				;
			return 0;
		}
		w->event = gp_screen_wait(until_ns);
		if (w->event == GP_SCREEN_REDRAW)
			result = show(w);
	} while (result == 0 && w->event == GP_SCREEN_REDRAW);
	return result;
}

static bool is_over(const struct member *member)
{
	const struct gp_tail_state *state = gp_tail_state(member->tail);

	return state->closed || !state->live;
}

static bool are_over(const struct watch *w)
{
	uint32_t over = 0;

	for (uint32_t i = 0; i < w->count; i++)
		over += is_over(&w->members[i]);
	return over == w->count;
}

static bool stay_empty(const struct watch *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (!gp_tail_state(w->members[i].tail)->is_empty)
			return false;
	return are_over(w);
}

static int end_interval(struct watch *w)
{
	int result = 0;

	for (uint32_t i = 0; i < w->count && result == 0; i++) {
		struct gp_live *live = w->members[i].live;

		result = gp_live_end_interval(live, gp_live_now_ns(live), is_over(&w->members[i]));
	}
	return result;
}

static int watch_all(struct watch *w)
{
	char message[GP_MESSAGE_BYTES];

	for (uint64_t i = 1;; i++) {
		uint64_t began_ns = gp_monotonic_ns();
		int result;

		if (w->folder)
			(void)add_folder(w, message);
		result = read_on(w);

		if (result == 0 && !is_left(w) && stay_empty(w))
			result = -ENODATA;
		if (result == 0 && !is_left(w))
			result = end_interval(w);
		if (result == 0 && !is_left(w))
			result = show(w);
		if (result < 0 || is_left(w) || are_over(w) || i == w->arguments->iterations)
			return result;
		result = wait_for_next(w, began_ns + w->arguments->delay_ns);
		if (result < 0 || is_left(w))
			return result;
		for (uint32_t at = 0; at < w->count; at++)
			gp_live_next_interval(w->members[at].live);
	}
}

static void say_farewell(const struct watch *w)
{
	struct gp_page page = make_page(w);
	char word[GP_SHELL_WORD_BYTES];

	if (is_left(w) || !are_over(w))
		return;
	if (w->folder)
		printf("gpuprof: all processes ended; to see a summary, type: gpuprof summary %s",
		       gp_shell_word(w->folder, word, sizeof(word)));
	else
		gp_page_print_farewell(stdout, &page);
	putchar('\n');
}

static int watch_on_terminal(struct watch *w)
{
	int result;

	if (w->arguments->batch)
		return watch_all(w);
	gp_screen_open();
	result = watch_all(w);
	gp_screen_close();
	return result;
}

static void free_members(struct watch *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		free_member(&w->members[i]);
	free(w->members);
}

static int watch_path(const struct arguments *a, const char *path)
{
	struct watch w = {.arguments = a,
			  .folder = gp_trace_files_is_folder(path) ? path : NULL,
			  .names = gp_names_new(),
			  .event = GP_SCREEN_TIME_IS_UP};
	char message[GP_MESSAGE_BYTES] = "no memory";
	int result = -ENOMEM;

	if (w.folder) {
		allow_more_files();
		/* buffers that a rank needs only while it is read leave no holes among those that stay */
		mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	}
	if (w.names)
		result = w.folder ? add_folder(&w, message) : add_member(&w, path, message);
	if (result == 0) {
		result = watch_on_terminal(&w);
		snprintf(
			message, sizeof(message), "%s",
			result == -ENODATA
				? "top: the trace has no readable records, and no process writes to it"
			: *w.error ? w.error
				   : strerror(-result));
	}
	if (result == 0)
		say_farewell(&w);
	free_members(&w);
	gp_names_free(w.names);
	return result == 0 ? 0 : gp_command_fail(GP_EXIT_FAILED, "%s", message);
}

int gp_command_top(int argc, char **argv)
{
	struct arguments a = {.delay_ns = NS_PER_S};
	char path[GP_MESSAGE_BYTES];
	int status = parse(argc, argv, &a);

	if (status != GP_COMMAND_GO_ON)
		return status;
	status = find_trace(&a, path);
	return status == 0 ? watch_path(&a, path) : status;
}

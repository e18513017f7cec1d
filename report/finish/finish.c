#include "report/finish/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/shell_word.h"
#include "report/base/message.h"
#include "report/base/worker_process.h"
#include "report/base/parallel.h"
#include "report/export/export.h"
#include "report/base/text/format.h"
#include "report/html/html.h"
#include "report/finish/keep_end.h"
#include "report/finish/keep_energy.h"
#include "report/finish/keep_links.h"
#include "report/finish/keep_names.h"
#include "report/base/memstream.h"
#include "report/load/load_model.h"
#include "report/model/model.h"
#include "report/model/process_name.h"
#include "report/base/monotonic.h"
#include "report/codec/output_file.h"
#include "report/finish/output_name.h"
#include "report/model/sums/totals.h"
#include "report/finish/nothing.h"
#include "report/base/shared_folder.h"
#include "report/summary/summary.h"
#include "report/base/text/text.h"
#include "report/load/traces.h"
#include "report/base/io.h"

#define PROGRESS_EVERY_NS 100000000
#define LOCK_TRIES        50
#define LOCK_PAUSE_NS     10000000
#define NO_GROUP          65534
#define COMPRESSED_BYTES  20e6 /* a larger Chrome trace is */
#define USUAL_BYTES       667  /* of a slice at most: 300,000 are 200 MB, which a browser opens */
#define MOST_EXPORTS      8    /* in parallel: a disk does not write more of them faster */

/* A trace that is being finished. */
struct piece {
	const char *path;
	const struct gp_model *model; /* NULL = unreadable */
	int lock;                     /* locked descriptor of the trace; -1 = none */
	/* the same descriptor if records may be appended, else -1 */
	int save_to;
	char *chrome_path;               /* the Chrome trace; NULL = none */
	uint64_t slice_limit;            /* of it; 0 = none */
	struct gp_worker_process export; /* the process that writes it */
	uint32_t running_pid;            /* skipped, as this process still runs; 0 = not skipped */
};

struct finishing {
	const struct gp_finish_options *options;
	const struct gp_exporter *exporter; /* NULL = no Chrome trace */
	struct piece *pieces;
	struct gp_model **models;
	size_t piece_count, model_count;
	size_t begun, ended; /* indices of pieces: exports begun, and exports ended */
	bool is_large;       /* loaded in one pass: totals only, no single events */
	/* collects the output, so that the output of several processes does not mix */
	FILE *text;
	char *text_bytes;
	size_t text_length;
	char *page_path; /* the HTML page, once written */
	/* NULL = the summary does not go to a file; named after the first process */
	char *summary_file;
	uint64_t last_sign_ns;
	int result;
};

static void fail(struct finishing *f, int error, const char *message)
{
	if (!f->options->quiet) {
		fputs("gpuprof: ", stderr);
		gp_text_print(stderr, message);
		fputc('\n', stderr);
	}
	if (f->result == 0)
		f->result = error;
}

static void show_progress(void *context)
{
	struct finishing *f = context;
	uint64_t now_ns = gp_monotonic_ns();

	if (f->options->progress_fd < 0 || now_ns - f->last_sign_ns < PROGRESS_EVERY_NS)
		return;
	f->last_sign_ns = now_ns;
	/* the reader may have ended */
	(void)!write(f->options->progress_fd, ".", 1);
}

/* ---- one trace ---- */

/* Another process that only saves rings holds the lock briefly (report/trace/orphans.h). */
static int lock_soon(int fd)
{
	int result = flock(fd, LOCK_EX | LOCK_NB);

	for (int i = 0; i < LOCK_TRIES && result != 0 && errno == EWOULDBLOCK; i++) {
		nanosleep(&(struct timespec){0, LOCK_PAUSE_NS}, NULL);
		result = flock(fd, LOCK_EX | LOCK_NB);
	}
	return result;
}

/* Root adds to a trace of another user what that user may know (keep_names()). */
static bool may_be_added_to(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && (status.st_uid == geteuid() || geteuid() == 0);
}

/*
 * Returns false if another process holds the lock. If the file system has no locks, both may write
 * their outputs, as each replaces a whole file; but nothing is appended to the trace.
 */
static bool lock(struct piece *piece)
{
	bool writable;

	piece->lock = open(piece->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK);
	writable = piece->lock >= 0;
	if (!writable)
		piece->lock = open(piece->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (piece->lock < 0)
		return true;
	if (lock_soon(piece->lock) != 0)
		return errno != EWOULDBLOCK;
	if (writable && may_be_added_to(piece->lock))
		piece->save_to = piece->lock;
	return true;
}

static int write_chrome(struct finishing *f, const struct piece *piece, FILE *messages,
			char *message)
{
	struct gp_export_options options = {
		.slice_limit = piece->slice_limit,
		.messages = messages,
		.progress = show_progress,
		.progress_context = f,
	};
	const struct gp_export_source source = gp_export_source_of(piece->model);

	return gp_export_to(f->exporter, &source, &options, piece->chrome_path, piece->path,
			    message, GP_MESSAGE_BYTES);
}

/* The context of do_export(), which may run in a worker process. */
struct export_work {
	struct finishing *f;
	const struct piece *piece;
};

static int do_export(void *context, FILE *messages)
{
	const struct export_work *work = context;
	char message[GP_MESSAGE_BYTES];
	int result = write_chrome(work->f, work->piece, messages, message);

	if (result != 0)
		fail(work->f, result, message);
	return result;
}

static void drop_chrome(struct finishing *f, struct piece *piece, int result)
{
	if (f->result == 0)
		f->result = result;
	free(piece->chrome_path);
	piece->chrome_path = NULL;
}

static void end_export(struct finishing *f, struct piece *piece)
{
	char message[GP_MESSAGE_BYTES], word[GP_SHELL_WORD_BYTES];
	int result = piece->export.process ? gp_worker_process_end(&piece->export, f->text) : 0;

	if (result == -ECANCELED) {
		gp_output_file_clean(piece->chrome_path, piece->path);
		snprintf(
			message, sizeof(message),
			"the Chrome trace was not written: the process that wrote it was killed; to write it, type: gpuprof export %s",
			gp_shell_word(piece->path, word, sizeof(word)));
		fail(f, result, message);
	}
	if (result != 0)
		drop_chrome(f, piece, result);
}

/* Waits for the oldest exports until at most `most` of them run. */
static void end_exports(struct finishing *f, size_t most)
{
	for (; f->begun - f->ended > most; f->ended++)
		end_export(f, &f->pieces[f->ended]);
}

/* Whether another trace's export writes that path: of "app" and "app.gpuprof" both are app.json. */
static bool is_being_written(const struct finishing *f, const char *path)
{
	for (size_t i = f->ended; i < f->begun; i++)
		if (f->pieces[i].export.process && strcmp(f->pieces[i].chrome_path, path) == 0)
			return true;
	return false;
}

/* Of slices with long names fewer are kept.  Returns false if there is no memory. */
static bool plan_chrome(const struct finishing *f, struct piece *piece)
{
	double bytes = gp_export_chrome_bytes(piece->model);
	double slices = (double)gp_export_most_slices(piece->model);
	double limit = (double)f->options->chrome_limit;
	char suffix[32];

	if (bytes > slices * USUAL_BYTES)
		limit *= slices * USUAL_BYTES / bytes;
	piece->slice_limit = (uint64_t)ceil(limit);
	if (limit > 0 && limit < slices)
		bytes *= limit / slices;
	snprintf(suffix, sizeof(suffix), "%s%s", f->exporter->suffix,
		 bytes > COMPRESSED_BYTES ? ".gz" : "");
	piece->chrome_path = gp_output_path(piece->path, suffix);
	return piece->chrome_path != NULL;
}

/*
 * Exports in a worker process while other traces and the summary follow; in this process if there
 * can be none.
 */
static void export_piece(struct finishing *f, struct piece *piece)
{
	struct export_work work = {f, piece};
	uint32_t most = gp_core_count() < MOST_EXPORTS ? gp_core_count() : MOST_EXPORTS;
	int result = 0;

	plan_chrome(f, piece);
	end_exports(f, is_being_written(f, piece->chrome_path) ? 0 : most - 1);
	if (!gp_worker_process_begin(&piece->export, do_export, &work))
		result = do_export(&work, f->text);
	if (result != 0)
		drop_chrome(f, piece, result);
}

static int write_page_to(struct finishing *f, const char *path, char *message)
{
	const struct gp_html_options options = {
		.event_limit = GP_HTML_EVENTS, .progress = show_progress, .progress_context = f};
	struct gp_output_file file;
	int result =
		gp_output_file_open(&file, path, f->models[0]->path, message, GP_MESSAGE_BYTES);

	if (result != 0)
		return result;
	result = gp_html_write(f->models, f->model_count, &options, file.stream, NULL);
	return gp_output_file_close(&file, result, message, GP_MESSAGE_BYTES);
}

/* May run in a worker process. */
static int do_page(void *context, FILE *messages)
{
	struct finishing *f = context;
	char message[GP_MESSAGE_BYTES];
	int result = write_page_to(f, f->page_path, message);

	(void)messages;
	if (result != 0)
		fail(f, result, message);
	return result;
}

/* Without memory for the page, the summary is printed all the same. */
static void write_page(struct finishing *f)
{
	struct gp_worker_process worker;
	char message[GP_MESSAGE_BYTES];
	int result;

	f->page_path = gp_output_path(f->models[0]->path, GP_HTML_SUFFIX);
	result = gp_worker_process_begin(&worker, do_page, f)
			 ? gp_worker_process_end(&worker, f->text)
			 : do_page(f, f->text);
	if (result == 0)
		return;
	if (result == -ECANCELED) {
		gp_output_file_clean(f->page_path, f->models[0]->path);
		snprintf(
			message, sizeof(message),
			"the HTML page of %s was not written: the process that wrote it was killed",
			f->models[0]->path);
		fail(f, result, message);
	}
	f->result = f->result == 0 ? result : f->result;
	free(f->page_path);
	f->page_path = NULL;
}

/*
 * Lets the next process have the trace once the Chrome trace is written or has failed: the export
 * process inherits the lock, too.
 */
static void unlock(struct piece *piece)
{
	if (piece->lock >= 0)
		close(piece->lock);
	piece->lock = piece->save_to = -1;
}

static bool is_file(const char *summary)
{
	return strcmp(summary, "stderr") != 0 && strcmp(summary, "none") != 0;
}

/* Names the file after the first readable process. */
static void name_summary(struct finishing *f, const struct gp_model *model)
{
	if (!f->summary_file && is_file(f->options->summary))
		f->summary_file = gp_output_name(f->options->summary, model);
}

struct names_work {
	int trace;
	struct gp_model *model;
};

/*
 * The trace of another user names the files that names are read from, and will hold the names: root
 * reads them with the rights of that user alone.
 */
static int keep_names_as_owner(void *context, FILE *messages)
{
	const struct names_work *work = context;
	struct stat status;

	(void)messages;
	if (fstat(work->trace, &status) != 0 || setgroups(0, NULL) != 0 || setgid(NO_GROUP) != 0 ||
	    setuid(status.st_uid) != 0)
		return -EPERM;
	return gp_keep_names(work->trace, work->model);
}

/* Other traces are read where their program files are. */
static void keep_names(const struct piece *piece, struct gp_model *model)
{
	struct names_work work = {piece->save_to, model};
	struct gp_worker_process worker;
	struct stat status;

	if (piece->save_to < 0 || fstat(piece->save_to, &status) != 0)
		return;
	if (status.st_uid == geteuid())
		(void)gp_keep_names(piece->save_to, model);
	else if (gp_worker_process_begin(&worker, keep_names_as_owner, &work))
		(void)gp_worker_process_end(&worker, stderr);
}

static void load_piece(struct finishing *f, struct piece *piece)
{
	struct gp_model **model = &f->models[f->model_count];
	struct gp_load_options options = {
		.progress = show_progress,
		.progress_context = f,
		.save_to = piece->save_to,
		.in_one_pass = f->is_large,
	};
	char message[GP_MESSAGE_BYTES];
	int result = gp_model_load_with(piece->path, &options, model, message, sizeof(message));

	if (result == -ENOENT && f->options->ended_only)
		gp_nothing_explain_vanished(piece->path, message, sizeof(message));
	if (result != 0) {
		fail(f, result, message);
		return;
	}
	name_summary(f, *model);
	if (f->options->ended_only && (*model)->losses.live) {
		piece->running_pid = (*model)->pid;
		gp_model_free(*model);
		return;
	}
	f->model_count++;
	piece->model = *model;
	if (f->options->ended_pid != 0 && f->options->ended_pid == (*model)->pid)
		gp_keep_end(*model, f->options->ended_status, piece->save_to);
	gp_keep_energy(*model, &f->options->energies, piece->save_to);
	gp_keep_links(*model, &options);
	keep_names(piece, *model);
	if (f->exporter && !f->is_large)
		export_piece(f, piece);
}

static void take_piece(struct finishing *f, struct piece *piece)
{
	char message[GP_MESSAGE_BYTES];

	if (lock(piece)) {
		load_piece(f, piece);
	} else {
		snprintf(message, sizeof(message), "%s is being finished by another process",
			 piece->path);
		fail(f, -EBUSY, message);
	}
	unlock(piece);
	f->begun++;
}

/* ---- output ---- */

static bool wants_summary(const struct finishing *f)
{
	return !f->options->quiet && strcmp(f->options->summary, "none") != 0;
}

/* A process that outlives the launcher finishes its trace itself. */
static void name_running(struct finishing *f)
{
	char word[GP_SHELL_WORD_BYTES];

	for (size_t i = 0; i < f->piece_count; i++)
		if (f->pieces[i].running_pid)
			fprintf(f->text,
				"gpuprof: pid %u still runs%s; it finishes its trace when it ends. If it is killed, type: gpuprof finish %s (with --wait=all gpuprof-run waits for such processes)\n",
				f->pieces[i].running_pid,
				f->model_count > 0 && wants_summary(f)
					? " and is not in this summary"
					: "",
				gp_shell_word(f->pieces[i].path, word, sizeof(word)));
}

/* Prints one line for each process. */
static void name_files(struct finishing *f)
{
	size_t named = 0;

	for (size_t i = 0; i < f->piece_count; i++) {
		const struct piece *piece = &f->pieces[i];

		if (!piece->model)
			continue;
		fprintf(f->text, "gpuprof: pid %u: trace ", piece->model->pid);
		gp_text_print(f->text, piece->path);
		if (piece->chrome_path) {
			fputs(", Chrome trace ", f->text);
			gp_text_print(f->text, piece->chrome_path);
		}
		fputc('\n', f->text);
		named += piece->chrome_path != NULL;
	}
	if (f->page_path) {
		fputs("gpuprof: open in a browser: ", f->text);
		gp_text_print(f->text, f->page_path);
		fputc('\n', f->text);
	}
	if (named > 0)
		fprintf(f->text, "gpuprof: open %s at https://ui.perfetto.dev\n",
			named == 1 ? "the Chrome trace" : "Chrome traces");
}

/* At the end of a program the user waits for seconds, not for minutes. */
static void name_what_is_left_out(struct finishing *f)
{
	char word[GP_SHELL_WORD_BYTES];

	if (!f->is_large || !f->exporter || f->model_count == 0)
		return;
	fprintf(f->text,
		"gpuprof: no Chrome trace was written, as it takes minutes for %s%s; to write the last 300,000 slices, type: gpuprof export --limit 300000 %s\n",
		gp_format_bytes(f->models[0]->totals->file_bytes).text,
		f->model_count > 1 ? " and others" : "",
		gp_shell_word(f->models[0]->path, word, sizeof(word)));
}

static bool used_driver(const struct finishing *f)
{
	for (size_t i = 0; i < f->model_count; i++)
		if (f->models[i]->info[GP_INFO_DRIVER_VERSION])
			return true;
	return false;
}

/* Prints the summary; may run in a worker process. */
static int do_summary(void *context, FILE *messages)
{
	const struct gp_summary_options options = {.brief = true};
	const struct finishing *f = context;
	struct gp_model **models = calloc(f->model_count + 1, sizeof(struct gp_model *));
	int error = 0;

	for (size_t i = 0; !error && i < f->model_count; i++)
		models[i] = f->models[i];
	if (!error)
		error = gp_process_order(models, f->model_count);
	if (!error)
		error = gp_summary_print(messages, models, f->model_count, &options);
	free(models);
	return error;
}

/* A crash in the summary does not end this process or the exports. */
static void write_summary(struct finishing *f)
{
	struct gp_worker_process worker;
	int result = gp_worker_process_begin(&worker, do_summary, f)
			     ? gp_worker_process_end(&worker, f->text)
			     : do_summary(f, f->text);

	if (result == -ECANCELED)
		fail(f, result,
		     "the summary is not complete: the process that printed it was killed");
	else if (result != 0)
		fail(f, result, "no memory for the summary");
}

static void write_text(struct finishing *f)
{
	if (f->options->at_exit && f->model_count > 0 && !used_driver(f) &&
	    !gp_nothing_finds_driver())
		gp_nothing_print_driver(f->text);
	if (wants_summary(f) && f->model_count > 0)
		write_summary(f);
	if (f->options->html && f->model_count > 0)
		write_page(f);
	end_exports(f, 0);
	if (!f->options->names_no_files)
		name_files(f);
	name_what_is_left_out(f);
	name_running(f);
}

/* Appends: several processes may write to the same file. */
static int deliver_to_file(struct finishing *f, const char *path)
{
	int result, fd;

	if (gp_output_is_trace(path))
		return -EEXIST;
	fd = gp_shared_folder_open(path, O_APPEND);
	if (fd < 0)
		return fd;
	result = gp_write_all(fd, f->text_bytes, f->text_length);
	if (close(fd) != 0 && result == 0)
		result = -errno;
	return result;
}

static void deliver_text(struct finishing *f)
{
	char message[GP_MESSAGE_BYTES], word[GP_SHELL_WORD_BYTES], text[GP_SHARED_FOLDER_TEXT];
	int result;

	if (f->options->quiet || f->text_length == 0)
		return;
	if (!is_file(f->options->summary)) {
		/* there is no place to report a failure */
		(void)gp_write_all(STDERR_FILENO, f->text_bytes, f->text_length);
		return;
	}
	result = deliver_to_file(f, f->summary_file);
	if (result == 0)
		return;
	snprintf(message, sizeof(message),
		 "cannot write the summary to %s: %s; to print it, type: gpuprof summary %s",
		 f->summary_file ? f->summary_file : f->options->summary,
		 result == -EEXIST ? "it is a trace"
				   : gp_shared_folder_error(result, f->summary_file, text),
		 gp_shell_word(f->pieces[0].path, word, sizeof(word)));
	fail(f, result, message);
}

/* ---- all traces ---- */

static int choose_exporter(struct finishing *f)
{
	char message[GP_MESSAGE_BYTES];

	if (strcmp(f->options->chrome, "none") == 0)
		return 0;
	if (strcmp(f->options->chrome, "json") == 0) {
		f->exporter = &gp_exporter_chrome;
		return 0;
	}
	snprintf(message, sizeof(message), "--chrome needs json or none, not %s",
		 f->options->chrome);
	fail(f, -EINVAL, message);
	return -EINVAL;
}

static void prepare(struct finishing *f, char *const *traces, size_t count)
{
	f->pieces = calloc(count, sizeof(*f->pieces));
	f->models = calloc(count, sizeof(struct gp_model *));
	f->text = open_memstream(&f->text_bytes, &f->text_length);
	f->piece_count = count;
	for (size_t i = 0; i < count; i++)
		f->pieces[i] = (struct piece){.path = traces[i], .lock = -1, .save_to = -1};
}

static void release(struct finishing *f)
{
	for (size_t i = 0; i < f->model_count; i++)
		gp_model_free(f->models[i]);
	for (size_t i = 0; i < f->piece_count; i++)
		free(f->pieces[i].chrome_path);
	free(f->pieces);
	free(f->models);
	free(f->page_path);
	free(f->text_bytes);
	free(f->summary_file);
}

/* A page shows single events, so --html needs complete models and takes minutes. */
static void choose_way(struct finishing *f, char *const *traces, size_t count)
{
	bool are_large = gp_traces_are_large(traces, count);

	f->is_large = are_large && !f->options->html;
	if (are_large && f->options->html && !f->options->quiet)
		fputs("gpuprof: the traces are large, and the HTML page takes minutes; the traces are complete without it\n",
		      stderr);
}

int gp_finish(char *const *traces, size_t trace_count, const struct gp_finish_options *options)
{
	struct finishing f = {.options = options};

	if (choose_exporter(&f) != 0 || trace_count == 0)
		return f.result;
	prepare(&f, traces, trace_count);
	choose_way(&f, traces, trace_count);
	for (size_t i = 0; i < trace_count; i++)
		take_piece(&f, &f.pieces[i]);
	write_text(&f);
	if (f.text) {
		gp_memstream_close(f.text, &f.text_bytes);
		deliver_text(&f);
	}
	release(&f);
	return f.result;
}

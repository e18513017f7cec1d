#include "report/trace/orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/base/message.h"
#include "report/trace/decode.h"
#include "report/trace/recover.h"
#include "report/trace/ring_files.h"
#include "report/trace/ring_salvage.h"
#include "report/trace/trace_read.h"

#define LONGEST_NUMBER 21
#define LONGEST_S      2          /* the user waits for the end of this run */
#define LARGEST_TRACE  (1u << 30) /* in bytes; reading larger traces takes too long */
#define KEPT_S         600        /* files without a trace are kept this long ... */
/* ... if all of them take less: half of what running processes may take. */
#define CROWD_BYTES (16u << 20)

/* A ring file, and the facts of its trace. */
struct orphan {
	const char *path;
	int file;
	struct gp_ring_file_header header;
	struct gp_process process;
	struct gp_rings rings;
	bool is_crowded;                         /* its folder has too many such bytes */
	bool is_of_pid, is_of_start, is_of_boot; /* whether the trace belongs to this process */
	bool closed;
	bool saved; /* an earlier salvage was completed */
	uint64_t next_sequence;
	uint64_t counters[GP_COUNTERS];
};

/* ---- facts of the trace ---- */

static bool is_text(const struct gp_record_string *string, const char *text, const char *expected)
{
	return string->length_bytes == strlen(expected) &&
	       memcmp(text, expected, string->length_bytes) == 0;
}

static bool is_number(const struct gp_record_string *string, const char *text, uint64_t number)
{
	char expected[LONGEST_NUMBER];

	snprintf(expected, sizeof(expected), "%lu", number);
	return is_text(string, text, expected);
}

static void take_fact(struct orphan *o, const struct gp_record_string *string, const char *text)
{
	if (string->space != GP_STRING_INFO)
		return;
	if (string->id == GP_INFO_PID)
		o->is_of_pid = is_number(string, text, o->header.pid);
	else if (string->id == GP_INFO_START_TIME)
		o->is_of_start = is_number(string, text, o->header.start_time);
	else if (string->id == GP_INFO_BOOT_ID)
		o->is_of_boot = is_text(string, text, o->header.boot_id);
}

static int take_record(void *context, const struct gp_record_view *seen)
{
	const union gp_any_record *record = seen->record;
	struct orphan *o = context;

	if (record->head.kind == GP_RECORD_STRING)
		take_fact(o, &record->string, seen->text);
	else if (record->head.kind == GP_RECORD_END)
		o->closed |= record->end.reason == GP_END_EXIT;
	else if (record->head.kind == GP_RECORD_COUNTER && record->counter.counter < GP_COUNTERS)
		o->counters[record->counter.counter] = record->counter.value;
	return 0;
}

/* Takes the end position of each chunk, and the records of the writer's chunks (ring 0). */
static void take_chunk(struct orphan *o, const struct gp_chunk *chunk)
{
	const struct gp_chunk_header *h = &chunk->header;
	struct gp_record_sink sink = {take_record, o};
	struct gp_decoded decoded = {0};

	o->next_sequence = h->sequence + 1;
	if (h->form == GP_CHUNK_SLOTS)
		o->saved = h->ring == 0;
	if (h->ring != 0)
		gp_rings_cover(&o->rings, h->ring, h->position + h->position_slots);
	else
		gp_decode_chunk(chunk, &sink, &decoded);
}

static int take_trace(struct orphan *o, struct gp_trace *trace)
{
	struct gp_chunk chunk;
	int result;

	while ((result = gp_trace_next(trace, &chunk)) > 0)
		take_chunk(o, &chunk);
	return result;
}

/* ---- handling a ring file ---- */

/* The trace is missing: it may have been moved, and may be finished in its new place. */
static void leave_for_a_while(const struct orphan *o)
{
	struct stat status;

	if (!gp_rings_are_of_our_files(&o->header) || gp_process_is_live(&o->process) ||
	    fstat(o->file, &status) != 0)
		return;
	if (o->is_crowded) {
		gp_rings_remove(o->path, o->file);
	} else if (status.st_mode & S_IWUSR) {
		if (fchmod(o->file, S_IRUSR) == 0)
			futimens(o->file, NULL);
	} else if (time(NULL) - status.st_mtime > KEPT_S) {
		gp_rings_remove(o->path, o->file);
	}
}

static void save(struct orphan *o, int fd, const struct gp_trace *trace)
{
	const struct gp_ring_saving saving = {
		.trace = fd,
		.state = gp_trace_state(trace),
		.sequence = &o->next_sequence,
		.is_saved = o->saved,
		.ring_path = o->path,
		.ring_file = o->file,
		.rings = &o->rings,
		.counters = o->counters,
	};

	gp_rings_raise(&o->rings, o->counters);
	gp_save_rings(&saving);
}

/*
 * Call it with a locked trace and abandoned rings. Returns false if the trace belongs to another
 * process.
 */
static bool save_into(struct orphan *o, int fd, struct gp_trace *trace)
{
	if (take_trace(o, trace) != 0)
		return true;
	if (!o->is_of_pid || !o->is_of_start || !o->is_of_boot)
		return false;
	if (o->closed)
		gp_rings_remove(o->path, o->file);
	else
		save(o, fd, trace);
	return true;
}

static bool try_trace(struct orphan *o, int fd)
{
	char message[GP_MESSAGE_BYTES];
	struct gp_trace *trace;
	bool is_its_own = true;
	struct stat status;

	if (fstat(fd, &status) != 0 || status.st_size > (off_t)LARGEST_TRACE)
		return true;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || !gp_rings_are_abandoned(o->file, fd, &o->process))
		return true;
	if (gp_trace_open_fd(fd, o->header.trace_path, &trace, message, sizeof(message)) != 0)
		return true;
	if (gp_rings_read(o->file, o->header.trace_path, &o->process, &o->rings) == 0)
		is_its_own = save_into(o, fd, trace);
	gp_rings_free(&o->rings);
	gp_trace_close(trace);
	return is_its_own;
}

static void treat(struct orphan *o)
{
	int trace =
		open(o->header.trace_path, O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	bool is_gone = trace < 0 && (errno == ENOENT || errno == ENOTDIR);

	if (trace >= 0) {
		is_gone = !try_trace(o, trace);
		close(trace);
	}
	if (is_gone)
		leave_for_a_while(o);
}

/* The process was killed before it wrote its id; then no process has the file open. */
static void remove_unborn(const char *path, int fd, const struct stat *status)
{
	if (status->st_size == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		gp_rings_remove(path, fd);
}

static void look_at(const char *path, bool is_crowded)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct orphan *o = calloc(1, sizeof(*o));
	struct stat status;

	if (fd >= 0 && o && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_uid == geteuid()) {
		o->path = path;
		o->file = fd;
		o->is_crowded = is_crowded;
		if (gp_rings_header(fd, &o->header) == 0) {
			o->process = (struct gp_process){o->header.pid, o->header.start_time,
							 o->header.boot_id};
			treat(o);
		} else {
			remove_unborn(path, fd, &status);
		}
	}
	if (fd >= 0)
		close(fd);
	free(o);
}

/* ---- search ---- */

static void look_in(const char *folder, const char *prefix, const char *part, time_t until)
{
	DIR *listing = opendir(folder);
	char path[PATH_MAX];
	uint64_t bytes = 0;
	struct stat status;

	if (!listing)
		return;
	while (gp_ring_files_next(listing, folder, prefix, part, path))
		bytes += lstat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
	rewinddir(listing);
	while (time(NULL) <= until && gp_ring_files_next(listing, folder, prefix, part, path))
		look_at(path, bytes > CROWD_BYTES);
	closedir(listing);
}

void gp_orphans_save(const char *beside)
{
	time_t until = time(NULL) + LONGEST_S;
	const char *slash = beside ? strrchr(beside, '/') : NULL;
	char prefix[32], folder[PATH_MAX];

	snprintf(prefix, sizeof(prefix), GP_RING_FILE_PREFIX "%u-", getuid());
	look_in(GP_RING_FILE_FOLDER, prefix, "", until);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - beside) + 1 : 1,
		 slash ? beside : ".");
	if (beside)
		look_in(folder, "", GP_RING_FILE_PART, until);
}

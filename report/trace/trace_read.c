#include "report/trace/trace_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpuprof/crc32c.h"
#include "gpuprof/shell_word.h"
#include "report/trace/chunk_order.h"

#define FILE_MAGIC_BYTES 8u
#define NO_CHUNK         UINT64_MAX

/*
 * Bytes that a search for the next chunk may checksum, per byte of the file. Real damage needs next
 * to none; a crafted file of false chunk headers could cost thousands.
 */
#define SEARCH_EFFORT 16u

#define LISTINGS 3 /* attempts to list the chunks of a circular trace that is being written */

struct gp_trace {
	int fd;
	uint64_t size;     /* of the file, last seen */
	uint64_t position; /* of the next chunk */
	uint64_t searched; /* no chunk begins between position and here */
	uint64_t effort;   /* bytes with wrong checksums */
	bool is_circle;
	bool is_listed; /* circular trace: `order` has the next chunks */
	struct gp_chunk_order order;
	struct gp_trace_state state;
	uint64_t window_offset;
	size_t window_bytes;
	int error; /* of the last read; negative */
	uint8_t *window;
	uint8_t *(*swap)(void *context, uint8_t *window); /* NULL = one window only */
	void *swap_context;
};

static_assert(GP_TRACE_WINDOW_BYTES >=
		      2 * (sizeof(struct gp_chunk_header) + GP_CHUNK_MAX_BYTES + 8),
	      "a chunk fits the window");

static ssize_t read_at(int fd, uint8_t *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t got = pread(fd, to + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

/* The bytes at offset, or NULL if the file has fewer or is unreadable (trace->error). */
static const uint8_t *view(struct gp_trace *t, uint64_t offset, size_t bytes)
{
	ssize_t got;

	if (offset > t->size || bytes > t->size - offset)
		return NULL;
	if (offset >= t->window_offset && offset + bytes <= t->window_offset + t->window_bytes)
		return t->window + (offset - t->window_offset);
	if (t->swap)
		t->window = t->swap(t->swap_context, t->window);
	else if (!t->window)
		t->window = malloc(GP_TRACE_WINDOW_BYTES);
	got = t->window ? read_at(t->fd, t->window, GP_TRACE_WINDOW_BYTES, offset) : -ENOMEM;
	t->window_offset = offset;
	t->window_bytes = got < 0 ? 0 : (size_t)got;
	if (got < 0)
		t->error = (int)got;
	return got >= 0 && (size_t)got >= bytes ? t->window : NULL;
}

enum verdict { CHUNK_VALID, CHUNK_CUT, CHUNK_WRONG };

/* A header that no writer makes, even with a valid checksum. */
static bool is_absurd(const struct gp_chunk_header *h)
{
	return h->magic != GP_CHUNK_MAGIC || h->payload_bytes == 0 ||
	       h->payload_bytes > GP_CHUNK_MAX_BYTES || h->records > h->payload_bytes;
}

static enum verdict examine(struct gp_trace *t, uint64_t offset, struct gp_chunk *chunk)
{
	size_t covered = offsetof(struct gp_chunk_header, records);
	const uint8_t *bytes = view(t, offset, sizeof(chunk->header));

	if (!bytes)
		return CHUNK_CUT;
	memcpy(&chunk->header, bytes, sizeof(chunk->header));
	if (is_absurd(&chunk->header))
		return CHUNK_WRONG;
	bytes = view(t, offset, sizeof(chunk->header) + chunk->header.payload_bytes);
	if (!bytes)
		return CHUNK_CUT;
	covered = sizeof(chunk->header) - covered + chunk->header.payload_bytes;
	if (gp_crc32c(bytes + offsetof(struct gp_chunk_header, records), covered) !=
	    chunk->header.crc) {
		t->effort += covered;
		return CHUNK_WRONG;
	}
	chunk->payload = bytes + sizeof(chunk->header);
	return CHUNK_VALID;
}

/* Finds the next valid chunk after damage. */
static uint64_t search(struct gp_trace *t, struct gp_chunk *chunk)
{
	uint64_t offset = t->searched;

	while (offset + sizeof(chunk->header) <= t->size && t->error == 0 &&
	       t->effort / SEARCH_EFFORT <= t->size) {
		enum verdict verdict = examine(t, offset, chunk);

		if (verdict == CHUNK_VALID)
			return offset;
		/* if the file ends within a chunk, the next search begins there again */
		if (verdict == CHUNK_WRONG && t->searched == offset)
			t->searched += 8;
		offset += 8;
	}
	return NO_CHUNK;
}

static int finish_scan(struct gp_trace *t)
{
	struct gp_chunk chunk;

	if (t->error != 0)
		return t->error;
	t->state.end_bytes = t->position;
	t->state.rest_bytes = t->size > t->position ? t->size - t->position : 0;
	t->state.rest_is_cut =
		t->state.rest_bytes > 0 && examine(t, t->position, &chunk) == CHUNK_CUT;
	return 0;
}

/* ---- circular traces ---- */

/*
 * Whether the chunk of the previous list still stands there; it is valid then, without reading it.
 */
static bool is_as_before(struct gp_trace *t, uint64_t offset, struct gp_chunk *chunk)
{
	const struct gp_chunk_header *before = gp_chunk_order_known(&t->order, offset);

	if (before == NULL || read_at(t->fd, (uint8_t *)&chunk->header, sizeof(chunk->header),
				      offset) != (ssize_t)sizeof(chunk->header))
		return false;
	return memcmp(&chunk->header, before, sizeof(*before)) == 0;
}

static uint64_t find_next(struct gp_trace *t, struct gp_chunk *chunk)
{
	return is_as_before(t, t->position, chunk) ? t->position : search(t, chunk);
}

static int list_once(struct gp_trace *t, uint64_t *gap_bytes)
{
	struct gp_chunk chunk;
	uint64_t found;
	int result = 0;

	gp_chunk_order_begin(&t->order);
	t->window_bytes = 0; /* the file may have changed */
	t->position = t->searched = FILE_MAGIC_BYTES;
	t->effort = *gap_bytes = 0;
	while (result == 0 && (found = find_next(t, &chunk)) != NO_CHUNK) {
		result = gp_chunk_order_add(&t->order, &chunk.header, found);
		*gap_bytes += found - t->position;
		t->position = found + sizeof(chunk.header) +
			      gp_chunk_padded_bytes(chunk.header.payload_bytes);
		t->searched = t->position;
	}
	return t->error != 0 ? t->error : result;
}

/*
 * Lists again if chunks are missing: they may have been written where the scan had passed already.
 */
static int list_chunks(struct gp_trace *t)
{
	uint64_t after = t->order.after;
	bool was_given = t->order.was_given;
	uint64_t gap_bytes = 0;
	int result = 0;

	for (int i = 0; i < LISTINGS && result == 0; i++) {
		t->order.after = after;
		t->order.was_given = was_given;
		result = list_once(t, &gap_bytes);
		if (result == 0)
			result = gp_chunk_order_settle(&t->order);
		if (t->order.missing == 0)
			break;
	}
	if (t->order.missing > 0)
		t->state.damaged_bytes += gap_bytes > 0 ? gap_bytes : t->order.missing;
	t->state.end_bytes = (t->size + 7) & ~UINT64_C(7);
	t->is_listed = result == 0;
	return result;
}

/* A chunk that is gone was overwritten by a newer one since. */
static int next_in_circle(struct gp_trace *t, struct gp_chunk *chunk)
{
	int result = t->is_listed ? 0 : list_chunks(t);

	if (result != 0)
		return result;
	while (t->order.next < t->order.count) {
		const struct gp_chunk_place *place = &t->order.places[t->order.next++];

		if (examine(t, place->offset, chunk) != CHUNK_VALID ||
		    chunk->header.sequence != place->header.sequence)
			continue;
		t->state.chunks++;
		t->state.read_bytes = t->size / t->order.count * t->order.next;
		return 1;
	}
	t->state.read_bytes = t->size;
	t->is_listed = false;
	return t->error;
}

/* Whether the file's size has changed. */
static bool has_changed(struct gp_trace *t)
{
	uint64_t before = t->size;
	struct stat status;

	if (fstat(t->fd, &status) != 0) {
		t->error = -errno;
		return false;
	}
	t->size = t->state.file_bytes = (uint64_t)status.st_size;
	return t->size != before;
}

int gp_trace_next(struct gp_trace *t, struct gp_chunk *chunk)
{
	uint64_t found;

	if (t->is_circle) {
		has_changed(t);
		return t->error != 0 ? t->error : next_in_circle(t, chunk);
	}
	found = search(t, chunk);
	if (found == NO_CHUNK && has_changed(t))
		found = search(t, chunk);
	if (found == NO_CHUNK)
		return finish_scan(t);
	t->state.chunks++;
	t->state.damaged_bytes += found - t->position;
	t->position =
		found + sizeof(chunk->header) + gp_chunk_padded_bytes(chunk->header.payload_bytes);
	t->searched = t->state.read_bytes = t->position;
	return 1;
}

void gp_trace_swap_windows(struct gp_trace *t, uint8_t *(*swap)(void *context, uint8_t *window),
			   void *context)
{
	t->swap = swap;
	t->swap_context = context;
}

uint64_t gp_trace_place(const struct gp_trace *t)
{
	return t->is_circle ? 0 : t->position;
}

void gp_trace_go_to(struct gp_trace *t, uint64_t place)
{
	t->position = t->searched = t->state.read_bytes = place;
	t->state.chunks++;
}

static void explain_unreadable(int error, const char *path, char *message, size_t message_bytes)
{
	static const struct {
		int error;
		const char *why, *next;
	} reasons[] = {
		{ENOENT, NULL,
		 "; traces are in the folder where the program was started, or in that of --output: ls *.gpuprof"},
		{EACCES, NULL,
		 "; only the owner can read a trace: read it as that user, or as root"},
		{ESPIPE, "it is not a file", "; name a trace: NAME.gpuprof"},
	};
	const char *why = strerror(error), *next = "";
	char word[GP_SHELL_WORD_BYTES];

	if (error == EISDIR) {
		snprintf(message, message_bytes,
			 "cannot read %s: %s; name the traces in it: %s/*.gpuprof", path, why,
			 gp_shell_word(path, word, sizeof(word)));
		return;
	}
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		if (reasons[i].error != error)
			continue;
		why = reasons[i].why ? reasons[i].why : why;
		next = reasons[i].next;
	}
	snprintf(message, message_bytes, "cannot read %s: %s%s", path, why, next);
}

/* Explains which file it is by its name, and what to type. */
static void explain_other(const char *path, char *message, size_t message_bytes)
{
	const char *suffix = strrchr(path, '.');

	if (suffix && (strcmp(suffix, ".nsys-rep") == 0 || strcmp(suffix, ".qdrep") == 0))
		snprintf(
			message, message_bytes,
			"%s is a report of nsys, which only nsys can read; type: nsys export --type=sqlite %s, and use the .sqlite file",
			path, path);
	else
		snprintf(
			message, message_bytes,
			"%s is not a trace of gpuprof, torch.profiler or nsys (SQLite); gpuprof's traces are named NAME" GP_TRACE_SUFFIX,
			path);
}

/* Whether the file is a trace of a supported version. */
static int check_magic(struct gp_trace *t, const char *path, char *message, size_t message_bytes)
{
	const uint8_t *magic = view(t, 0, FILE_MAGIC_BYTES);

	if (t->error != 0) {
		explain_unreadable(-t->error, path, message, message_bytes);
		return t->error;
	}
	if (t->size == 0)
		snprintf(message, message_bytes,
			 "%s is empty: the program has not written to it, or the disk was full",
			 path);
	else if (!magic || memcmp(magic, GP_TRACE_MAGIC, FILE_MAGIC_BYTES - 1) != 0)
		explain_other(path, message, message_bytes);
	else if (magic[FILE_MAGIC_BYTES - 1] > GP_TRACE_CIRCULAR)
		snprintf(
			message, message_bytes,
			"%s was written by a newer gpuprof (trace version %u; this version reads up to %u): use that gpuprof",
			path, magic[FILE_MAGIC_BYTES - 1], GP_TRACE_CIRCULAR);
	else {
		t->is_circle = magic[FILE_MAGIC_BYTES - 1] == GP_TRACE_CIRCULAR;
		return 0;
	}
	return magic && t->size > 0 && memcmp(magic, GP_TRACE_MAGIC, FILE_MAGIC_BYTES - 1) == 0
		       ? -EPROTONOSUPPORT
		       : -EINVAL;
}

static int check_file(int fd, uint64_t *size)
{
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0)
		return -errno;
	*size = (uint64_t)status.st_size;
	return S_ISREG(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? -EISDIR : -ESPIPE;
}

static struct gp_trace *new_trace(int fd, uint64_t size)
{
	struct gp_trace *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->fd = fd;
	t->size = size;
	t->position = t->searched = FILE_MAGIC_BYTES;
	return t;
}

/* Takes fd over. */
static int open_own(int fd, const char *path, struct gp_trace **trace, char *message,
		    size_t message_bytes)
{
	uint64_t size = 0;
	int result = check_file(fd, &size);
	struct gp_trace *t;

	if (result < 0) {
		explain_unreadable(-result, path, message, message_bytes);
		if (fd >= 0)
			close(fd);
		return result;
	}
	t = new_trace(fd, size);
	if (!t) {
		close(fd);
		snprintf(message, message_bytes, "cannot read %s: no memory", path);
		return -ENOMEM;
	}
	result = check_magic(t, path, message, message_bytes);
	if (result == 0)
		*trace = t;
	else
		gp_trace_close(t);
	return result;
}

int gp_trace_open(const char *path, struct gp_trace **trace, char *message, size_t message_bytes)
{
	return open_own(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path, trace, message,
			message_bytes);
}

int gp_trace_open_fd(int fd, const char *path, struct gp_trace **trace, char *message,
		     size_t message_bytes)
{
	return open_own(fcntl(fd, F_DUPFD_CLOEXEC, 0), path, trace, message, message_bytes);
}

void gp_trace_close(struct gp_trace *t)
{
	if (!t)
		return;
	close(t->fd);
	gp_chunk_order_free(&t->order);
	free(t->window);
	free(t);
}

void gp_trace_rest(struct gp_trace *t)
{
	free(t->window);
	t->window = NULL;
	t->window_bytes = 0;
}

const struct gp_trace_state *gp_trace_state(const struct gp_trace *t)
{
	return &t->state;
}

#include "report/trace/tail.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/record.h"
#include "report/base/array.h"
#include "report/trace/recover.h"
#include "report/trace/trace_read.h"

/* of at most 64 KiB each: the caller of gp_tail_read() can react in between */
#define CHUNKS_AT_ONCE 256

#define WRITTEN_NOW_S 3

/* The slots of a ring before this position were passed on. */
struct given {
	uint32_t ring;
	bool is_empty; /* the ring was empty in the last copy, and no record of it has come since */
	uint64_t end;
};

struct gp_tail {
	struct gp_trace *trace;
	char *path, *ring_path, *boot_id;
	uint64_t start_time;
	struct gp_tail_state state;
	struct gp_rings rings; /* the last copy */
	struct given *given;   /* by ring */
	uint32_t given_count, given_capacity;
	bool is_at_end; /* of the file as of the last read */

	/* state of the current slots */
	const struct gp_record_sink *sink;
	uint64_t position, from; /* positions of the next record, and of the first one to pass on */

	bool is_saved; /* the rings were saved to the file: no more records come */
	struct gp_record_waiting *saved_calls;
	uint32_t saved_call_count, saved_call_capacity;
};

/* ---- slots that were passed on ---- */

static bool is_earlier_ring(const void *element, const void *ring)
{
	return ((const struct given *)element)->ring < *(const uint32_t *)ring;
}

static uint32_t find_given(const struct gp_tail *t, uint32_t ring)
{
	return gp_array_lower_bound(t->given, t->given_count, sizeof(*t->given), is_earlier_ring,
				    &ring);
}

static uint64_t given_end(const struct gp_tail *t, uint32_t ring)
{
	uint32_t at = find_given(t, ring);

	return at < t->given_count && t->given[at].ring == ring ? t->given[at].end : 0;
}

static int note_given(struct gp_tail *t, uint32_t ring, uint64_t end)
{
	uint32_t at = find_given(t, ring);
	int result;

	if (at < t->given_count && t->given[at].ring == ring) {
		t->given[at].end = end > t->given[at].end ? end : t->given[at].end;
		t->given[at].is_empty = false;
		return 0;
	}
	result = gp_array_grow(&t->given, &t->given_capacity, t->given_count, sizeof(*t->given));
	if (result != 0)
		return result;
	memmove(&t->given[at + 1], &t->given[at], (t->given_count - at) * sizeof(*t->given));
	t->given[at] = (struct given){.ring = ring, .end = end};
	t->given_count++;
	return 0;
}

static void mark_empty_rings(struct gp_tail *t)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->given_count; i++) {
		while (at < t->rings.count && t->rings.rings[at].ring < t->given[i].ring)
			at++;
		t->given[i].is_empty =
			at == t->rings.count || t->rings.rings[at].ring != t->given[i].ring;
	}
}

/* After the file is read to its end, a ring that was empty before needs no position. */
static void forget_empty_rings(struct gp_tail *t)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < t->given_count; i++)
		if (!t->given[i].is_empty)
			t->given[kept++] = t->given[i];
	t->given_count = kept;
}

/* ---- records ---- */

static int set_text(char **to, const char *text, uint32_t length)
{
	free(*to);
	*to = strndup(text, length);
	return *to ? 0 : -ENOMEM;
}

static uint64_t number_of(const char *text, uint32_t length)
{
	char digits[24] = "";

	memcpy(digits, text, length < sizeof(digits) ? length : sizeof(digits) - 1);
	return strtoull(digits, NULL, 10);
}

/* Notes the facts that identify the rings. */
static int note_fact(struct gp_tail *t, const struct gp_record_string *r, const char *text)
{
	if (r->space != GP_STRING_INFO)
		return 0;
	if (r->id == GP_INFO_PID)
		t->state.pid = (uint32_t)number_of(text, r->length_bytes);
	else if (r->id == GP_INFO_START_TIME)
		t->start_time = number_of(text, r->length_bytes);
	else if (r->id == GP_INFO_BOOT_ID)
		return set_text(&t->boot_id, text, r->length_bytes);
	else if (r->id == GP_INFO_RING_FILE)
		return set_text(&t->ring_path, text, r->length_bytes);
	return 0;
}

/* In a file that the rings were saved to. */
static int note_waiting(struct gp_tail *t, const struct gp_record_waiting *call)
{
	int result = gp_array_grow(&t->saved_calls, &t->saved_call_capacity, t->saved_call_count,
				   sizeof(*t->saved_calls));

	if (result == 0)
		t->saved_calls[t->saved_call_count++] = *call;
	return result;
}

static int note(struct gp_tail *t, const union gp_any_record *record, const char *text)
{
	if (record->head.kind == GP_RECORD_STRING)
		return note_fact(t, &record->string, text);
	if (record->head.kind == GP_RECORD_WAITING)
		return note_waiting(t, &record->waiting);
	if (record->head.kind == GP_RECORD_END)
		t->state.closed |= record->end.reason == GP_END_EXIT;
	else if (record->head.kind == GP_RECORD_COUNTER && record->counter.counter < GP_COUNTERS &&
		 record->counter.value > t->state.counters[record->counter.counter])
		t->state.counters[record->counter.counter] = record->counter.value;
	return 0;
}

static uint64_t slots_of(const union gp_any_record *record)
{
	return record->head.kind == GP_RECORD_STRING ? gp_string_slots(record->string.length_bytes)
						     : record->head.slots;
}

static int take(void *context, const struct gp_record_view *seen)
{
	struct gp_tail *t = context;
	bool is_known = t->position < t->from;
	int result = note(t, seen->record, seen->text);

	t->state.is_empty = false;
	t->position += slots_of(seen->record);
	return is_known || result != 0 ? result : t->sink->visit(t->sink->owner, seen);
}

/* ---- the file ---- */

static int decode(struct gp_tail *t, const struct gp_chunk *chunk)
{
	struct gp_record_sink sink = {take, t};
	struct gp_decoded decoded = {0};
	int result = gp_decode_chunk(chunk, &sink, &decoded);

	t->state.unknown_records += decoded.unknown;
	return result;
}

static int take_chunk(struct gp_tail *t, const struct gp_chunk *chunk)
{
	const struct gp_chunk_header *h = &chunk->header;
	uint64_t end = h->position + h->position_slots;
	int result;

	t->position = h->position;
	t->from = h->ring != 0 ? given_end(t, h->ring) : 0;
	t->is_saved |= h->form == GP_CHUNK_SLOTS;
	if (h->ring != 0 && end <= t->from)
		return 0;
	result = decode(t, chunk);
	return result == 0 && h->ring != 0 ? note_given(t, h->ring, end) : result;
}

/* Returns 1 if there is more. */
static int take_chunks(struct gp_tail *t)
{
	struct gp_chunk chunk;
	int result = 1;

	for (unsigned i = 0; i < CHUNKS_AT_ONCE && result > 0; i++) {
		int taken;

		result = gp_trace_next(t->trace, &chunk);
		taken = result > 0 ? take_chunk(t, &chunk) : 0;
		result = taken < 0 ? taken : result;
	}
	return result;
}

/* ---- the rings ---- */

static int take_ring(struct gp_tail *t, const struct gp_ring *ring)
{
	struct gp_record_sink sink = {take, t};
	struct gp_decoded decoded = {0};
	const uint8_t *slots;
	uint64_t count = gp_ring_left(ring, &slots);
	int result;

	if (count == 0)
		return 0;
	t->position = ring->first + ring->count - count;
	t->from = 0;
	result = gp_decode_slots(slots, count, ring->thread, &sink, &decoded);
	t->state.unknown_records += decoded.unknown;
	return result == 0 ? note_given(t, ring->ring, ring->first + ring->count) : result;
}

static int take_rings(struct gp_tail *t)
{
	int result = 0;

	gp_rings_raise(&t->rings, t->state.counters);
	for (uint32_t i = 0; i < t->given_count; i++)
		gp_rings_cover(&t->rings, t->given[i].ring, t->given[i].end);
	for (uint32_t i = 0; i < t->rings.count && result == 0; i++)
		result = take_ring(t, &t->rings.rings[i]);
	return result;
}

/*
 * For a process that is not visible from here (in a container, on another machine): a running
 * process writes at least once a second.
 */
static bool is_written_now(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && time(NULL) - status.st_mtime <= WRITTEN_NOW_S;
}

/*
 * Reads the rings, then the file to its end, then the rest of each ring (report/trace/recover.h).
 * If the file has grown too much to be read to its end now, the rings wait for the next call.
 */
static int catch_up(struct gp_tail *t)
{
	struct gp_process process = {t->state.pid, t->start_time, t->boot_id};
	int found = -ENOENT, result;

	t->state.live = gp_process_is_live(&process);
	gp_rings_free(&t->rings);
	if (t->ring_path) {
		int file = gp_rings_open(t->ring_path);

		found = gp_rings_read(file, t->path, &process, &t->rings);
		if (file >= 0)
			close(file);
	}
	if (found != 0 && !t->state.live && !t->is_saved)
		t->state.live = is_written_now(t->path);
	if (found == 0)
		mark_empty_rings(t);
	result = found == -ENOMEM ? found : take_chunks(t);
	if (result == 0 && found == 0) {
		forget_empty_rings(t);
		result = take_rings(t);
	}
	t->state.calls = found == 0 ? t->rings.calls : t->saved_calls;
	t->state.call_count = found == 0 ? t->rings.call_count : t->saved_call_count;
	return result;
}

/* ---- interface ---- */

int gp_tail_read(struct gp_tail *t, const struct gp_record_sink *sink)
{
	int result;

	t->sink = sink;
	result = t->is_at_end ? catch_up(t) : take_chunks(t);
	if (result == 0 && !t->is_at_end)
		result = catch_up(t);
	t->is_at_end = result == 0;
	t->state.read_bytes = gp_trace_state(t->trace)->read_bytes;
	t->state.file_bytes = gp_trace_state(t->trace)->file_bytes;
	t->state.damaged_bytes = gp_trace_state(t->trace)->damaged_bytes;
	if (t->state.closed) {
		t->state.live = false;
		t->state.call_count = 0;
	}
	return result;
}

void gp_tail_rest(struct gp_tail *t)
{
	gp_trace_rest(t->trace);
	gp_rings_free(&t->rings);
	t->state.calls = NULL;
	t->state.call_count = 0;
}

int gp_tail_open(const char *path, struct gp_tail **tail, char *message, size_t message_bytes)
{
	struct gp_tail *t = calloc(1, sizeof(*t));
	int result = -ENOMEM;

	if (t)
		*t = (struct gp_tail){.path = strdup(path), .state.is_empty = true};
	if (!t || !t->path)
		snprintf(message, message_bytes, "cannot read %s: no memory", path);
	else
		result = gp_trace_open(path, &t->trace, message, message_bytes);
	if (result != 0) {
		gp_tail_close(t);
		return result;
	}
	gp_tail_rest(t);
	*tail = t;
	return 0;
}

void gp_tail_close(struct gp_tail *t)
{
	if (!t)
		return;
	gp_trace_close(t->trace);
	gp_rings_free(&t->rings);
	free(t->path);
	free(t->ring_path);
	free(t->boot_id);
	free(t->given);
	free(t->saved_calls);
	free(t);
}

const struct gp_tail_state *gp_tail_state(const struct gp_tail *t)
{
	return &t->state;
}

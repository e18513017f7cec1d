/*
 * trace_check: reads a trace file and a ring file by the description in include/gpuprof/,
 * independently of the product's reader: a misunderstanding on either side shows.
 */
#ifndef TESTS_COLLECTOR_TRACE_CHECK_H
#define TESTS_COLLECTOR_TRACE_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpuprof/crc32c.h"
#include "gpuprof/field.h"
#include "gpuprof/ring_file.h"
#include "gpuprof/trace.h"

#define MAX_TRACKED_RINGS 65536

struct any_record {
	union {
		struct gp_record record;
#define X(number, NAME, name) struct gp_record_##name name;
		GP_RECORD_KINDS(X)
#undef X
		char bytes[128];
	};
	const uint8_t *text; /* text of a string record */
};

struct found {
	const struct any_record *record;
	uint32_t ring;
	uint32_t thread; /* of the ring, or from a THREAD record */
	bool is_kept;    /* a copy of a definition, in a circular file */
};

typedef void found_fn(void *context, const struct found *found);

struct scan {
	found_fn *fn;
	void *context;
	uint64_t chunks;
	uint64_t records;
	uint64_t damaged_bytes;
	uint64_t cut_bytes;
	uint64_t sequence;                /* expected next */
	bool is_kept;                     /* the current chunk has form KEPT */
	uint64_t next[MAX_TRACKED_RINGS]; /* per ring: position after the last chunk */
	bool known[MAX_TRACKED_RINGS];
	const char *error;
};

static const uint32_t record_bytes[GP_RECORD_KIND_LIMIT] __attribute__((unused)) = {
#define X(number, NAME, name) [number] = sizeof(struct gp_record_##name),
	GP_RECORD_KINDS(X)
#undef X
};

/* ---- decoding a payload ---- */

struct decoder {
	const uint8_t *at, *end;
	bool failed;
	uint64_t last[GP_RECORD_KIND_LIMIT][GP_MAX_FIELDS_PER_RECORD];
	uint64_t before[GP_RECORD_KIND_LIMIT][GP_MAX_FIELDS_PER_RECORD];
	uint64_t end_ticks, end_ns;
};

static inline uint64_t take_varint(struct decoder *decoder)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		if (decoder->at == decoder->end)
			break;
		byte = *decoder->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	decoder->failed = true;
	return 0;
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value & 1 ? ~(value >> 1) : value >> 1;
}

static inline bool counts_ticks(uint8_t kind)
{
	return kind == GP_RECORD_CALL || kind == GP_RECORD_MEMORY;
}

static inline uint64_t predicted(const struct decoder *decoder, const struct gp_field *field, int i)
{
	uint64_t last = decoder->last[field->kind][i];

	if (field->rule == GP_RULE_STRIDE)
		return last + (last - decoder->before[field->kind][i]);
	if (field->rule == GP_RULE_AFTER)
		return counts_ticks(field->kind) ? decoder->end_ticks : decoder->end_ns;
	return last;
}

static inline bool has_end(uint8_t kind)
{
	for (size_t f = 0; f < GP_FIELDS; f++)
		if (gp_fields[f].kind == kind && gp_fields[f].rule == GP_RULE_LENGTH)
			return true;
	return false;
}

static inline void note_end(struct decoder *decoder, const struct any_record *record)
{
	const struct gp_record_call *call = &record->call;

	if (counts_ticks(call->kind))
		decoder->end_ticks = call->start_ticks + call->duration_low_ticks +
				     ((uint64_t)call->duration_high_ticks << 32);
	else if (has_end(call->kind))
		decoder->end_ns = record->kernel.end_ns; /* in all these kinds at the same offset */
}

/* Decode one field.  The decoder keeps its value for predictions. */
static inline uint64_t take_field(struct decoder *decoder, const struct gp_field *field, int i,
				  bool present, uint64_t start)
{
	uint64_t value = predicted(decoder, field, i);

	if (present)
		value += unzigzag(take_varint(decoder));
	decoder->before[field->kind][i] = decoder->last[field->kind][i];
	decoder->last[field->kind][i] = value;
	return field->rule == GP_RULE_LENGTH ? start + value : value;
}

static inline void take_record(struct decoder *decoder, struct any_record *record)
{
	uint8_t kind = *decoder->at++;
	uint64_t mask = take_varint(decoder);
	uint64_t start = 0;
	int i = 0;

	memset(record, 0, sizeof(*record));
	if (kind == 0 || kind >= GP_RECORD_KIND_LIMIT) {
		decoder->failed = true;
		return;
	}
	record->record.kind = kind;
	if (kind != GP_RECORD_STRING)
		record->record.slots = (uint8_t)(record_bytes[kind] / GP_SLOT_BYTES);
	for (size_t f = 0; f < GP_FIELDS; f++) {
		uint64_t value;

		if (gp_fields[f].kind != kind)
			continue;
		value = take_field(decoder, &gp_fields[f], i, mask >> i & 1, start);
		if (i++ == 0)
			start = value;
		memcpy(record->bytes + gp_fields[f].offset, &value, gp_fields[f].bytes);
	}
	if (mask >> i != 0)
		decoder->failed = true;
	note_end(decoder, record);
	if (kind == GP_RECORD_STRING) {
		uint32_t length = record->string.length_bytes;

		record->text = decoder->at;
		if (length > (size_t)(decoder->end - decoder->at))
			decoder->failed = true;
		else
			decoder->at += length;
	}
}

/* ---- records of a ring, in order ---- */

static inline uint32_t slots_of(const struct any_record *record)
{
	return record->record.kind == GP_RECORD_STRING
		       ? gp_string_slots(record->string.length_bytes)
		       : record->record.slots;
}

/* Count a record; returns the thread of the next one. */
static inline uint32_t count_record(struct scan *scan, const struct any_record *record,
				    uint32_t ring, uint32_t thread, uint32_t ring_thread)
{
	struct found found = {record, ring, thread, scan->is_kept};

	if (record->record.kind == GP_RECORD_THREAD)
		return record->thread.id;
	scan->records++;
	if (ring != 0 && thread == 0)
		scan->error = "a record without a thread";
	if (scan->fn != NULL)
		scan->fn(scan->context, &found);
	return ring_thread;
}

static inline void scan_payload(struct scan *scan, const struct gp_chunk_header *header)
{
	static struct decoder decoder;
	const uint8_t *payload = (const uint8_t *)(header + 1);
	uint32_t thread = header->thread;
	uint32_t slots = 0, records = 0;

	memset(&decoder, 0, sizeof(decoder));
	scan->is_kept = header->form == GP_CHUNK_KEPT;
	decoder.at = payload;
	decoder.end = payload + header->payload_bytes;
	while (decoder.at < decoder.end && !decoder.failed) {
		struct any_record record;

		take_record(&decoder, &record);
		if (decoder.failed)
			break;
		records++;
		slots += slots_of(&record);
		thread = count_record(scan, &record, header->ring, thread, header->thread);
	}
	if (decoder.failed)
		scan->error = "invalid payload";
	if (records != header->records)
		scan->error = "wrong number of records";
	if (slots != header->position_slots && header->ring != 0)
		scan->error = "wrong number of slots";
}

/* Slots saved from a ring, unchanged. */
static inline void scan_slots(struct scan *scan, const struct gp_chunk_header *header)
{
	const uint8_t *at = (const uint8_t *)(header + 1);
	const uint8_t *end = at + header->payload_bytes;
	uint32_t thread = header->thread;

	while (at < end) {
		struct any_record record = {.text = NULL};
		uint32_t slots;

		memcpy(record.bytes, at, GP_SLOT_BYTES);
		slots = slots_of(&record);
		if (slots == 0 || slots * GP_SLOT_BYTES > (size_t)(end - at)) {
			scan->error = "damaged slots";
			return;
		}
		if (record.record.kind == GP_RECORD_STRING)
			record.text = (uint8_t *)at + sizeof(struct gp_record_string);
		else
			memcpy(record.bytes, at, slots * GP_SLOT_BYTES);
		thread = count_record(scan, &record, header->ring, thread, header->thread);
		at += slots * GP_SLOT_BYTES;
	}
}

/* The records of a ring continue where its last chunk ended. */
static inline void follow_ring(struct scan *scan, const struct gp_chunk_header *header)
{
	uint32_t ring = header->ring;

	if (ring >= MAX_TRACKED_RINGS)
		scan->error = "too many rings";
	if (ring == 0 || ring >= MAX_TRACKED_RINGS)
		return;
	if (scan->known[ring] && scan->next[ring] != header->position)
		scan->error =
			scan->next[ring] > header->position ? "records twice" : "records missing";
	scan->known[ring] = true;
	scan->next[ring] = header->position + header->position_slots;
}

static inline void scan_chunk(struct scan *scan, const struct gp_chunk_header *header)
{
	if (header->sequence != scan->sequence)
		scan->error = "sequence not continued";
	scan->sequence = header->sequence + 1;
	scan->chunks++;
	follow_ring(scan, header);
	if (header->form == GP_CHUNK_SLOTS)
		scan_slots(scan, header);
	else
		scan_payload(scan, header);
}

/* ---- the trace file ---- */

static inline char *load(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	char *data;

	*bytes = 0;
	if (file == NULL)
		return NULL;
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	data = calloc(1, *bytes + 64);
	if (fread(data, 1, *bytes, file) != *bytes)
		*bytes = 0;
	fclose(file);
	return data;
}

/* The padding after the last chunk may be missing. */
static inline bool chunk_is_valid(const char *at, size_t left)
{
	const struct gp_chunk_header *header = (const void *)at;

	return left >= sizeof(*header) && header->magic == GP_CHUNK_MAGIC &&
	       header->payload_bytes >= 1 && header->payload_bytes <= GP_CHUNK_MAX_BYTES &&
	       left >= sizeof(*header) + header->payload_bytes &&
	       header->crc == gp_crc32c(at + 12, sizeof(*header) - 12 + header->payload_bytes);
}

static inline void note_invalid(struct scan *scan, size_t bytes, bool last)
{
	*(last ? &scan->cut_bytes : &scan->damaged_bytes) += bytes;
}

/* Returns false if there is no such trace. */
static inline bool scan_trace(struct scan *scan, const char *path)
{
	size_t bytes, at = 8, invalid = 0;
	char *data = load(path, &bytes);

	if (data == NULL || bytes < 8 || memcmp(data, "gpuprof\1", 8) != 0) {
		free(data);
		return false;
	}
	while (at < bytes) {
		const struct gp_chunk_header *header = (const void *)(data + at);

		if (!chunk_is_valid(data + at, bytes - at)) {
			size_t step = bytes - at < 8 ? bytes - at : 8;

			invalid += step;
			at += step;
			continue;
		}
		note_invalid(scan, invalid, false);
		invalid = 0;
		scan_chunk(scan, header);
		at += sizeof(*header) + gp_chunk_padded_bytes(header->payload_bytes);
	}
	note_invalid(scan, invalid, true);
	free(data);
	return true;
}

/* ---- a trace that keeps its last part ---- */

#define MAX_CHUNKS 20000u

struct circular {
	const struct gp_chunk_header *chunks[MAX_CHUNKS]; /* in the order of their sequence */
	uint32_t count;
	uint64_t floor;
};

static inline int compare_sequences(const void *left, const void *right)
{
	uint64_t a = (*(const struct gp_chunk_header *const *)left)->sequence;
	uint64_t b = (*(const struct gp_chunk_header *const *)right)->sequence;

	return (a > b) - (a < b);
}

static inline void find_chunks(struct circular *circular, const char *data, size_t bytes)
{
	for (size_t at = 8; at < bytes && circular->count < MAX_CHUNKS;) {
		const struct gp_chunk_header *header = (const void *)(data + at);

		if (!chunk_is_valid(data + at, bytes - at)) {
			at += 8;
			continue;
		}
		circular->chunks[circular->count++] = header;
		if (header->ring == 0 && header->form == GP_CHUNK_PACKED &&
		    header->position > circular->floor)
			circular->floor = header->position;
		at += sizeof(*header) + gp_chunk_padded_bytes(header->payload_bytes);
	}
	qsort(circular->chunks, circular->count, sizeof(circular->chunks[0]), compare_sequences);
}

/*
 * From the floor on, no chunk is missing.  Of the chunks below it, only those in form KEPT count.
 */
static inline void scan_circular_chunk(struct scan *scan, const struct gp_chunk_header *header,
				       uint64_t floor)
{
	bool is_kept = header->form == GP_CHUNK_KEPT;
	uint64_t expected = scan->sequence == 0 ? floor : scan->sequence;

	if (header->sequence >= floor && header->sequence != expected)
		scan->error = "sequence not continued";
	scan->sequence = header->sequence >= floor ? header->sequence + 1 : 0;
	if (is_kept ? header->position >= floor : header->sequence < floor)
		return;
	scan->chunks++;
	scan_payload(scan, header);
	follow_ring(scan, header);
}

/* Returns false if there is no such trace, or if it has more than most_bytes. */
static inline bool scan_circular(struct scan *scan, const char *path, size_t most_bytes)
{
	static struct circular circular;
	size_t bytes;
	char *data = load(path, &bytes);
	bool is_one = data != NULL && bytes >= 8 && bytes <= most_bytes &&
		      memcmp(data, "gpuprof\2", 8) == 0;

	memset(&circular, 0, sizeof(circular));
	if (is_one)
		find_chunks(&circular, data, bytes);
	for (uint32_t i = 0; i < circular.count; i++)
		scan_circular_chunk(scan, circular.chunks[i], circular.floor);
	free(data);
	return is_one;
}

/* ---- the ring file ---- */

static inline void copy_slot(const char *ring, uint64_t position, char *slot)
{
	const struct gp_ring_header *header = (const void *)ring;

	memcpy(slot, ring + GP_RING_HEADER_BYTES + (position % header->slot_count) * GP_SLOT_BYTES,
	       GP_SLOT_BYTES);
}

static inline void scan_ring(struct scan *scan, const char *data)
{
	static char record_memory[GP_SLOT_BYTES * 513] __attribute__((aligned(8)));
	const struct gp_ring_header *ring = (const void *)data;
	uint64_t at = ring->tail;
	uint32_t thread = ring->thread;

	/* slots between the last chunk and a later tail were dropped */
	if (ring->ring < MAX_TRACKED_RINGS && scan->known[ring->ring] &&
	    scan->next[ring->ring] > at)
		at = scan->next[ring->ring];
	while (at < ring->head) {
		struct any_record record = {.text = NULL};
		uint32_t slots;

		copy_slot(data, at, record_memory);
		memcpy(record.bytes, record_memory, GP_SLOT_BYTES);
		slots = slots_of(&record);
		if (slots == 0 || slots > 512 || slots > ring->head - at) {
			scan->error = "damaged ring";
			return;
		}
		for (uint32_t i = 1; i < slots; i++)
			copy_slot(data, at + i, record_memory + i * GP_SLOT_BYTES);
		if (record.record.kind == GP_RECORD_STRING)
			record.text = (uint8_t *)record_memory + sizeof(struct gp_record_string);
		else
			memcpy(record.bytes, record_memory, slots * GP_SLOT_BYTES);
		thread = count_record(scan, &record, ring->ring, thread, ring->thread);
		at += slots;
	}
}

/* After scan_trace(): the records that the trace lacks.  Returns false without a ring file. */
static inline bool scan_ring_file(struct scan *scan, const char *path, const char *trace_path)
{
	size_t bytes, at = GP_RING_HEADER_BYTES;
	char *data = load(path, &bytes);
	const struct gp_ring_file_header *file = (const void *)data;

	if (data == NULL)
		return false;
	if (memcmp(file->magic, GP_RING_FILE_MAGIC, 8) != 0 || file->pid == 0 ||
	    file->start_time == 0 || strcmp(file->trace_path, trace_path) != 0)
		scan->error = "wrong ring file header";
	while (at + GP_RING_HEADER_BYTES <= bytes) {
		const struct gp_ring_header *ring = (const void *)(data + at);

		if (ring->magic != GP_RING_MAGIC)
			break;
		if (ring->ring != 0)
			scan_ring(scan, data + at);
		at += GP_RING_HEADER_BYTES + (size_t)ring->slot_count * GP_SLOT_BYTES;
	}
	free(data);
	return true;
}

/* ---- for simple questions ---- */

static inline bool is_kind(const struct found *found, uint8_t kind)
{
	return found->record->record.kind == kind;
}

static inline const struct gp_record_string *as_string(const struct found *found)
{
	return is_kind(found, GP_RECORD_STRING) ? &found->record->string : NULL;
}

static inline bool string_is(const struct found *found, uint16_t space, uint32_t id,
			     const char *text)
{
	const struct gp_record_string *string = as_string(found);

	return string != NULL && string->space == space && string->id == id &&
	       string->length_bytes == strlen(text) &&
	       memcmp(found->record->text, text, strlen(text)) == 0;
}

#endif

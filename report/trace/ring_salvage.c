#include "report/trace/ring_salvage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "gpuprof/record.h"
#include "gpuprof/trace.h"
#include "report/trace/chunk_append.h"
#include "report/trace/decode.h"

#define CHUNK_SLOTS (GP_CHUNK_MAX_BYTES / GP_SLOT_BYTES)

static_assert(GP_SLOT_BYTES % 8 == 0, "no padding follows slots");
/* A real ring file has some hundred rings with one pending call each. */
#define MOST_WAITING 1024
static_assert(GP_COUNTERS + MOST_WAITING <= CHUNK_SLOTS, "they fit one chunk");

/* The part of a ring that goes into one chunk. */
struct part {
	uint32_t slots, records;
	uint64_t covered; /* more than `slots` if the rest is unreadable */
};

/* ---- the file ---- */

/*
 * Prepares the end of the file for the next chunk. Removes a truncated chunk; other damage stays,
 * to be counted. Returns the new end, or a negative errno value.
 */
static off_t prepare_end(const struct gp_ring_saving *s)
{
	const struct gp_trace_state *state = s->state;
	struct stat status;
	uint64_t end = state->end_bytes;

	if (fstat(s->trace, &status) != 0)
		return -errno;
	if ((uint64_t)status.st_size > end + state->rest_bytes)
		return -EBUSY; /* another process writes to it after all */
	if (!state->rest_is_cut && state->rest_bytes > 0)
		end = ((uint64_t)status.st_size + 7) & ~UINT64_C(7);
	return ftruncate(s->trace, (off_t)end) != 0 ? -errno : (off_t)end;
}

/* Appends a chunk; payload_bytes, records, ring, thread and positions are set. */
static int append(const struct gp_ring_saving *s, struct gp_new_chunk *chunk, uint64_t *sequence)
{
	chunk->header.form = GP_CHUNK_SLOTS;
	chunk->header.sequence = (*sequence)++;
	return gp_chunk_append(s->trace, chunk);
}

/* ---- the chunks ---- */

/*
 * Takes as many whole records as fit into a chunk. A record that names the thread of the next
 * record stays with it.
 */
static struct part take_part(const uint8_t *slots, uint64_t left)
{
	struct part part = {0};
	size_t used, thread_slots = 0;

	for (; part.slots < left; part.slots += (uint32_t)used, part.records++) {
		const uint8_t *record = slots + (size_t)part.slots * GP_SLOT_BYTES;
		bool is_readable;

		used = gp_decode_record_slots(record);
		is_readable = used > 0 && used <= left - part.slots;
		if (part.slots + (is_readable ? used : 1) > CHUNK_SLOTS)
			break;
		if (!is_readable)
			return (struct part){part.slots + 1, part.records + 1, left};
		thread_slots = *record == GP_RECORD_THREAD ? used : 0;
	}
	if (part.slots < left && thread_slots > 0 && part.records > 1) {
		part.slots -= (uint32_t)thread_slots;
		part.records--;
	}
	part.covered = part.slots;
	return part;
}

/* Appends the rest of a ring. Returns the number of chunks, or a negative errno value. */
static int append_ring(const struct gp_ring_saving *s, const struct gp_ring *ring,
		       struct gp_new_chunk *chunk, uint64_t *sequence)
{
	const uint8_t *slots = NULL;
	uint64_t left = gp_ring_left(ring, &slots);
	int chunks = 0;

	while (left > 0) {
		struct part part = take_part(slots, left);
		int result;

		chunk->header = (struct gp_chunk_header){
			.payload_bytes = part.slots * GP_SLOT_BYTES,
			.records = part.records,
			.position = ring->first + ring->count - left,
			.position_slots = (uint32_t)part.covered,
			.ring = ring->ring,
			.thread = ring->thread,
		};
		memcpy(chunk->payload, slots, chunk->header.payload_bytes);
		result = append(s, chunk, sequence);
		if (result != 0)
			return result;
		slots += part.covered * GP_SLOT_BYTES;
		left -= part.covered;
		chunks++;
	}
	return chunks;
}

/* Adds a record of one slot to the chunk. */
static void put(struct gp_new_chunk *chunk, const void *record)
{
	memcpy(chunk->payload + chunk->header.payload_bytes, record, GP_SLOT_BYTES);
	chunk->header.payload_bytes += GP_SLOT_BYTES;
	chunk->header.records++;
}

/* Appends the contents of the ring headers: counters and pending calls. */
static int append_heads(const struct gp_ring_saving *s, struct gp_new_chunk *chunk,
			uint64_t *sequence)
{
	chunk->header = (struct gp_chunk_header){0};
	for (uint16_t i = 0; i < GP_COUNTERS; i++)
		put(chunk, &(struct gp_record_counter){.kind = GP_RECORD_COUNTER,
						       .slots = 1,
						       .counter = i,
						       .value = s->counters[i]});
	for (uint32_t i = 0; i < s->rings->call_count && i < MOST_WAITING; i++)
		put(chunk, &s->rings->calls[i]);
	return append(s, chunk, sequence);
}

static int append_all(const struct gp_ring_saving *s, struct gp_new_chunk *chunk)
{
	uint64_t *sequence = s->sequence;
	bool is_saved = s->is_saved;

	for (uint32_t i = 0; i < s->rings->count; i++) {
		int result = append_ring(s, &s->rings->rings[i], chunk, sequence);

		if (result < 0)
			return result;
		is_saved = is_saved && result == 0;
	}
	return is_saved ? 0 : append_heads(s, chunk, sequence);
}

int gp_save_rings(const struct gp_ring_saving *saving)
{
	struct gp_new_chunk *chunk = malloc(sizeof(*chunk));
	off_t end;
	int result;

	if (!chunk)
		return -ENOMEM;
	end = prepare_end(saving);
	result = end < 0 ? (int)end : append_all(saving, chunk);
	free(chunk);
	if (result == 0)
		/* if it stays, the next salvage finds nothing new in it */
		gp_rings_remove(saving->ring_path, saving->ring_file);
	else if (end >= 0)
		/* if this fails, the appended chunks are still valid */
		(void)!ftruncate(saving->trace, end);
	return result;
}

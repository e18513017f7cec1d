/*
 * ring: the single-producer, single-consumer ring of slots behind a gp_ring_header
 * (gpuprof/ring_file.h).
 *
 * One thread puts records (or several, one at a time, under their own lock), one other thread takes
 * them.  A record becomes visible as a whole when `head` advances; its slots are free again when
 * `tail` advances.  No function waits, allocates or makes a system call.
 */
#ifndef COLLECTOR_RING_H
#define COLLECTOR_RING_H

#include <stdbool.h>
#include <string.h>

#include "collector/atomic.h"
#include "gpuprof/record.h"
#include "gpuprof/ring_file.h"

/* One record to put into a ring. */
struct gp_item {
	const struct gp_record *record; /* for a string: only its gp_record_string */
	const char *text;               /* for a string, else NULL */
	uint32_t slots;                 /* of record and text */
	/* in a shared ring: the record's thread, for a THREAD record before it; else 0 */
	uint32_t thread;
};

/* Bytes that a ring of slot_count slots needs. */
static inline size_t gp_ring_bytes(uint32_t slot_count)
{
	return GP_RING_HEADER_BYTES + (size_t)slot_count * GP_SLOT_BYTES;
}

/* Make a ring in zeroed memory of gp_ring_bytes(slot_count); slot_count is a power of two. */
void gp_ring_init(struct gp_ring_header *ring, uint32_t slot_count);

static inline void *gp_ring_slot(struct gp_ring_header *ring, uint64_t position)
{
	char *slots = (char *)ring + GP_RING_HEADER_BYTES;

	return slots + (position & (ring->slot_count - 1)) * GP_SLOT_BYTES;
}

/*
 * Producer: put a fixed-size record if the ring is, as far as the producer knows, at most half
 * full.  False: nothing was put; use gp_ring_put(), which reads the current tail.
 */
static inline bool gp_ring_put_quick(struct gp_ring_header *ring, const struct gp_record *record)
{
	uint64_t head = gp_load64(&ring->head);
	uint32_t slots = record->slots;
	const char *from = (const char *)record;

	if (__builtin_expect(head + slots - ring->cached_tail > ring->slot_count / 2, 0))
		return false;
	for (uint32_t i = 0; i < slots; i++)
		memcpy(gp_ring_slot(ring, head + i), from + i * GP_SLOT_BYTES, GP_SLOT_BYTES);
	gp_store64_release(&ring->head, head + slots);
	return true;
}

/* Producer: put any item.  False: not enough free slots now. */
bool gp_ring_put(struct gp_ring_header *ring, const struct gp_item *item);

/* Producer: more than half of the slots were used at the last check: wake the consumer. */
static inline bool gp_ring_is_half_full(const struct gp_ring_header *ring)
{
	return gp_load64(&ring->head) - ring->cached_tail > ring->slot_count / 2;
}

/* Producer: current number of free slots. */
static inline uint64_t gp_ring_free_slots(const struct gp_ring_header *ring)
{
	return ring->slot_count - (gp_load64(&ring->head) - gp_load64_acquire(&ring->tail));
}

/* Consumer: available slots are [tail, the returned position). */
static inline uint64_t gp_ring_head(const struct gp_ring_header *ring)
{
	return gp_load64_acquire(&ring->head);
}

/* Consumer: free the slots before `position`. */
static inline void gp_ring_free(struct gp_ring_header *ring, uint64_t position)
{
	gp_store64_release(&ring->tail, position);
}

#endif

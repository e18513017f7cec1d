/*
 * drain: moves records from rings into the trace file, chunk by chunk, and adds the writer's own
 * records (ring 0).
 *
 * The slots of a ring are freed only after their chunk is in the file: at every instant each
 * published record is in the file or still in its ring.  Writer thread only.
 */
#ifndef COLLECTOR_DRAIN_H
#define COLLECTOR_DRAIN_H

#include <stdbool.h>

#include "collector/encode.h"
#include "collector/ring.h"
#include "collector/tracefile.h"

struct gp_drain {
	struct gp_tracefile file;
	struct gp_encoder encoder;
	struct gp_chunk chunk;
	bool own;     /* the current chunk holds own records */
	bool is_full; /* the file has reached its limit: ring records are dropped */
	/* THREAD records in the current chunk, which do not count as the program's */
	uint32_t marks;
	uint64_t damaged_slots; /* skipped by the current chunk */
	int gives_up;           /* -errno: nothing more is written, for this reason */
	int error;              /* -errno, the reason of the last dropped records; 0 = none */
	uint64_t gone_records;  /* circular file: records without space */
	struct gp_encoder kept_encoder;
	struct gp_chunk kept_chunk; /* circular file: definitions of the current block */
	uint64_t linear[GP_SLOT_BYTES * 512 /
			sizeof(uint64_t)]; /* a record that wraps around, copied to one piece */
};

/*
 * Create the trace file; `drain` is zeroed.  Its size is limited to limit_bytes (0 = no limit), or
 * it keeps only the last keep_bytes of the trace (0 = all).
 */
int gp_drain_open(struct gp_drain *drain, const char *base_path, uint64_t limit_bytes,
		  uint64_t keep_bytes);

/*
 * Write one chunk from the ring.  Returns the number of freed slots, 0 = the ring is empty, or
 * -errno if the file cannot be written.  On an error the records stay in the ring, and the next
 * call tries again; but if the ring is more than half full, the records of the chunk are dropped
 * and counted, because a program must not wait for a full disk.  If the file has reached its limit
 * they are dropped, which is not an error.  In a circular file on a full disk, 1 = nothing was
 * freed, try again after a block change.
 */
int gp_drain_ring(struct gp_drain *drain, struct gp_ring_header *ring);

/* Append an own record (aligned to 8 bytes) to the own chunk. */
void gp_drain_emit(struct gp_drain *drain, const struct gp_record *record);
void gp_drain_emit_string(struct gp_drain *drain, enum gp_string_space space, uint32_t id,
			  const char *text, size_t length_bytes);

/*
 * Write the own chunk, if any; before the next gp_drain_ring().  -errno: it is dropped without
 * counting, because the caller will emit its records again.
 */
int gp_drain_finish_own(struct gp_drain *drain);

/*
 * Circular file, before anything is written: whether the current block is full.  Then
 * gp_drain_next_block() continues in the next block and counts the records lost by that.  The
 * caller writes its own chunk first in the block, and then calls gp_drain_write_kept(), which
 * writes the definitions of the previous block.
 */
bool gp_drain_is_block_full(const struct gp_drain *drain);
void gp_drain_next_block(struct gp_drain *drain, uint64_t ticks);
void gp_drain_write_kept(struct gp_drain *drain);

/* Drop all records of the ring, and count them as not written because of `error`. */
void gp_drain_give_up(struct gp_drain *drain, struct gp_ring_header *ring, int error);

/*
 * If the file cannot be written because of `error`: drop its last chunks, a few KiB or more, to
 * make space for the final records.  The dropped records are counted as not written.  0 or -errno.
 */
int gp_drain_make_space(struct gp_drain *drain, int error);

#endif

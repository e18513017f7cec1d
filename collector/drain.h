/*
 * drain: moves records from rings into the trace file, chunk by chunk, and adds the writer's own
 * records (ring 0).
 *
 * A ring's slots are given back only after the chunk that holds them is in the file: at every
 * instant each published record is in the file or still in its ring.  Writer thread only.
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
	bool own;       /* the chunk at hand holds own records */
	bool is_full;   /* the file has reached its limit: records of rings are dropped */
	uint32_t marks; /* THREAD records in the chunk at hand, which are none of the program's */
	uint64_t damaged_slots; /* that the chunk at hand skips */
	int gives_up;           /* -errno: nothing more is written, for that reason */
	int error;              /* -errno, why records were given up last; 0 = none were */
	uint64_t gone_records;  /* in a circle: for which there was no room any more */
	struct gp_encoder kept_encoder;
	struct gp_chunk kept_chunk; /* in a circle: definitions of the block at hand */
	uint64_t linear[GP_SLOT_BYTES * 512 /
			sizeof(uint64_t)]; /* a record that must lie in one piece */
};

/*
 * Create the trace file; `drain` is zeroed.  It does not grow over limit_bytes (0 = no limit), or has only the last part
 * of the trace, as much as fits keep_bytes (0 = all of it).
 */
int gp_drain_open(struct gp_drain *drain, const char *base_path, uint64_t limit_bytes,
		  uint64_t keep_bytes);

/*
 * Write one chunk of what is in the ring.  Returns the number of slots that were freed, 0 = the
 * ring is empty, or -errno where the file takes nothing.  Then the records stay in the ring and the
 * next call tries again; but if the ring is more than half full, the chunk's records are dropped
 * and counted, for a program must not wait for a full disk.  Where the file has reached its limit they are dropped, and
 * that is no error.  In a circle on a full disk, 1 = none was freed, and it is to be tried again after a turn.
 */
int gp_drain_ring(struct gp_drain *drain, struct gp_ring_header *ring);

/* Append an own record (aligned to 8 bytes) to the own chunk. */
void gp_drain_emit(struct gp_drain *drain, const struct gp_record *record);
void gp_drain_say_string(struct gp_drain *drain, enum gp_string_space space, uint32_t id,
			 const char *text, size_t length_bytes);

/*
 * Write the own chunk, if there is one; before the next gp_drain_ring().  -errno: it is dropped, and counted nowhere, for what it
 * says is to be said again.
 */
int gp_drain_finish_own(struct gp_drain *drain);

/*
 * In a circle, before anything is written: whether the block at hand is full.  Then gp_drain_turn() goes on in the next one and
 * counts what is gone for it; the own chunk that is to be said then takes the place of its first bytes; after it,
 * gp_drain_write_kept() writes the definitions of the block before.
 */
bool gp_drain_wants_turn(const struct gp_drain *drain);
void gp_drain_turn(struct gp_drain *drain, uint64_t ticks);
void gp_drain_write_kept(struct gp_drain *drain);

/* Drop all that is in the ring, and count it as not written because of `error`. */
void gp_drain_give_up(struct gp_drain *drain, struct gp_ring_header *ring, int error);

/*
 * Where the file takes nothing because of `error`: drop its last chunks, a few KiB or more, for what must be said at the
 * end.  Their records are counted as not written.  0 or -errno.
 */
int gp_drain_make_room(struct gp_drain *drain, int error);

#endif

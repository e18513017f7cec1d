/*
 * arena: the memory of all rings, a ring file (gpuprof/ring_file.h) or private memory; and the
 * assignment of rings to threads.
 *
 * Only the writer thread makes, recycles and removes rings; program threads take and release one
 * without a system call.  The file's blocks are allocated before use, so that a full disk is an
 * error here and never a SIGBUS in the program.  No descriptor stays open.
 *
 * A process uses at most GP_ARENA_MAX_BYTES (less with --max-memory), and all processes together at
 * most their quota of /dev/shm (collector/ring_quota.h).  A process beyond the quota has its rings
 * beside the trace or in little memory.  Threads without a ring share one.
 */
#ifndef COLLECTOR_ARENA_H
#define COLLECTOR_ARENA_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector.h"
#include "collector/process_identity.h"
#include "collector/sys.h"
#include "gpuprof/ring_file.h"

#define GP_ARENA_MAX_BYTES (16u << 20)
#define GP_ARENA_MIN_BYTES (1u << 20) /* a place with less free space is not used */
#define GP_ARENA_SCARCE_BYTES                                                                      \
	(2u << 20)                      /* of private memory, if the quota of /dev/shm is used up */
#define GP_ARENA_BIG_SLOTS   (1u << 15) /* 1 MiB each while at most half the budget is used ... */
#define GP_ARENA_SMALL_SLOTS (1u << 11) /* ... then 64 KiB */
#define GP_ARENA_LANES       160        /* maximum number of rings within GP_ARENA_MAX_BYTES */
#define GP_ARENA_SPARE       2          /* free rings kept ready; twice as many small ones */

enum gp_lane_state {
	GP_LANE_FREE,    /* empty, available */
	GP_LANE_TAKEN,   /* a thread writes records into it */
	GP_LANE_CLOSING, /* its thread has ended; to be drained and freed */
};

struct gp_lane {
	struct gp_ring_header *ring;
	uint32_t slot_count; /* of the ring */
	uint32_t state;      /* enum gp_lane_state, atomic */
};

struct gp_arena {
	char path[GP_PATH_BYTES]; /* of the ring file, "" = private memory */
	bool is_in_shm;           /* the path is in /dev/shm, which all processes share */
	bool stays_open;          /* set by the owner: the writer has its own descriptors */
	int fd;                   /* of the ring file, if it stays open */
	struct gp_file_id file;
	uint64_t budget_bytes;
	uint64_t used_bytes; /* of the file, which is also its length */
	uint32_t lane_count; /* atomic; lanes below it have a ring permanently */
	uint32_t free_lanes; /* atomic */
	uint32_t exhausted;  /* atomic; the last attempt to make a ring failed */
	uint32_t last_ring;  /* atomic; the highest ring id so far */
	struct gp_lane lanes[GP_ARENA_LANES];
};

/*
 * Choose the place, and make the ring file and the first ring.  `arena` is zeroed.  Returns 0, or
 * -errno of the last place tried.  0 with arena->path "": the rings are in private memory.
 */
int gp_arena_open(struct gp_arena *arena, enum gp_ring_place place, const char *trace_path);

/* Writer: more rings should be made or recycled. */
bool gp_arena_wants_spare(const struct gp_arena *arena);

/* Writer: add one free ring. -ENOSPC: the budget or the disk is full. */
int gp_arena_grow(struct gp_arena *arena);

/* Any thread: take a free ring for thread id `thread`, with a new ring id; NULL = none is free. */
struct gp_lane *gp_arena_take(struct gp_arena *arena, uint32_t thread);

/* Any thread: too few rings are free, and waking the writer helps. */
bool gp_arena_is_short(struct gp_arena *arena);

/*
 * By the thread that took a ring: release it.  True: wake the writer, because free rings are few.
 */
bool gp_arena_close_lane(struct gp_arena *arena, struct gp_lane *lane);

/* Writer: make a drained, closing ring available again. */
void gp_arena_recycle(struct gp_arena *arena, struct gp_lane *lane);

/*
 * In a forked child, which does not have the rings: replace the ring of a lane by an empty one.  A
 * signal handler may fork in the middle of an emission, and the child then continues it: its
 * records are discarded.
 */
void gp_arena_replace_ring(const struct gp_lane *lane);

/* Writer, at its end: close the file if it stayed open.  No more rings are made. */
void gp_arena_close(struct gp_arena *arena);

/*
 * Remove the ring file, if any; the memory stays mapped for threads that are still writing a
 * record.
 */
void gp_arena_remove(struct gp_arena *arena);

/*
 * After gp_arena_remove(), in a process that runs on: the rings take a page each.  Their
 * addresses stay usable until gp_arena_unmap(), because a thread may still be writing a record.
 */
void gp_arena_release(struct gp_arena *arena);
void gp_arena_unmap(struct gp_arena *arena);

#endif

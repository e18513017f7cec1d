/*
 * snapshot: copies memory of running threads for later inspection.
 *
 * Copies whole pages by a system call that fails on unmapped memory instead of faulting.  A
 * snapshot is enclosed by reads of some words, which show whether the data changed meanwhile.  It
 * is taken twice, because the words may have changed and changed back.  One thread at a time; no
 * lock, no allocation.
 */
#ifndef STACKS_SNAPSHOT_H
#define STACKS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GP_SNAPSHOT_PAGES      128u
#define GP_SNAPSHOT_COPIES     2u
#define GP_SNAPSHOT_PAGE_BYTES 4096u
#define GP_SNAPSHOT_WORDS      4u

struct gp_snapshot {
	uint64_t words[GP_SNAPSHOT_WORDS]; /* their values before and after each copy */
	/* addresses; after a snapshot, those that will be needed again */
	uint64_t pages[GP_SNAPSHOT_PAGES];
	bool was_read[GP_SNAPSHOT_PAGES];
	uint32_t count;
	uint32_t latest; /* the page read last */
	uint32_t held;   /* number of pages copied together, between the words */
	bool has_moved;  /* some data that was read differs between the copies */
	uint8_t (
		*data)[GP_SNAPSHOT_PAGE_BYTES]; /* GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES of them */
};

enum gp_snapshot_result {
	GP_SNAPSHOT_TAKEN,
	GP_SNAPSHOT_MOVED,    /* a word changed meanwhile */
	GP_SNAPSHOT_UNMAPPED, /* some memory is unreadable */
};

/* Once in a process, by the reading thread. */
void gp_snapshot_begin(void);

/*
 * Copy the words at these addresses, the pages, the words, the pages, and the words, in this order.
 */
enum gp_snapshot_result gp_snapshot_take(struct gp_snapshot *snapshot, const uint64_t *addresses,
					 uint32_t count);

/*
 * Read from the copy.  A missing page is copied now, alone: then gp_snapshot_is_whole() is false,
 * and the next snapshot includes it.  False: unreadable, or too many pages.
 */
bool gp_snapshot_read(struct gp_snapshot *snapshot, uint64_t address, void *into, size_t bytes);

/* Whether all data that was read was copied between the words, and was the same both times. */
bool gp_snapshot_is_whole(const struct gp_snapshot *snapshot);

/* Drop pages that were not read from the next snapshot. */
void gp_snapshot_keep_read(struct gp_snapshot *snapshot);

/* Read current memory.  False: unreadable. */
bool gp_snapshot_now(uint64_t address, void *into, size_t bytes);

/* Several pieces at once, because a system call takes longer than a piece. */
#define GP_SNAPSHOT_PIECES 192u
struct gp_snapshot_piece {
	uint64_t address;
	void *into;
	size_t bytes;
};
bool gp_snapshot_pieces_now(const struct gp_snapshot_piece *pieces, uint32_t count);

#endif

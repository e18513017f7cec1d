/*
 * snapshot: memory of other threads, copied while they run, so that it can be looked at in peace.
 *
 * Whole pages, by a system call that fails where memory is not mapped instead of faulting.  A snapshot is taken around some words, which tell
 * whether what is looked at changed meanwhile; and twice, for words that are what they were may have been others in between.  One thread at a
 * time; no lock, no allocation.
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
	uint64_t words[GP_SNAPSHOT_WORDS]; /* what they were, before and after each copy */
	uint64_t pages
		[GP_SNAPSHOT_PAGES]; /* addresses: of the last one, those that will be needed again */
	bool was_read[GP_SNAPSHOT_PAGES];
	uint32_t count;
	uint32_t latest; /* the page that was read last */
	uint32_t held;   /* pages that were copied together, between the words */
	bool has_moved;  /* something that was read is not the same in both copies */
	uint8_t (
		*data)[GP_SNAPSHOT_PAGE_BYTES]; /* GP_SNAPSHOT_COPIES * GP_SNAPSHOT_PAGES of them */
};

enum gp_snapshot_result {
	GP_SNAPSHOT_TAKEN,
	GP_SNAPSHOT_MOVED,    /* a word changed meanwhile */
	GP_SNAPSHOT_UNMAPPED, /* something cannot be read */
};

/* Once in a process, by the thread that will read. */
void gp_snapshot_begin(void);

/* Copy the words at these addresses, the pages, the words, the pages, and the words, in this order. */
enum gp_snapshot_result gp_snapshot_take(struct gp_snapshot *snapshot, const uint64_t *addresses,
					 uint32_t count);

/*
 * Read from the copy.  A page that is not in it is copied now, by itself: then gp_snapshot_is_whole() is false, and another that is taken has it.
 * False: it cannot be read, or there are too many pages.
 */
bool gp_snapshot_read(struct gp_snapshot *snapshot, uint64_t address, void *into, size_t bytes);

/* Whether all that was read was copied between the words, and was the same both times. */
bool gp_snapshot_is_whole(const struct gp_snapshot *snapshot);

/* What was not read is not needed the next time. */
void gp_snapshot_keep_read(struct gp_snapshot *snapshot);

/* Read memory as it is now.  False: it cannot be read. */
bool gp_snapshot_now(uint64_t address, void *into, size_t bytes);

/* Several pieces at once: a call takes longer than a piece. */
#define GP_SNAPSHOT_PIECES 192u
struct gp_snapshot_piece {
	uint64_t address;
	void *into;
	size_t bytes;
};
bool gp_snapshot_pieces_now(const struct gp_snapshot_piece *pieces, uint32_t count);

#endif

/*
 * circle: which part of a trace file is written next where only the last of it is kept (gpuprof/trace.h, "Circle").
 *
 * The file is cut into blocks of one size.  Chunks fill one after the other; once all are in use, the oldest makes room for
 * the next.  Some blocks hold copies of definitions instead, and stay.  Bookkeeping only; writer thread only.
 */
#ifndef COLLECTOR_CIRCLE_H
#define COLLECTOR_CIRCLE_H

#include <stdbool.h>
#include <stdint.h>

#define GP_CIRCULAR_FILE_BLOCKS     16u
#define GP_CIRCULAR_FILE_MIN_BLOCKS 4u /* of records, for a circle to be worth it */

struct gp_circular_file_block {
	uint64_t first_sequence; /* of the chunks in it */
	uint64_t records;        /* that are gone when it makes room */
	uint64_t uncopied;       /* and definitions, of which there is no copy */
	uint64_t start_ticks;    /* when it was begun */
	bool keeps;              /* definitions */
};

struct gp_circular_file {
	uint64_t block_bytes;       /* 0 = there is no circle */
	uint64_t first_bytes;       /* before the first block */
	uint64_t at, end;           /* where the next chunk goes, and where its block ends */
	uint64_t kept_at, kept_end; /* of definitions */
	uint64_t floor;             /* sequence of the oldest chunk that is not gone */
	uint64_t gone_definitions;  /* so far */
	uint32_t count;             /* blocks in use */
	uint32_t current;
	uint32_t keepers;
	uint32_t most;   /* blocks that there may be */
	bool is_in_vain; /* nothing was written since it stopped growing */
	struct gp_circular_file_block blocks[GP_CIRCULAR_FILE_BLOCKS];
};

/* A circle that takes at most `bytes`, the first first_bytes of which are taken. */
void gp_circular_file_init(struct gp_circular_file *circular, uint64_t bytes, uint64_t first_bytes);

/* Go on in another block, with the chunk of that sequence.  Returns how many records are gone for it. */
uint64_t gp_circular_file_next_block(struct gp_circular_file *circular, uint64_t sequence,
				     uint64_t ticks);

/* Take a block for definitions.  False: they have half of all.  *records: how many are gone for it. */
bool gp_circular_file_add_definition_block(struct gp_circular_file *circular, uint64_t *records);

/* Definitions of the block that begins with the chunk of that sequence could not be copied: they go when it does, or are gone with it. */
void gp_circular_file_note_uncopied(struct gp_circular_file *circular, uint64_t first_sequence,
				    uint64_t definitions);

/*
 * The disk takes no more: go around in the blocks that there are, from the next turn on, which is due.  False: these are too few, or
 * that did not help either.
 */
bool gp_circular_file_stop_growing(struct gp_circular_file *circular);

/* When the oldest block that is not gone was begun. */
uint64_t gp_circular_file_start_ticks(const struct gp_circular_file *circular);

#endif

/*
 * circular_file: selects the place of the next chunk in a trace file that keeps only its last part
 * (gpuprof/trace.h, "Circular files").
 *
 * The file consists of blocks of equal size, which chunks fill one after the other.  Once all
 * blocks are used, the next block overwrites the oldest.  Some blocks hold copies of definitions
 * instead, and are permanent.  Bookkeeping only; writer thread only.
 */
#ifndef COLLECTOR_CIRCULAR_FILE_H
#define COLLECTOR_CIRCULAR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define GP_CIRCULAR_FILE_BLOCKS     16u
#define GP_CIRCULAR_FILE_MIN_BLOCKS 4u /* blocks of records; fewer are not useful */

struct gp_circular_file_block {
	uint64_t first_sequence; /* of its chunks */
	uint64_t records;        /* lost when it is overwritten */
	uint64_t uncopied;       /* number of definitions in it without a copy */
	uint64_t start_ticks;    /* time of its first chunk */
	bool keeps;              /* holds definitions */
	bool is_empty;           /* left without a chunk: nothing could be written */
};

struct gp_circular_file {
	uint64_t block_bytes;       /* 0 = the file is not circular */
	uint64_t first_bytes;       /* before the first block */
	uint64_t at, end;           /* position of the next chunk, end of its block */
	uint64_t kept_at, kept_end; /* the same for definitions */
	uint64_t floor;             /* sequence of the oldest existing chunk */
	uint64_t gone_definitions;  /* so far; definitions lost without a copy */
	uint32_t count;             /* blocks in use */
	uint32_t current;
	uint32_t keepers;
	uint32_t most;   /* maximum number of blocks */
	bool is_in_vain; /* it stopped growing, and nothing was written since */
	struct gp_circular_file_block blocks[GP_CIRCULAR_FILE_BLOCKS];
};

/* A circular file of at most `bytes`, of which the first first_bytes are in use. */
void gp_circular_file_init(struct gp_circular_file *circular, uint64_t bytes, uint64_t first_bytes);

/*
 * Continue in another block, with the chunk of this sequence.  Returns the number of records lost
 * by that.
 */
uint64_t gp_circular_file_next_block(struct gp_circular_file *circular, uint64_t sequence,
				     uint64_t ticks);

/*
 * Take a block for definitions.  False: they already have half of the blocks.  *records: number of
 * records lost by that.
 */
bool gp_circular_file_add_definition_block(struct gp_circular_file *circular, uint64_t *records);

/*
 * The definitions of the block that begins with the chunk of this sequence could not be copied:
 * they are lost with it, or already lost.
 */
void gp_circular_file_note_uncopied(struct gp_circular_file *circular, uint64_t first_sequence,
				    uint64_t definitions);

/*
 * The disk is full: reuse the existing blocks from the next block change on, which is due.  False:
 * there are too few, or it has not helped.
 */
bool gp_circular_file_stop_growing(struct gp_circular_file *circular);

/* Time of the first chunk of the oldest existing block. */
uint64_t gp_circular_file_start_ticks(const struct gp_circular_file *circular);

#endif

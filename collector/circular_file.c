#include "collector/circular_file.h"

#include <string.h>

#define PAGE_BYTES 4096u

void gp_circular_file_init(struct gp_circular_file *circular, uint64_t bytes, uint64_t first_bytes)
{
	memset(circular, 0, sizeof(*circular));
	/*
	 * a block begins at a page boundary: its first, short chunk is written entirely or not at
	 * all
	 */
	circular->block_bytes = bytes / GP_CIRCULAR_FILE_BLOCKS & ~(uint64_t)(PAGE_BYTES - 1);
	circular->at = circular->first_bytes = first_bytes;
	circular->end = circular->block_bytes;
	circular->count = 1;
	circular->most = GP_CIRCULAR_FILE_BLOCKS;
}

/* The oldest block that is neither being written nor holds definitions. */
static uint32_t find_oldest(const struct gp_circular_file *circular)
{
	uint32_t oldest = circular->current;

	for (uint32_t i = 0; i < circular->count; i++) {
		const struct gp_circular_file_block *block = &circular->blocks[i];

		if (block->keeps || i == circular->current)
			continue;
		if (oldest == circular->current ||
		    block->first_sequence < circular->blocks[oldest].first_sequence)
			oldest = i;
	}
	return oldest;
}

static uint32_t take_block(struct gp_circular_file *circular, uint64_t *records)
{
	uint32_t block;

	*records = 0;
	if (circular->count < circular->most)
		return circular->count++;
	block = find_oldest(circular);
	*records = circular->blocks[block].records;
	circular->gone_definitions += circular->blocks[block].uncopied;
	circular->blocks[block].records = circular->blocks[block].uncopied = 0;
	return block;
}

static bool has_chunks(const struct gp_circular_file_block *block)
{
	return !block->keeps && !block->is_empty;
}

static const struct gp_circular_file_block *oldest_block(const struct gp_circular_file *circular)
{
	const struct gp_circular_file_block *oldest = &circular->blocks[circular->current];

	for (uint32_t i = 0; i < circular->count; i++)
		if (has_chunks(&circular->blocks[i]) &&
		    circular->blocks[i].first_sequence < oldest->first_sequence)
			oldest = &circular->blocks[i];
	return oldest;
}

static uint64_t start_of(const struct gp_circular_file *circular, uint32_t block)
{
	return block == 0 ? circular->first_bytes : block * circular->block_bytes;
}

static uint64_t end_of(const struct gp_circular_file *circular, uint32_t block)
{
	return (block + 1) * circular->block_bytes;
}

uint64_t gp_circular_file_next_block(struct gp_circular_file *circular, uint64_t sequence,
				     uint64_t ticks)
{
	uint64_t records;
	uint32_t block = take_block(circular, &records);

	circular->blocks[block] =
		(struct gp_circular_file_block){.first_sequence = sequence, .start_ticks = ticks};
	circular->current = block;
	circular->at = start_of(circular, block);
	circular->end = end_of(circular, block);
	circular->floor = oldest_block(circular)->first_sequence;
	return records;
}

bool gp_circular_file_add_definition_block(struct gp_circular_file *circular, uint64_t *records)
{
	uint32_t block;

	*records = 0;
	if (circular->keepers >= circular->most / 2)
		return false;
	block = take_block(circular, records);
	circular->blocks[block].keeps = true;
	circular->keepers++;
	circular->kept_at = start_of(circular, block);
	circular->kept_end = end_of(circular, block);
	circular->floor = oldest_block(circular)->first_sequence;
	return true;
}

void gp_circular_file_note_uncopied(struct gp_circular_file *circular, uint64_t first_sequence,
				    uint64_t definitions)
{
	uint64_t *sum = &circular->gone_definitions;

	for (uint32_t i = 0; i < circular->count; i++)
		if (has_chunks(&circular->blocks[i]) &&
		    circular->blocks[i].first_sequence == first_sequence)
			sum = &circular->blocks[i].uncopied;
	*sum += definitions;
}

bool gp_circular_file_stop_growing(struct gp_circular_file *circular)
{
	if (circular->is_in_vain ||
	    circular->count - circular->keepers < GP_CIRCULAR_FILE_MIN_BLOCKS)
		return false;
	circular->blocks[circular->current].is_empty |=
		circular->at == start_of(circular, circular->current);
	circular->most = circular->count;
	circular->at = circular->end;
	circular->is_in_vain = true;
	return true;
}

uint64_t gp_circular_file_start_ticks(const struct gp_circular_file *circular)
{
	return oldest_block(circular)->start_ticks;
}

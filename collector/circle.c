#include "collector/circle.h"

#include <string.h>

#define PAGE_BYTES 4096u

void gp_circle_init(struct gp_circle *circle, uint64_t bytes, uint64_t first_bytes)
{
	memset(circle, 0, sizeof(*circle));
	/* a block begins with a page: its first chunk, which is short, is written as a whole or not at all */
	circle->block_bytes = bytes / GP_CIRCLE_BLOCKS & ~(uint64_t)(PAGE_BYTES - 1);
	circle->at = circle->first_bytes = first_bytes;
	circle->end = circle->block_bytes;
	circle->count = 1;
	circle->most = GP_CIRCLE_BLOCKS;
}

/* The oldest that is neither being written nor keeps definitions. */
static uint32_t find_oldest(const struct gp_circle *circle)
{
	uint32_t oldest = circle->current;

	for (uint32_t i = 0; i < circle->count; i++) {
		const struct gp_circle_block *block = &circle->blocks[i];

		if (block->keeps || i == circle->current)
			continue;
		if (oldest == circle->current ||
		    block->first_sequence < circle->blocks[oldest].first_sequence)
			oldest = i;
	}
	return oldest;
}

static uint32_t take_block(struct gp_circle *circle, uint64_t *records)
{
	uint32_t block;

	*records = 0;
	if (circle->count < circle->most)
		return circle->count++;
	block = find_oldest(circle);
	*records = circle->blocks[block].records;
	circle->gone_definitions += circle->blocks[block].uncopied;
	circle->blocks[block].records = circle->blocks[block].uncopied = 0;
	return block;
}

static const struct gp_circle_block *oldest_block(const struct gp_circle *circle)
{
	const struct gp_circle_block *oldest = &circle->blocks[circle->current];

	for (uint32_t i = 0; i < circle->count; i++)
		if (!circle->blocks[i].keeps &&
		    circle->blocks[i].first_sequence < oldest->first_sequence)
			oldest = &circle->blocks[i];
	return oldest;
}

static uint64_t start_of(const struct gp_circle *circle, uint32_t block)
{
	return block == 0 ? circle->first_bytes : block * circle->block_bytes;
}

static uint64_t end_of(const struct gp_circle *circle, uint32_t block)
{
	return (block + 1) * circle->block_bytes;
}

uint64_t gp_circle_turn(struct gp_circle *circle, uint64_t sequence, uint64_t ticks)
{
	uint64_t records;
	uint32_t block = take_block(circle, &records);

	circle->blocks[block] =
		(struct gp_circle_block){.first_sequence = sequence, .start_ticks = ticks};
	circle->current = block;
	circle->at = start_of(circle, block);
	circle->end = end_of(circle, block);
	circle->floor = oldest_block(circle)->first_sequence;
	return records;
}

bool gp_circle_add_keeper(struct gp_circle *circle, uint64_t *records)
{
	uint32_t block;

	*records = 0;
	if (circle->keepers >= circle->most / 2)
		return false;
	block = take_block(circle, records);
	circle->blocks[block].keeps = true;
	circle->keepers++;
	circle->kept_at = start_of(circle, block);
	circle->kept_end = end_of(circle, block);
	circle->floor = oldest_block(circle)->first_sequence;
	return true;
}

void gp_circle_note_uncopied(struct gp_circle *circle, uint64_t first_sequence,
			     uint64_t definitions)
{
	uint64_t *sum = &circle->gone_definitions;

	for (uint32_t i = 0; i < circle->count; i++)
		if (!circle->blocks[i].keeps && circle->blocks[i].first_sequence == first_sequence)
			sum = &circle->blocks[i].uncopied;
	*sum += definitions;
}

bool gp_circle_stop_growing(struct gp_circle *circle)
{
	if (circle->is_in_vain || circle->count - circle->keepers < GP_CIRCLE_LEAST)
		return false;
	circle->most = circle->count;
	circle->at = circle->end;
	circle->is_in_vain = true;
	return true;
}

uint64_t gp_circle_start_ticks(const struct gp_circle *circle)
{
	return oldest_block(circle)->start_ticks;
}

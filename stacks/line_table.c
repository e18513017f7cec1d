#include "stacks/line_table.h"

#include <stddef.h>

#define FIRST_OF_ENTRY    0x80u /* bytes below it are column data */
#define INSTRUCTION_BYTES 2u
#define NO_LINE           (-128)
#define MOST_LINES        127
#define MOST_BYTES        254u /* maximum instruction bytes of a pair */

/* The line information of an entry, by its form. */
enum { ONE_LINE_FIRST = 10, ONE_LINE_LAST = 12, NO_COLUMNS = 13, LONG = 14, NOTHING = 15 };

struct cursor {
	const uint8_t *at, *end;
};

struct pairs {
	uint8_t *into;
	uint32_t used, size;
	bool is_cut;
};

/* Instructions of one line, and its distance from the previous line. */
struct span {
	uint32_t bytes;
	int32_t delta;
	bool has_line;
};

/* Six bits per byte, the lowest first; the lowest bit of all is the sign. */
static int32_t take_signed(struct cursor *cursor)
{
	uint32_t value = 0;

	for (unsigned shift = 0; cursor->at < cursor->end && shift < 30; shift += 6) {
		uint8_t byte = *cursor->at++;

		value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

static bool take_entry(struct cursor *cursor, struct span *span)
{
	while (cursor->at < cursor->end && *cursor->at < FIRST_OF_ENTRY)
		cursor->at++;
	if (cursor->at == cursor->end)
		return false;
	uint8_t head = *cursor->at++;
	unsigned form = head >> 3 & 15;

	*span = (struct span){((head & 7u) + 1) * INSTRUCTION_BYTES, 0, form != NOTHING};
	if (form == NO_COLUMNS || form == LONG)
		span->delta = take_signed(cursor);
	else if (form >= ONE_LINE_FIRST && form <= ONE_LINE_LAST)
		span->delta = (int32_t)form - ONE_LINE_FIRST;
	return true;
}

static void put_pair(struct pairs *pairs, uint32_t bytes, int32_t delta)
{
	if (pairs->size - pairs->used < 2) {
		pairs->is_cut = true;
		return;
	}
	pairs->into[pairs->used++] = (uint8_t)bytes;
	pairs->into[pairs->used++] = (uint8_t)delta;
}

/* A span too large for one pair is split; the first pairs have no instructions. */
static void put_span(struct pairs *pairs, struct span span)
{
	for (; span.delta > MOST_LINES && !pairs->is_cut; span.delta -= MOST_LINES)
		put_pair(pairs, 0, MOST_LINES);
	for (; span.delta < -MOST_LINES && !pairs->is_cut; span.delta += MOST_LINES)
		put_pair(pairs, 0, -MOST_LINES);
	while (span.bytes > 0 && !pairs->is_cut) {
		uint32_t bytes = span.bytes < MOST_BYTES ? span.bytes : MOST_BYTES;

		put_pair(pairs, bytes, span.has_line ? span.delta : NO_LINE);
		span.bytes -= bytes;
		span.delta = 0;
	}
}

bool gp_line_table_shorten(const uint8_t *table, uint32_t bytes, uint8_t *into, uint32_t size,
			   uint32_t *used)
{
	struct cursor cursor = {table, table + bytes};
	struct pairs pairs = {into, 0, size, false};
	struct span span = {0, 0, true}, next; /* the beginning of the code, at its first line */

	while (take_entry(&cursor, &next)) {
		if (next.delta == 0 && next.has_line == span.has_line) {
			span.bytes += next.bytes;
			continue;
		}
		put_span(&pairs, span);
		span = next;
	}
	put_span(&pairs, span);
	*used = pairs.used;
	return !pairs.is_cut;
}

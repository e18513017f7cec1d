/*
 * dwarf_cursor: reads the numbers of DWARF, never beyond the end: what is not there is 0.
 */
#ifndef STACKS_DWARF_CURSOR_H
#define STACKS_DWARF_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gp_dwarf_cursor {
	const uint8_t *at;
	const uint8_t *end;
};

/* A number of at most eight bytes. */
static inline uint64_t gp_dwarf_take(struct gp_dwarf_cursor *cursor, uint32_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(cursor->end - cursor->at) < bytes) {
		cursor->at = cursor->end;
		return 0;
	}
	memcpy(&value, cursor->at, bytes);
	cursor->at += bytes;
	return value;
}

static inline void gp_dwarf_skip(struct gp_dwarf_cursor *cursor, uint64_t bytes)
{
	uint64_t left = (uint64_t)(cursor->end - cursor->at);

	cursor->at += bytes < left ? bytes : left;
}

static inline uint64_t gp_dwarf_take_uleb(struct gp_dwarf_cursor *cursor)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; cursor->at < cursor->end && shift < 64; shift += 7) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static inline int64_t gp_dwarf_take_sleb(struct gp_dwarf_cursor *cursor)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; cursor->at < cursor->end && shift < 64;) {
		uint8_t byte = *cursor->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~(uint64_t)0 << shift;
			break;
		}
	}
	return (int64_t)value;
}

#endif

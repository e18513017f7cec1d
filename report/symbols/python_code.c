#include "report/symbols/python_code.h"

#include <string.h>

#define HEAD_BYTES        8u
#define INSTRUCTION_BYTES 2u /* unit of the tables since Python 3.11 */
#define NO_LINE           (-128)

struct cursor {
	const uint8_t *at, *end;
};

static const char *take_text(struct cursor *cursor)
{
	const char *text = (const char *)cursor->at;
	const uint8_t *nul = memchr(cursor->at, 0, (size_t)(cursor->end - cursor->at));

	if (!nul)
		return NULL;
	cursor->at = nul + 1;
	return text;
}

bool gp_python_code_read(const void *text, size_t bytes, struct gp_python_code *code)
{
	struct cursor cursor = {text, (const uint8_t *)text + bytes};

	if (bytes < HEAD_BYTES)
		return false;
	memcpy(&code->first_line, text, sizeof(code->first_line));
	code->form = cursor.at[4];
	cursor.at += HEAD_BYTES;
	code->file = take_text(&cursor);
	code->name = code->file ? take_text(&cursor) : NULL;
	code->table = cursor.at;
	code->table_bytes = (size_t)(cursor.end - cursor.at);
	return code->name != NULL;
}

/*
 * Pairs of bytes: the length of code that still belongs to the line, and the distance to the next
 * line.
 */
static uint32_t find_in_lnotab(const struct gp_python_code *code, uint64_t offset)
{
	uint32_t line = code->first_line;
	uint64_t address = 0;

	for (size_t i = 0; i + 1 < code->table_bytes; i += 2) {
		address += code->table[i];
		if (address > offset)
			break;
		line += (uint32_t)(int8_t)code->table[i + 1];
	}
	return line;
}

/* Pairs of bytes: the length of a line's code, and the line's distance from the previous one. */
static uint32_t find_in_3_10(const struct gp_python_code *code, uint64_t offset)
{
	uint32_t line = code->first_line;
	uint64_t end = 0;

	for (size_t i = 0; i + 1 < code->table_bytes; i += 2) {
		int8_t delta = (int8_t)code->table[i + 1];

		end += code->table[i];
		if (delta != NO_LINE)
			line += (uint32_t)delta;
		if (offset < end)
			return delta != NO_LINE ? line : 0;
	}
	return 0;
}

/* Six bits a byte, the lowest first; the lowest bit is the sign. */
static uint32_t take_signed(struct cursor *cursor)
{
	uint32_t value = 0;

	for (unsigned shift = 0; cursor->at < cursor->end && shift < 32; shift += 6) {
		uint8_t byte = *cursor->at++;

		value |= (uint32_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? 0 - (value >> 1) : value >> 1;
}

/*
 * The entry's line relative to the previous one. Entries begin with a byte >= 0x80; the other bytes
 * describe columns.
 */
static uint32_t take_delta(struct cursor *cursor, unsigned code)
{
	if (code == 13 || code == 14)
		return take_signed(cursor);
	return code >= 10 && code <= 12 ? code - 10 : 0;
}

static uint32_t find_in_3_11(const struct gp_python_code *code, uint64_t offset)
{
	struct cursor cursor = {code->table, code->table + code->table_bytes};
	uint32_t line = code->first_line;
	uint64_t end = 0;

	while (cursor.at < cursor.end) {
		uint8_t head = *cursor.at++;
		unsigned form = head >> 3 & 15;

		if (head < 0x80)
			continue;
		end += (uint64_t)((head & 7u) + 1) * INSTRUCTION_BYTES;
		line += take_delta(&cursor, form);
		if (offset < end)
			return form != 15 ? line : 0;
	}
	return 0;
}

uint32_t gp_python_code_line(const struct gp_python_code *code, uint64_t offset)
{
	static uint32_t (*const finders[])(const struct gp_python_code *, uint64_t) = {
		[GP_LINES_LNOTAB] = find_in_lnotab,
		[GP_LINES_3_10] = find_in_3_10,
		[GP_LINES_3_11] = find_in_3_11,
	};
	const size_t count = sizeof(finders) / sizeof(finders[0]);

	if (code->form == GP_PYTHON_OFFSET_IS_LINE)
		return offset <= UINT32_MAX ? (uint32_t)offset : 0;
	return code->form > 0 && code->form < count ? finders[code->form](code, offset) : 0;
}

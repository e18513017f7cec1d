#include "report/utf8.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* By sequence length: the bits of the lead byte that say so, and the smallest code point. */
static const struct {
	uint8_t mask, lead;
	uint32_t least;
} forms[] = {
	{0x80, 0x00, 0},
	{0xe0, 0xc0, 0x80},
	{0xf0, 0xe0, 0x800},
	{0xf8, 0xf0, 0x10000},
};

static size_t sequence_length(uint8_t lead)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((lead & forms[i].mask) == forms[i].lead)
			return i + 1;
	return 0;
}

size_t gp_utf8_decode(const char *text, size_t length, uint32_t *code)
{
	const uint8_t *bytes = (const uint8_t *)text;
	size_t count = length > 0 ? sequence_length(bytes[0]) : 0;

	if (count == 0 || count > length)
		return 0;
	*code = bytes[0] & (uint8_t)~forms[count - 1].mask;
	for (size_t i = 1; i < count; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (bytes[i] & 0x3f);
	}
	if (*code < forms[count - 1].least || *code > 0x10ffff ||
	    (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return count;
}

static bool is_inside(const char *at)
{
	return ((uint8_t)*at & 0xc0) == 0x80;
}

size_t gp_utf8_cut(const char *text, size_t most)
{
	size_t back = 0;

	if (strnlen(text, most + 1) <= most)
		return strlen(text);
	while (back < most && back < 4 && is_inside(text + most - back))
		back++;
	/* four of them are no sequence */
	return is_inside(text + most - back) ? most : most - back;
}

char *gp_utf8_repair(const char *text)
{
	size_t length = strlen(text), used = 0, replaced = strlen(REPLACEMENT);
	char *copy = malloc(replaced * length + 1);
	uint32_t code;

	for (size_t i = 0; copy && i < length;) {
		size_t count = gp_utf8_decode(text + i, length - i, &code);

		memcpy(copy + used, count > 0 ? text + i : REPLACEMENT,
		       count > 0 ? count : replaced);
		used += count > 0 ? count : replaced;
		i += count > 0 ? count : 1;
	}
	if (copy)
		copy[used] = '\0';
	return copy;
}

/* Invisible, or changing the order of what stands around them: never shown as they are. */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
	{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
	{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe000, 0xf8ff}, {0xe0000, 0x10ffff},
};

bool gp_utf8_is_hidden(uint32_t code)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

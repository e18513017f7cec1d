#include "collector/text.h"

#include <string.h>

struct gp_text gp_text_in(char *memory, size_t size_bytes)
{
	memory[0] = '\0';
	return (struct gp_text){memory, size_bytes, 0, false};
}

void gp_text_add_bytes(struct gp_text *text, const char *more, size_t bytes)
{
	size_t space = text->size_bytes - 1 - text->length;

	if (bytes > space) {
		bytes = space;
		text->cut = true;
	}
	memcpy(text->start + text->length, more, bytes);
	text->length += bytes;
	text->start[text->length] = '\0';
}

void gp_text_add(struct gp_text *text, const char *more)
{
	gp_text_add_bytes(text, more, strlen(more));
}

void gp_text_add_decimal(struct gp_text *text, uint64_t number)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) != 0);
	gp_text_add_bytes(text, digits + at, sizeof(digits) - at);
}

void gp_text_add_hex(struct gp_text *text, uint64_t number)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		gp_text_add_bytes(text, &"0123456789abcdef"[number >> shift & 15], 1);
}

uint32_t gp_text_put_utf8(char *at, uint32_t c)
{
	if (c < 0x80) {
		at[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		at[0] = (char)(0xc0 | c >> 6);
		at[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		at[0] = (char)(0xe0 | c >> 12);
		at[1] = (char)(0x80 | (c >> 6 & 0x3f));
		at[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	at[0] = (char)(0xf0 | c >> 18);
	at[1] = (char)(0x80 | (c >> 12 & 0x3f));
	at[2] = (char)(0x80 | (c >> 6 & 0x3f));
	at[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

void gp_text_put_cut_end(char *end, uint64_t hash)
{
	char memory[GP_TEXT_CUT_END_BYTES + 1];
	struct gp_text text = gp_text_in(memory, sizeof(memory));

	gp_text_add(&text, "...");
	gp_text_add_hex(&text, hash);
	memcpy(end, memory, GP_TEXT_CUT_END_BYTES);
}

/*
 * utf8: one UTF-8 sequence at a time, strictly: no overlong forms, no surrogates, nothing beyond U+10FFFF; and what of it a terminal may be
 * given.
 */
#ifndef GPUPROF_UTF8_H
#define GPUPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Of gp_utf8_show(): "\u{10ffff}" and its NUL. */
#define GP_UTF8_SHOWN_BYTES 11

/* How many bytes the sequence at text has, with its code point in *code; 0 if it is not valid. */
static inline size_t gp_utf8_decode(const char *text, size_t length, uint32_t *code)
{
	/* by sequence length: the bits of the lead byte that say so, and the smallest code point */
	static const struct {
		uint8_t mask, lead;
		uint32_t least;
	} forms[] = {
		{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
	const uint8_t *bytes = (const uint8_t *)text;
	size_t count = 0;

	while (length > 0 && count < 4 && (bytes[0] & forms[count].mask) != forms[count].lead)
		count++;
	if (length == 0 || count == 4 || ++count > length)
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

/* Is the character invisible, a control, or one that changes the order of what stands around it? */
static inline bool gp_utf8_is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe000, 0xf8ff}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

/*
 * The character at text, of which there is at least a byte, as a terminal may be given it: itself, or written out: \n, \t, \x1b for a
 * control character or a byte that is no UTF-8, \u{202e} for another one that is hidden.  *used: how many bytes of text it is.  Returns the
 * bytes in shown, which end in a NUL.
 */
static inline size_t gp_utf8_show(char shown[GP_UTF8_SHOWN_BYTES], const char *text, size_t length,
				  size_t *used)
{
	uint32_t code;
	size_t bytes = gp_utf8_decode(text, length, &code);

	*used = bytes > 0 ? bytes : 1;
	if (bytes > 0 && !gp_utf8_is_hidden(code)) {
		memcpy(shown, text, bytes);
		shown[bytes] = '\0';
		return bytes;
	}
	if (bytes == 0)
		code = (uint8_t)*text;
	if (code == '\n' || code == '\t')
		return (size_t)snprintf(shown, GP_UTF8_SHOWN_BYTES, "\\%c",
					code == '\n' ? 'n' : 't');
	return (size_t)snprintf(shown, GP_UTF8_SHOWN_BYTES, bytes <= 1 ? "\\x%02x" : "\\u{%x}",
				(unsigned int)code);
}

#endif

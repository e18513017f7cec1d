/*
 * utf8: decodes one UTF-8 sequence at a time, strictly: no overlong forms, no surrogates, nothing
 * beyond U+10FFFF.  Also makes text safe for a terminal.
 */
#ifndef GPUPROF_UTF8_H
#define GPUPROF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Size for gp_utf8_show(): "\u{10ffff}" and its NUL. */
#define GP_UTF8_SHOWN_BYTES 11

/* Length in bytes of the sequence at `text`, with its code point in *code; 0 if it is invalid. */
static inline size_t gp_utf8_decode(const char *text, size_t length, uint32_t *code)
{
	/*
	 * by sequence length: the mask and the bits of the lead byte, and the smallest code point
	 */
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

/*
 * Whether the character is invisible, a control character, or changes the text direction.
 * report/html/web/base.js has the same list.
 */
static inline bool gp_utf8_is_hidden(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} hidden[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},        {0x61c, 0x61c},
		{0x115f, 0x1160}, {0x180e, 0x180e}, {0x200b, 0x200f},    {0x2028, 0x202e},
		{0x2060, 0x206f}, {0x3164, 0x3164}, {0xe000, 0xf8ff},    {0xfeff, 0xfeff},
		{0xffa0, 0xffa0}, {0xfff9, 0xfffb}, {0xe0000, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (code >= hidden[i].first && code <= hidden[i].last)
			return true;
	return false;
}

/*
 * The first character of `text`, which is not empty, in a form that is safe for a terminal: itself,
 * or an escape: \n, \t, \x1b for a control character or an invalid byte, \u{202e} for another
 * hidden character.  *used: its length in `text`.  Returns the length of `shown`, which is
 * NUL-terminated.
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

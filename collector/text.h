/*
 * text: builds short texts without stdio.  Text that does not fit is truncated, and `cut` is set.
 */
#ifndef COLLECTOR_TEXT_H
#define COLLECTOR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_text {
	char *start; /* always NUL-terminated */
	size_t size_bytes;
	size_t length;
	bool cut;
};

/* An empty text in the caller's memory of at least one byte. */
struct gp_text gp_text_in(char *memory, size_t size_bytes);

void gp_text_add(struct gp_text *text, const char *more);
void gp_text_add_bytes(struct gp_text *text, const char *more, size_t bytes);
void gp_text_add_decimal(struct gp_text *text, uint64_t number);
void gp_text_add_hex(struct gp_text *text, uint64_t number); /* 16 digits */

/*
 * The last bytes of a text that was cut to GP_STRING_MAX_BYTES: "..." and the hash of the whole,
 * which keeps texts with equal beginnings apart.
 */
#define GP_TEXT_CUT_END_BYTES 19u
void gp_text_put_cut_end(char *end, uint64_t hash);

/* Encode a code point below 0x110000 in UTF-8; returns its length, 1 to 4. */
uint32_t gp_text_put_utf8(char *at, uint32_t c);

#endif

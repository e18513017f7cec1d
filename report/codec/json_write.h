/*
 * json_write: writes JSON text fast, into a file or into memory.
 *
 * It does the characters, not the grammar: the caller writes braces, commas and keys as text.
 * Strings come out strict whatever they hold: valid UTF-8, characters that a terminal does not show
 * as \uXXXX (beyond U+FFFF as the text \u{XXXXX}: never an escaped surrogate), each byte that is no
 * UTF-8 as U+FFFD. Numbers are integers or have a fixed number of decimals; no floating point is
 * involved. Errors are remembered; gp_json_close() tells.
 */
#ifndef REPORT_CODEC_JSON_WRITE_H
#define REPORT_CODEC_JSON_WRITE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define GP_JSON_RESERVE 8192u

struct gp_background_writer;

struct gp_json {
	char *buffer;
	size_t used, capacity;
	FILE *out;                           /* NULL: all stays in buffer, which grows */
	struct gp_background_writer *behind; /* writes the buffers to out; NULL: we do */
	uint32_t writes;                     /* of the buffer; none is counted after the second */
	int error;                           /* 0 or the first -errno */
	void (*progress)(void *context); /* called whenever the buffer was written out, or NULL */
	void *progress_context;
};

/*
 * Begin writing to out, or to memory if out is NULL. Until gp_json_close() nobody else writes to
 * out. Returns 0 or -ENOMEM.
 */
int gp_json_open(struct gp_json *json, FILE *out);

/* Write out what is left and free the buffer. Returns 0 or the first error. */
int gp_json_close(struct gp_json *json);

/* For the functions below alone: the buffer is full, or there is nothing. */
void gp_json_make_room(struct gp_json *json, size_t bytes);
void gp_json_bytes_in_parts(struct gp_json *json, const char *bytes, size_t length);

/* Make room for so many more bytes in the buffer (at most GP_JSON_RESERVE); whoever writes into it
 * directly calls this first. */
static inline void gp_json_reserve(struct gp_json *json, size_t bytes)
{
	if (__builtin_expect(json->capacity - json->used < bytes, 0))
		gp_json_make_room(json, bytes);
}

/* Text as it is. */
static inline void gp_json_bytes(struct gp_json *json, const char *bytes, size_t length)
{
	if (__builtin_expect(json->capacity - json->used < length || length == 0, 0)) {
		gp_json_bytes_in_parts(json, bytes, length);
		return;
	}
	memcpy(json->buffer + json->used, bytes, length);
	json->used += length;
}

static inline void gp_json_text(struct gp_json *json, const char *text)
{
	gp_json_bytes(json, text, strlen(text));
}

/* A string value or key, with its quotes. */
void gp_json_string(struct gp_json *json, const char *text, size_t length);

/* A key after the object's first: a comma, the key as it is in quotes, a colon. */
void gp_json_key(struct gp_json *json, const char *key);

/* `before` as it is, a key with its colon for one, and the text as a string. */
void gp_json_string_after(struct gp_json *json, const char *before, const char *text);

void gp_json_unsigned(struct gp_json *json, uint64_t value);
void gp_json_signed(struct gp_json *json, int64_t value);

/* "0x..." as a string: for addresses, which do not fit JSON's numbers. */
void gp_json_address(struct gp_json *json, uint64_t address);

/* ns as microseconds with exactly three decimals. */
void gp_json_us(struct gp_json *json, uint64_t ns);

/* numerator / denominator with six decimals, rounded down; denominator > 0. */
void gp_json_ratio(struct gp_json *json, uint64_t numerator, uint64_t denominator);

#endif

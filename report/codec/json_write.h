/*
 * json_write: writes JSON text fast, to a file or to memory.
 *
 * It knows characters, not grammar: the caller writes braces, commas and keys as text. Strings are
 * always valid JSON and UTF-8. Characters that a terminal does not show become \uXXXX; beyond
 * U+FFFF they become the text \u{XXXXX}, never an escaped surrogate. Each byte of invalid UTF-8
 * becomes U+FFFD. Numbers are integers or have a fixed number of decimals, without floating point.
 * gp_json_close() reports errors.
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
	FILE *out; /* NULL: all output stays in buffer, which grows */
	/* writes the buffers to out; NULL = this thread does */
	struct gp_background_writer *behind;
	uint32_t writes;                 /* flushes so far, at most 2 */
	int error;                       /* 0 or the first -errno */
	void (*progress)(void *context); /* called after each flush; or NULL */
	void *progress_context;
};

/*
 * Begins to write to out, or to memory if out is NULL. Nobody else may write to out until
 * gp_json_close(). Returns 0 or -ENOMEM.
 */
int gp_json_open(struct gp_json *json, FILE *out);

/* Writes the rest and frees the buffer. Returns 0 or the first error. */
int gp_json_close(struct gp_json *json);

/* The slow paths of the inline functions below. */
void gp_json_make_room(struct gp_json *json, size_t bytes);
void gp_json_bytes_in_parts(struct gp_json *json, const char *bytes, size_t length);

/*
 * Reserves `bytes` bytes in the buffer, at most GP_JSON_RESERVE. Call it before writing to the
 * buffer directly.
 */
static inline void gp_json_reserve(struct gp_json *json, size_t bytes)
{
	if (__builtin_expect(json->capacity - json->used < bytes, 0))
		gp_json_make_room(json, bytes);
}

/* Text without quotes or escapes. */
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

/*
 * A comma, the key in quotes, and a colon. For all keys of an object but the first; the key is not
 * escaped.
 */
void gp_json_key(struct gp_json *json, const char *key);

/* `before` unchanged, such as a key with its colon, then the text as a string. */
void gp_json_string_after(struct gp_json *json, const char *before, const char *text);

void gp_json_unsigned(struct gp_json *json, uint64_t value);
void gp_json_signed(struct gp_json *json, int64_t value);

/* "0x..." as a string, as addresses do not fit JSON numbers. */
void gp_json_address(struct gp_json *json, uint64_t address);

/* ns as microseconds with exactly three decimals. */
void gp_json_us(struct gp_json *json, uint64_t ns);

/* numerator / denominator with six decimals, rounded down; denominator > 0. */
void gp_json_ratio(struct gp_json *json, uint64_t numerator, uint64_t denominator);

#endif

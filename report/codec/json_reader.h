/*
 * json_reader: reads JSON token by token from a stream of any length.
 *
 * Memory does not grow with the input: a string keeps its first GP_JSON_TEXT_BYTES bytes. Any input
 * is safe. It accepts a little more than JSON: a comma before a closing bracket, NaN Infinity,
 * backslashes that begin no escape, and anything after the value.
 */
#ifndef REPORT_CODEC_JSON_READER_H
#define REPORT_CODEC_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GP_JSON_TEXT_BYTES 65536u

/* Deeper nesting is an error. */
#define GP_JSON_DEPTH 256u

enum gp_json_reader_token {
	GP_JSON_OBJECT,
	GP_JSON_OBJECT_END,
	GP_JSON_ARRAY,
	GP_JSON_ARRAY_END,
	GP_JSON_KEY, /* the value comes next */
	GP_JSON_STRING,
	GP_JSON_NUMBER,
	GP_JSON_WORD, /* true, false, null, NaN, Infinity */
	/* The last tokens: further calls return them again. */
	GP_JSON_END,    /* after the whole value */
	GP_JSON_CUT,    /* the input ends within the value */
	GP_JSON_BAD,    /* invalid JSON */
	GP_JSON_FAILED, /* read error or no memory: gp_json_reader_error() */
};

struct gp_json_reader;

/*
 * read() fills up to `bytes` bytes. It returns their number, 0 at the end, or a negative errno
 * value. Returns NULL if there is no memory.
 */
struct gp_json_reader *
gp_json_reader_new(ssize_t (*read)(void *context, void *buffer, size_t bytes), void *context);
void gp_json_reader_free(struct gp_json_reader *pull);

enum gp_json_reader_token gp_json_reader_next(struct gp_json_reader *pull);

/*
 * After an OBJECT or ARRAY skips to its end; after a KEY skips its value; else does nothing.
 * Returns false if the input ends.
 */
bool gp_json_reader_skip(struct gp_json_reader *pull, enum gp_json_reader_token token);

/*
 * The text of a KEY, STRING, NUMBER or WORD with escapes resolved. It ends in a NUL, contains no
 * other, and is valid until the next call.
 */
const char *gp_json_reader_text(const struct gp_json_reader *pull, size_t *bytes);

/* Whether the text equals `text`. */
bool gp_json_reader_is(const struct gp_json_reader *pull, const char *text);

/*
 * The text as a number, also if it was quoted. A number that is too large becomes the largest. The
 * fraction of a whole number is dropped. A number above INT64_MAX becomes the negative one of the
 * same 64 bits. Returns false if the text is no number.
 */
bool gp_json_reader_whole(const struct gp_json_reader *pull, int64_t *number);
/*
 * A decimal number in thousandths, exact to the last digit: us to ns. Kineto writes -1 ns as 0.-01,
 * and -1500 ns as -1.-500.
 */
bool gp_json_reader_thousandths(const struct gp_json_reader *pull, int64_t *thousandths);

/*
 * After BAD: continues with the next object in an array, at or behind the mark, that begins with
 * such a key. The object lies at that depth, and its key is the next token. Returns false if there
 * is none; the last token then says whether the input seems to end with a closing bracket.
 */
bool gp_json_reader_resume(struct gp_json_reader *pull, uint32_t depth,
			   bool (*is_key)(const char *key));

/* Marks the place of the next token. The mark is lost after 256 KiB. */
void gp_json_reader_mark(struct gp_json_reader *pull);

/* The number of open objects and arrays. */
uint32_t gp_json_reader_depth(const struct gp_json_reader *pull);

int gp_json_reader_error(const struct gp_json_reader *pull);

#endif

/*
 * pull: reads JSON piece by piece, from a stream of any length.
 *
 * Memory does not grow with the input: of a string its first GP_PULL_TEXT_BYTES bytes are kept.
 * Any bytes are safe.  A little more than JSON is taken: a comma before a closing bracket, NaN and
 * Infinity, and anything behind the value.
 */
#ifndef REPORT_CODEC_JSON_READER_H
#define REPORT_CODEC_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GP_PULL_TEXT_BYTES 65536u

/* Brackets within brackets beyond this are damage. */
#define GP_PULL_DEPTH 256u

enum gp_pull_token {
	GP_PULL_OBJECT,
	GP_PULL_OBJECT_END,
	GP_PULL_ARRAY,
	GP_PULL_ARRAY_END,
	GP_PULL_KEY, /* of an object's entry, whose value is next */
	GP_PULL_STRING,
	GP_PULL_NUMBER,
	GP_PULL_WORD, /* true, false, null, NaN, Infinity */
	/* These end it: every further call returns them again. */
	GP_PULL_END,    /* of the value */
	GP_PULL_CUT,    /* the input ends before the value does */
	GP_PULL_BAD,    /* what comes is no JSON */
	GP_PULL_FAILED, /* reading failed, or there is no memory: gp_pull_error() */
};

struct gp_pull;

/*
 * read: up to so many bytes into the buffer; 0 at the end, or a negative errno value.  NULL: no
 * memory.
 */
struct gp_pull *gp_pull_new(ssize_t (*read)(void *context, void *buffer, size_t bytes),
			    void *context);
void gp_pull_free(struct gp_pull *pull);

enum gp_pull_token gp_pull_next(struct gp_pull *pull);

/*
 * After an OBJECT or ARRAY goes behind its end, after a KEY behind its value; else does nothing.
 * False: the input is at its end.
 */
bool gp_pull_skip(struct gp_pull *pull, enum gp_pull_token token);

/*
 * The text of a KEY, STRING, NUMBER or WORD, escapes undone, with a NUL behind it and none in it;
 * until the next call.
 */
const char *gp_pull_text(const struct gp_pull *pull, size_t *bytes);

/* Whether the text is that. */
bool gp_pull_is(const struct gp_pull *pull, const char *text);

/*
 * The text as a number, whether it stood in quotes or not; what is too large becomes the largest.
 * False: it is none. A whole number's fraction is dropped; a number above INT64_MAX becomes the
 * negative one of the same 64 bits.
 */
bool gp_pull_whole(const struct gp_pull *pull, int64_t *number);
/*
 * A decimal number, not negative, in thousandths: us in ns, exact to the last digit. A negative one
 * becomes 0.
 */
bool gp_pull_thousandths(const struct gp_pull *pull, uint64_t *thousandths);

int gp_pull_error(const struct gp_pull *pull);

#endif

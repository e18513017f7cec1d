/*
 * pickle: reads plain data out of a Python pickle: numbers, texts, lists, tuples, dictionaries.
 *
 * A pickle is a program for a stack machine that can call anything in Python.  Here nothing is
 * called: a pickle that asks for more than data is refused, as any other bytes are that make no
 * sense.  Memory and time are bounded by the length of the pickle.  Protocols 2 to 5.
 */
#ifndef REPORT_CODEC_PICKLE_H
#define REPORT_CODEC_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tuples are lists.  Of a number that does not fit, and of an object that nobody asked for, there
 * is none.
 */
enum gp_pickle_kind {
	GP_PICKLE_NONE,
	GP_PICKLE_WHOLE, /* True and False, too */
	GP_PICKLE_REAL,
	GP_PICKLE_TEXT,
	GP_PICKLE_LIST,
	GP_PICKLE_DICT,
};

struct gp_pickle_value {
	enum gp_pickle_kind kind;
	uint32_t count,
		/* of a list; of a dictionary two for each entry: key, value; of a text bytes */
		capacity;
	union {
		int64_t whole;
		double real;
		const char *text; /* in the bytes that were read: without NUL at its end */
		uint32_t *items;  /* numbers of values */
	};
};

struct gp_pickle {
	struct gp_pickle_value *values;
	uint32_t value_count;
	uint32_t root;
};

/*
 * The bytes must outlive the pickle; gp_pickle_free() in either case.  Returns 0, -ENOMEM,
 * -EOVERFLOW or -EPROTO with a few words in *problem: what is wrong with the bytes.
 */
int gp_pickle_read(struct gp_pickle *pickle, const void *bytes, size_t byte_count,
		   const char **problem);
void gp_pickle_free(struct gp_pickle *pickle);

/*
 * The value of a dictionary's key; the element of a list.  Where there is none, or it is of another
 * kind, one of the kind NONE; any value may be asked.
 */
const struct gp_pickle_value *gp_pickle_get(const struct gp_pickle *pickle,
					    const struct gp_pickle_value *dict, const char *key);
const struct gp_pickle_value *gp_pickle_at(const struct gp_pickle *pickle,
					   const struct gp_pickle_value *list, uint32_t index);

const struct gp_pickle_value *gp_pickle_root(const struct gp_pickle *pickle);

/* A whole number, not below 0; else 0. */
uint64_t gp_pickle_number(const struct gp_pickle_value *value);

/* Whether it is that text. */
bool gp_pickle_is(const struct gp_pickle_value *value, const char *text);

#endif

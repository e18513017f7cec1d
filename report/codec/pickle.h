/*
 * pickle: reads plain data from a Python pickle: numbers, text, lists, tuples, dictionaries.
 *
 * A pickle is a program for a stack machine that can call anything in Python. This reader calls
 * nothing: it refuses pickles that contain more than data, and invalid bytes. The length of the
 * pickle bounds memory and time. Protocols 2 to 5.
 */
#ifndef REPORT_CODEC_PICKLE_H
#define REPORT_CODEC_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tuples are lists. A number that does not fit into 64 bits is NONE. */
enum gp_pickle_kind {
	GP_PICKLE_NONE,
	GP_PICKLE_WHOLE, /* also True and False */
	GP_PICKLE_REAL,
	GP_PICKLE_TEXT,
	GP_PICKLE_LIST,
	GP_PICKLE_DICT,
};

struct gp_pickle_value {
	enum gp_pickle_kind kind;
	/* items of a list; keys and values of a dictionary, two per entry; bytes of a text */
	uint32_t count;
	uint32_t capacity;
	union {
		int64_t whole;
		double real;
		const char *text; /* points into the input; no NUL at its end */
		uint32_t *items;  /* indices in gp_pickle.values */
	};
};

struct gp_pickle {
	struct gp_pickle_value *values;
	uint32_t value_count;
	uint32_t root;
};

/*
 * The bytes must outlive the pickle. Call gp_pickle_free() in any case. Returns 0, -ENOMEM,
 * -EOVERFLOW, or -EPROTO with a short description of the fault in *problem.
 */
int gp_pickle_read(struct gp_pickle *pickle, const void *bytes, size_t byte_count,
		   const char **problem);
void gp_pickle_free(struct gp_pickle *pickle);

/*
 * The value of a dictionary's key; the element of a list. A missing value, or one of a value of
 * another kind, is NONE.
 */
const struct gp_pickle_value *gp_pickle_get(const struct gp_pickle *pickle,
					    const struct gp_pickle_value *dict, const char *key);
const struct gp_pickle_value *gp_pickle_at(const struct gp_pickle *pickle,
					   const struct gp_pickle_value *list, uint32_t index);

const struct gp_pickle_value *gp_pickle_root(const struct gp_pickle *pickle);

/* The value as a whole number; 0 if it is none or negative. */
uint64_t gp_pickle_number(const struct gp_pickle_value *value);

/* Whether the value is that text. */
bool gp_pickle_is(const struct gp_pickle_value *value, const char *text);

#endif

/* texts: numbers for pieces of bytes, counted from 1: the same bytes have the same number. */
#ifndef REPORT_CODEC_INTERNER_H
#define REPORT_CODEC_INTERNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/hash_map.h"

/* Zeros are an empty one. */
struct gp_texts {
	char *bytes; /* of all, one after the other */
	size_t used, room;
	struct gp_texts_entry *entries; /* by their numbers less one */
	uint32_t count, capacity;
	struct gp_hash_map index; /* of the entries */
};

struct gp_texts_entry {
	size_t offset;
	uint32_t bytes;
};

/* The number; *is_new: it was given just now.  0: no memory. */
uint32_t gp_texts_number(struct gp_texts *texts, const void *bytes, size_t count, bool *is_new);

void gp_texts_free(struct gp_texts *texts);

#endif

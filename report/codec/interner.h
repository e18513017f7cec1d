/* interner: numbers byte strings from 1; equal strings get the same number. */
#ifndef REPORT_CODEC_INTERNER_H
#define REPORT_CODEC_INTERNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/hash_map.h"

/* Zeroed = empty. */
struct gp_interner {
	char *bytes; /* of all strings, one after the other */
	size_t used, room;
	struct gp_interner_entry *entries; /* entries[number - 1] */
	uint32_t count, capacity;
	struct gp_hash_map index; /* by bytes */
};

struct gp_interner_entry {
	size_t offset;
	uint32_t bytes;
};

/* The string's number; *is_new: it is a new one. Returns 0 if there is no memory. */
uint32_t gp_interner_number(struct gp_interner *texts, const void *bytes, size_t count,
			    bool *is_new);

void gp_interner_free(struct gp_interner *texts);

#endif

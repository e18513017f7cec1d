/*
 * intern: small ids for byte strings that repeat (kernel names, launch shapes).
 *
 * One thread only; memory comes from anonymous mappings, never from malloc, and is kept for the
 * life of the process. Ids count from 1.
 */
#ifndef COLLECTOR_INTERN_H
#define COLLECTOR_INTERN_H

#include <stdbool.h>
#include <stdint.h>

struct gp_intern {
	struct gp_intern_entry *entries; /* open addressing, entry_limit is a power of two */
	uint32_t entry_limit;
	uint32_t count;
	uint8_t *block; /* where the next key's bytes go */
	uint32_t block_left_bytes;
};

/*
 * Id of a key.  *is_new: this call made the id, and the caller has to emit its definition.
 * Returns 0 when memory ran out.
 */
uint32_t gp_intern(struct gp_intern *table, const void *key, uint32_t key_bytes, bool *is_new);

#endif

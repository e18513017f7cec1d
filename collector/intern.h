/*
 * intern: small ids for byte strings that repeat (kernel names, launch shapes).
 *
 * One thread only; memory comes from anonymous mappings, never from malloc.  Ids count from 1.
 *
 * Memory is bounded, however long the program runs and however many keys it makes up: a table that
 * holds GP_INTERN_MOST_BYTES of keys, or less where --max-memory says so (collector/memory_budget.h), forgets them all.  A key that comes again is then new, with an
 * id of its own, and no id ever means two keys.
 */
#ifndef COLLECTOR_INTERN_H
#define COLLECTOR_INTERN_H

#include <stdbool.h>
#include <stdint.h>

#define GP_INTERN_MOST_BYTES (16u << 20)

struct gp_intern {
	struct gp_intern_entry *entries; /* open addressing, entry_limit is a power of two */
	uint32_t entry_limit;
	uint32_t entry_count;
	uint32_t last_id;
	struct gp_intern_block *blocks; /* of keys; the newest first */
	uint32_t block_used_bytes;      /* of the newest, its head included */
	uint32_t kept_bytes;            /* of all keys */
};

/*
 * Id of a key.  *is_new: this call made the id, and the caller has to emit its definition.
 * Returns 0 when memory ran out.
 */
uint32_t gp_intern(struct gp_intern *table, const void *key, uint32_t key_bytes, bool *is_new);

/* Right after gp_intern() made an id: its definition was dropped.  The key is new when it comes again, with another id. */
void gp_intern_take_back(struct gp_intern *table, const void *key, uint32_t key_bytes);

#endif

/*
 * intern: small ids for byte strings that repeat (kernel names, launch shapes).
 *
 * One thread only; memory comes from anonymous mappings, never from malloc.  Ids count from 1.
 *
 * Memory is bounded for any number of keys: a table with GP_INTERN_MOST_BYTES of keys, or less with
 * --max-memory (collector/memory_budget.h), forgets them all.  A forgotten key is then new and gets
 * another id; an id never stands for two keys.
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
	struct gp_intern_block *blocks; /* memory of the keys; the newest first */
	uint32_t block_used_bytes;      /* of the newest block, including its header */
	uint32_t kept_bytes;            /* of all keys */
};

/*
 * The id of a key.  *is_new: this call made the id, and the caller must emit its definition.
 * Returns 0 if out of memory.
 */
uint32_t gp_intern(struct gp_intern *table, const void *key, uint32_t key_bytes, bool *is_new);

/*
 * Right after gp_intern() made an id whose definition was dropped: forget the key, which gets
 * another id next time.
 */
void gp_intern_remove_last(struct gp_intern *table, const void *key, uint32_t key_bytes);

/* Forget all keys and free the memory.  Ids are not used again. */
void gp_intern_forget(struct gp_intern *table);

#endif

/*
 * hash_map: finds elements of an array by key.
 *
 * The caller owns the elements and their keys. The map keeps element numbers by the hash of their
 * keys, and asks the caller whether an element has a key. Hashes differ between processes, so that
 * no crafted trace can make lookups slow. (uthash puts links into each element and is all macros;
 * tsearch() of the C library takes an allocation per element and a cache miss per level.)
 */
#ifndef REPORT_BASE_HASH_MAP_H
#define REPORT_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_hash_slot {
	uint32_t hash;
	uint32_t number; /* element number plus 1; 0 = free */
};

/* Zeroed = empty. */
struct gp_hash_map {
	/* slot_count is a power of two; at most half of the slots are used */
	struct gp_hash_slot *slots;
	uint32_t slot_count, count;
};

#define GP_HASH_NONE UINT32_MAX

/* Whether the element with that number has the key. */
typedef bool gp_hash_has_key(const void *elements, uint32_t number, const void *key);

uint32_t gp_hash_bytes(const void *bytes, size_t count);
uint32_t gp_hash_text(const char *text);

/*
 * The number of the element with the key; GP_HASH_NONE if there is none. `hash` is the hash of the
 * key.
 */
uint32_t gp_hash_find(const struct gp_hash_map *map, uint32_t hash, gp_hash_has_key *has_key,
		      const void *elements, const void *key);

/* Adds an element whose key is not in the map. Returns 0 or -ENOMEM. */
int gp_hash_add(struct gp_hash_map *map, uint32_t hash, uint32_t number);

void gp_hash_free(struct gp_hash_map *map);

#endif

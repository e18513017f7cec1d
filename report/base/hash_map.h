/*
 * hash_map: finds elements of an array by their key.
 *
 * The elements, keys within, belong to the caller: the map keeps their numbers alone, by a hash of
 * the key, and asks the caller which element has it.  Hashes differ from process to process, so
 * that no trace can be made to be slow.  (uthash puts links into each element and is all macros;
 * the C library's tsearch() takes an allocation and a cache miss a level.)
 */
#ifndef REPORT_BASE_HASH_MAP_H
#define REPORT_BASE_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_hash_slot {
	uint32_t hash;
	uint32_t number; /* plus one; 0 = free */
};

/* Zeroed = empty. */
struct gp_hash_map {
	struct gp_hash_slot *slots; /* a power of two of them, at most half of them used */
	uint32_t slot_count, count;
};

#define GP_HASH_NONE UINT32_MAX

/* Whether the element with that number has that key. */
typedef bool gp_hash_has_key(const void *elements, uint32_t number, const void *key);

uint32_t gp_hash_bytes(const void *bytes, size_t count);
uint32_t gp_hash_text(const char *text);

/* The number of the element with that key, whose hash it is; GP_HASH_NONE: there is none. */
uint32_t gp_hash_find(const struct gp_hash_map *map, uint32_t hash, gp_hash_has_key *has_key,
		      const void *elements, const void *key);

/* Adds an element whose key is not there.  Returns 0 or -ENOMEM. */
int gp_hash_add(struct gp_hash_map *map, uint32_t hash, uint32_t number);

void gp_hash_free(struct gp_hash_map *map);

#endif

#include "report/base/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FIRST_SLOTS 64u
#define MOST_SLOTS  (1u << 31)

/* The kernel gives each process these random bytes. */
static uint64_t seed(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The two halves of the 128-bit product, xored, as in wyhash. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t gp_hash_bytes(const void *bytes, size_t count)
{
	const char *at = bytes;
	uint64_t hash = seed() ^ count, word = 0;

	for (; count >= sizeof(word); count -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = mix(hash ^ word, UINT64_C(0x9e3779b97f4a7c15));
	}
	if (count > 0) {
		word = 0;
		memcpy(&word, at, count);
		hash = mix(hash ^ word, UINT64_C(0xe7037ed1a0b428db));
	}
	return (uint32_t)mix(hash, UINT64_C(0xa0761d6478bd642f));
}

uint32_t gp_hash_text(const char *text)
{
	return gp_hash_bytes(text, strlen(text));
}

uint32_t gp_hash_find(const struct gp_hash_map *map, uint32_t hash, gp_hash_has_key *has_key,
		      const void *elements, const void *key)
{
	uint32_t mask = map->slot_count - 1;

	if (map->slot_count == 0)
		return GP_HASH_NONE;
	for (uint32_t at = hash & mask; map->slots[at].number != 0; at = (at + 1) & mask)
		if (map->slots[at].hash == hash &&
		    has_key(elements, map->slots[at].number - 1, key))
			return map->slots[at].number - 1;
	return GP_HASH_NONE;
}

static void put(struct gp_hash_slot *slots, uint32_t mask, struct gp_hash_slot slot)
{
	uint32_t at = slot.hash & mask;

	while (slots[at].number != 0)
		at = (at + 1) & mask;
	slots[at] = slot;
}

static int grow(struct gp_hash_map *map)
{
	uint32_t count = map->slot_count ? 2 * map->slot_count : FIRST_SLOTS;
	struct gp_hash_slot *slots =
		map->slot_count < MOST_SLOTS ? calloc(count, sizeof(*slots)) : NULL;

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].number != 0)
			put(slots, count - 1, map->slots[i]);
	free(map->slots);
	map->slots = slots;
	map->slot_count = count;
	return 0;
}

int gp_hash_add(struct gp_hash_map *map, uint32_t hash, uint32_t number)
{
	int result = map->count < map->slot_count / 2 ? 0 : grow(map);

	if (result != 0)
		return result;
	put(map->slots, map->slot_count - 1, (struct gp_hash_slot){hash, number + 1});
	map->count++;
	return 0;
}

void gp_hash_free(struct gp_hash_map *map)
{
	free(map->slots);
	*map = (struct gp_hash_map){0};
}

#include "report/codec/interner.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

#define FIRST_SLOTS 256u

/* FNV-1a. */
static uint32_t hash_of(const uint8_t *bytes, size_t count)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

/* The slot of an entry that is there, or where it belongs. */
static uint32_t *find_slot(const struct gp_texts *t, const void *bytes, size_t count, uint32_t hash)
{
	uint32_t at = hash & (t->slot_count - 1);

	for (; t->slots[at] != 0; at = (at + 1) & (t->slot_count - 1)) {
		const struct gp_texts_entry *entry = &t->entries[t->slots[at] - 1];

		if (entry->hash == hash && entry->bytes == count &&
		    memcmp(t->bytes + entry->offset, bytes, count) == 0)
			break;
	}
	return &t->slots[at];
}

/* Half of the slots stay free. */
static bool make_slots(struct gp_texts *t)
{
	uint32_t count = t->slot_count ? t->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots;

	if (t->count < t->slot_count / 2)
		return true;
	slots = count > t->slot_count ? calloc(count, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t at = t->entries[i].hash & (count - 1);

		while (slots[at] != 0)
			at = (at + 1) & (count - 1);
		slots[at] = i + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	return true;
}

/* Also for nothing: entries have bytes to point to. */
static bool make_room(struct gp_texts *t, size_t count)
{
	size_t room = t->room ? t->room : 4096;
	char *bytes;

	if (t->bytes && t->room - t->used >= count)
		return true;
	while (room - t->used < count)
		room *= 2;
	bytes = realloc(t->bytes, room);
	if (!bytes)
		return false;
	t->bytes = bytes;
	t->room = room;
	return true;
}

uint32_t gp_texts_number(struct gp_texts *t, const void *bytes, size_t count, bool *is_new)
{
	uint32_t hash = hash_of(bytes, count);
	uint32_t *slot;

	*is_new = false;
	if (count > UINT32_MAX || !make_slots(t))
		return 0;
	slot = find_slot(t, bytes, count, hash);
	if (*slot != 0)
		return *slot;
	if (!make_room(t, count) ||
	    gp_array_grow(&t->entries, &t->capacity, t->count, sizeof(*t->entries)) != 0)
		return 0;
	if (count > 0)
		memcpy(t->bytes + t->used, bytes, count);
	t->entries[t->count++] = (struct gp_texts_entry){t->used, (uint32_t)count, hash};
	t->used += count;
	*slot = t->count;
	*is_new = true;
	return t->count;
}

void gp_texts_free(struct gp_texts *t)
{
	free(t->bytes);
	free(t->entries);
	free(t->slots);
	*t = (struct gp_texts){0};
}

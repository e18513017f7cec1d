#include "report/codec/interner.h"

#include <stdlib.h>
#include <string.h>

#include "report/base/array.h"

struct key {
	const void *bytes;
	size_t count;
};

static bool has_key(const void *texts, uint32_t number, const void *key)
{
	const struct gp_interner *t = texts;
	const struct gp_interner_entry *entry = &t->entries[number];
	const struct key *wanted = key;

	return entry->bytes == wanted->count &&
	       memcmp(t->bytes + entry->offset, wanted->bytes, wanted->count) == 0;
}

/* Allocates for empty texts, too: entries need a pointer. */
static bool reserve(struct gp_interner *t, size_t count)
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

uint32_t gp_interner_number(struct gp_interner *t, const void *bytes, size_t count, bool *is_new)
{
	const struct key key = {bytes, count};
	uint32_t hash = gp_hash_bytes(bytes, count);
	uint32_t found = gp_hash_find(&t->index, hash, has_key, t, &key);

	*is_new = false;
	if (found != GP_HASH_NONE)
		return found + 1;
	if (count > UINT32_MAX || !reserve(t, count) ||
	    gp_array_grow(&t->entries, &t->capacity, t->count, sizeof(*t->entries)) != 0 ||
	    gp_hash_add(&t->index, hash, t->count) != 0)
		return 0;
	if (count > 0)
		memcpy(t->bytes + t->used, bytes, count);
	t->entries[t->count++] = (struct gp_interner_entry){t->used, (uint32_t)count};
	t->used += count;
	*is_new = true;
	return t->count;
}

void gp_interner_free(struct gp_interner *t)
{
	free(t->bytes);
	free(t->entries);
	gp_hash_free(&t->index);
	*t = (struct gp_interner){0};
}

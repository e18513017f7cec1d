#include "collector/intern.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/memory_budget.h"
#include "collector/sys.h"
#include "collector/hash_bytes.h"

#define FIRST_ENTRIES 1024u
#define BLOCK_BYTES   (1u << 18)
#define INTERN_PART   32 /* of --max-memory, for the keys of a table */

struct gp_intern_entry {
	uint64_t hash;
	const uint8_t *key;
	uint32_t key_bytes;
	uint32_t id; /* 0 = free */
};

struct gp_intern_block {
	struct gp_intern_block *before;
	uint32_t bytes; /* of the block */
	uint8_t keys[];
};

static void *map_bytes(size_t bytes)
{
	void *memory;

	if (!gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, bytes))
		return NULL;
	if (gp_sys_map_lazily(bytes, &memory) == 0)
		return memory;
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
	return NULL;
}

static void unmap_bytes(void *memory, size_t bytes)
{
	munmap(memory, bytes);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
}

static struct gp_intern_entry *find(struct gp_intern_entry *entries, uint32_t limit, uint64_t hash,
				    const void *key, uint32_t key_bytes)
{
	uint32_t at = (uint32_t)hash & (limit - 1);

	for (;; at = (at + 1) & (limit - 1)) {
		struct gp_intern_entry *entry = &entries[at];

		if (entry->id == 0 || (entry->hash == hash && entry->key_bytes == key_bytes &&
				       memcmp(entry->key, key, key_bytes) == 0))
			return entry;
	}
}

/*
 * For one more entry: double the table when it is three quarters full, so that a search stays
 * short.
 */
static bool grow_if_full(struct gp_intern *table)
{
	uint32_t limit = table->entry_limit != 0 ? table->entry_limit * 2 : FIRST_ENTRIES;

	if (table->entry_limit != 0 && table->entry_count < table->entry_limit / 4 * 3)
		return true;
	struct gp_intern_entry *entries = map_bytes(limit * sizeof(*entries));

	if (entries == NULL)
		return false;
	for (uint32_t i = 0; i < table->entry_limit; i++) {
		struct gp_intern_entry *old = &table->entries[i];

		if (old->id != 0)
			*find(entries, limit, old->hash, old->key, old->key_bytes) = *old;
	}
	if (table->entries != NULL)
		unmap_bytes(table->entries, table->entry_limit * sizeof(*entries));
	table->entries = entries;
	table->entry_limit = limit;
	return true;
}

static bool add_block(struct gp_intern *table, uint32_t key_bytes)
{
	uint32_t needed = (uint32_t)sizeof(struct gp_intern_block) + key_bytes;
	uint32_t bytes = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
	struct gp_intern_block *block = map_bytes(bytes);

	if (block == NULL)
		return false;
	block->before = table->blocks;
	block->bytes = bytes;
	table->blocks = block;
	table->block_used_bytes = sizeof(*block);
	return true;
}

static const uint8_t *keep(struct gp_intern *table, const void *key, uint32_t key_bytes)
{
	if (table->blocks == NULL || table->blocks->bytes - table->block_used_bytes < key_bytes)
		if (!add_block(table, key_bytes))
			return NULL;
	uint8_t *copy = (uint8_t *)table->blocks + table->block_used_bytes;

	memcpy(copy, key, key_bytes);
	table->block_used_bytes += key_bytes;
	table->kept_bytes += key_bytes;
	return copy;
}

void gp_intern_forget(struct gp_intern *table)
{
	while (table->blocks != NULL) {
		struct gp_intern_block *block = table->blocks;

		table->blocks = block->before;
		unmap_bytes(block, block->bytes);
	}
	if (table->entries != NULL)
		unmap_bytes(table->entries, table->entry_limit * sizeof(*table->entries));
	*table = (struct gp_intern){.last_id = table->last_id};
}

/* The id of the new key; 0: out of memory. */
static uint32_t add(struct gp_intern *table, uint64_t hash, const void *key, uint32_t key_bytes)
{
	const uint8_t *copy;

	if (!grow_if_full(table))
		return 0;
	copy = keep(table, key, key_bytes);
	if (copy == NULL)
		return 0;
	*find(table->entries, table->entry_limit, hash, key, key_bytes) = (struct gp_intern_entry){
		.hash = hash, .key = copy, .key_bytes = key_bytes, .id = ++table->last_id};
	table->entry_count++;
	return table->last_id;
}

/* Without memory for more, the table reuses its own. */
static uint32_t add_or_forget(struct gp_intern *table, uint64_t hash, const void *key,
			      uint32_t key_bytes)
{
	uint32_t id;

	if (table->kept_bytes >= gp_memory_budget_share(GP_INTERN_MOST_BYTES, INTERN_PART))
		gp_intern_forget(table);
	id = add(table, hash, key, key_bytes);
	if (id != 0 || table->blocks == NULL)
		return id;
	gp_intern_forget(table);
	return add(table, hash, key, key_bytes);
}

/* Known keys, the common case, are found without any memory check. */
uint32_t gp_intern(struct gp_intern *table, const void *key, uint32_t key_bytes, bool *is_new)
{
	uint64_t hash = gp_hash_bytes(0, key, key_bytes);
	const struct gp_intern_entry *entry;

	*is_new = false;
	if (table->entry_limit != 0) {
		entry = find(table->entries, table->entry_limit, hash, key, key_bytes);
		if (entry->id != 0)
			return entry->id;
	}
	uint32_t id = add_or_forget(table, hash, key, key_bytes);

	*is_new = id != 0;
	return id;
}

/*
 * Nothing was added since, so no probe sequence passes the entry, and its key is the last in its
 * block.
 */
void gp_intern_remove_last(struct gp_intern *table, const void *key, uint32_t key_bytes)
{
	find(table->entries, table->entry_limit, gp_hash_bytes(0, key, key_bytes), key, key_bytes)
		->id = 0;
	table->entry_count--;
	table->block_used_bytes -= key_bytes;
	table->kept_bytes -= key_bytes;
}

#include "collector/text_table.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "collector/atomic.h"
#include "collector/memory_budget.h"
#include "collector/sys.h"
#include "collector/collector.h"
#include "collector/hash_bytes.h"
#include "collector/text.h"

#define SHARE_OF_CHAINS 16u /* this part of the memory holds the heads of the chains */
#define NO_MEMORY       1u
#define BUDGET_PART                                                                                \
	32u /* of --max-memory, for a table of GP_TEXT_TABLE_MAX_BYTES; smaller ones less */

static_assert(GP_STRING_MAX_BYTES <= UINT16_MAX, "lengths have 16 bits");

static uint64_t hash_of(const struct gp_text_key *key)
{
	return gp_hash_bytes((uint64_t)key->value << 32 ^ (uint64_t)key->space << 16, key->bytes,
			     key->length_bytes);
}

/* ---- memory ---- */

/* The beginning of the memory; the texts follow. */
struct area {
	uint64_t bytes;      /* of all, a power of two; constant, like the mask */
	uint64_t chain_mask; /* number of chains, a power of two, minus 1 */
	uint64_t chains[];   /* atomic; the address of the newest text of each, 0 = none */
};

static uint32_t bytes_to_have(const struct gp_text_table *table)
{
	uint32_t smaller = GP_TEXT_TABLE_MAX_BYTES / table->wanted_bytes;

	return (uint32_t)gp_memory_budget_share_pow2(table->wanted_bytes, BUDGET_PART * smaller);
}

/* Pages are allocated when touched. */
static struct area *make_area(uint32_t bytes)
{
	struct area *area;
	void *memory;

	if (!gp_memory_budget_charge(GP_MEMORY_BUDGET_INHERITED, bytes))
		return NULL;
	if (gp_sys_map_lazily(bytes, &memory) != 0) {
		gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
		return NULL;
	}
	area = memory;
	area->bytes = bytes;
	area->chain_mask = bytes / SHARE_OF_CHAINS / sizeof(uint64_t) - 1;
	return area;
}

static void drop_area(struct area *area)
{
	uint64_t bytes = area->bytes;

	munmap(area, bytes);
	gp_memory_budget_release(GP_MEMORY_BUDGET_INHERITED, bytes);
}

/*
 * One of several concurrent threads installs its area.  A refusal may have been caused by the
 * others' areas.
 */
static uint64_t map_memory(struct gp_text_table *table)
{
	struct area *area = make_area(bytes_to_have(table));

	if (area == NULL)
		gp_replace64(&table->memory, 0, NO_MEMORY);
	else if (!gp_replace64(&table->memory, 0, (uintptr_t)area) &&
		 !gp_replace64(&table->memory, NO_MEMORY, (uintptr_t)area))
		drop_area(area);
	return gp_load64_acquire(&table->memory);
}

/* NULL: out of memory. */
static struct area *area_of(struct gp_text_table *table)
{
	uint64_t memory = gp_load64_acquire(&table->memory);

	if (__builtin_expect(memory == 0, 0))
		memory = map_memory(table);
	return memory != NO_MEMORY ? (struct area *)(uintptr_t)memory : NULL;
}

static struct gp_known_text *text_at(uint64_t address)
{
	return (struct gp_known_text *)(uintptr_t)address;
}

/* Address of the first text. */
static uint64_t first_of(const struct area *area)
{
	return (uintptr_t)&area->chains[area->chain_mask + 1];
}

/* If two threads add the same text concurrently, the memory of one copy is wasted. */
static struct gp_known_text *reserve_text(struct gp_text_table *table, const struct area *area,
					  uint32_t length_bytes)
{
	uint64_t first = first_of(area);
	uint64_t most = (uintptr_t)area + area->bytes - first;
	uint64_t bytes = (sizeof(struct gp_known_text) + length_bytes + 1 + 7) & ~(uint64_t)7;
	uint64_t used;

	if (gp_load64(&table->used_bytes) + bytes > most)
		return NULL;
	used = gp_take64(&table->used_bytes, bytes);
	if (used + bytes > most)
		return NULL;
	return text_at(first + used);
}

/* ---- finding and adding ---- */

static bool is_cut(const struct gp_text_key *key)
{
	return __builtin_expect(key->length_bytes > GP_STRING_MAX_BYTES, 0);
}

/* Bytes of the key that are also in its text; in a cut text, the hash of the whole follows. */
static uint32_t same_bytes(const struct gp_text_key *key)
{
	return is_cut(key) ? GP_STRING_MAX_BYTES - GP_TEXT_CUT_END_BYTES : key->length_bytes;
}

static uint32_t kept_bytes(const struct gp_text_key *key)
{
	return is_cut(key) ? GP_STRING_MAX_BYTES : key->length_bytes;
}

static bool is_text(const struct gp_known_text *text, const struct gp_text_key *key, uint64_t hash)
{
	return text->hash == hash && text->length_bytes == kept_bytes(key) &&
	       text->space == key->space && text->value == key->value &&
	       memcmp(text->bytes, key->bytes, same_bytes(key)) == 0;
}

/* Search the part of a chain from `first` up to `end`. */
static struct gp_known_text *find(uint64_t first, uint64_t end, const struct gp_text_key *key,
				  uint64_t hash)
{
	for (uint64_t at = first; at != end; at = text_at(at)->next)
		if (is_text(text_at(at), key, hash))
			return text_at(at);
	return NULL;
}

/* A value that only a text at this very address has, not even a copy of it. */
static uint64_t seal_of(const struct gp_known_text *text)
{
	return (text->hash ^ (uintptr_t)text) * 0xff51afd7ed558ccdu | 1;
}

static struct gp_known_text *make(struct gp_text_table *table, const struct area *area,
				  const struct gp_text_key *key, uint64_t hash)
{
	struct gp_known_text *text = reserve_text(table, area, kept_bytes(key));

	if (text == NULL)
		return NULL;
	text->hash = hash;
	text->seal = seal_of(text);
	text->id = gp_add32(&table->last_id, 1) + 1;
	text->recording = 0;
	text->value = key->value;
	text->space = (uint16_t)key->space;
	text->length_bytes = (uint16_t)kept_bytes(key);
	memcpy(text->bytes, key->bytes, same_bytes(key));
	if (is_cut(key)) {
		/* the same hash in all processes */
		gp_text_put_cut_end(text->bytes + same_bytes(key),
				    gp_hash_bytes(0, key->bytes, key->length_bytes));
		gp_count(GP_COUNTER_CUT_STRINGS, 1);
	}
	text->bytes[text->length_bytes] = '\0';
	return text;
}

/* Texts added meanwhile come before the part already searched. */
static struct gp_known_text *add(struct gp_text_table *table, struct area *area, uint64_t searched,
				 const struct gp_text_key *key, uint64_t hash)
{
	uint64_t *chain = &area->chains[hash & area->chain_mask];
	struct gp_known_text *text = make(table, area, key, hash);

	while (text != NULL) {
		struct gp_known_text *other;
		uint64_t head;

		text->next = searched;
		if (gp_replace64(chain, searched, (uintptr_t)text))
			break;
		head = gp_load64_acquire(chain);
		other = find(head, searched, key, hash);
		if (other != NULL)
			return other;
		searched = head;
	}
	return text;
}

struct gp_known_text *gp_text_table_add(struct gp_text_table *table, const struct gp_text_key *key)
{
	uint64_t hash = hash_of(key);
	struct area *area = area_of(table);
	struct gp_known_text *text;
	uint64_t first;

	if (area == NULL)
		return NULL;
	first = gp_load64_acquire(&area->chains[hash & area->chain_mask]);
	text = find(first, 0, key, hash);
	return text != NULL ? text : add(table, area, first, key, hash);
}

struct gp_known_text *gp_text_table_at(const struct gp_text_table *table, uint64_t address)
{
	uint64_t memory = gp_load64_acquire(&table->memory);
	const struct area *area = (const struct area *)(uintptr_t)memory;

	if (memory == 0 || memory == NO_MEMORY || address % 8 != 0 || address < first_of(area) ||
	    address > memory + area->bytes - sizeof(struct gp_known_text))
		return NULL;
	return text_at(address)->seal == seal_of(text_at(address)) ? text_at(address) : NULL;
}

/* ---- defining ---- */

/* The definition is emitted before the text is marked as defined; two threads may both emit it. */
static uint32_t define(struct gp_known_text *text, uint32_t recording)
{
	if (recording == 0 || !gp_emit_string((enum gp_string_space)text->space, text->id,
					      text->value, text->bytes, text->length_bytes))
		return 0;
	gp_store32_release(&text->recording, recording);
	return text->id;
}

uint32_t gp_text_table_define(struct gp_known_text *text)
{
	uint32_t recording = gp_collector_recording();

	if (__builtin_expect(recording != 0 && gp_load32_acquire(&text->recording) == recording, 1))
		return text->id;
	return define(text, recording);
}

static uint32_t emit_once(struct gp_text_table *table, const struct gp_text_key *key)
{
	uint32_t id = gp_add32(&table->last_id, 1) + 1;

	gp_count(GP_COUNTER_TEXTS_AGAIN, 1);
	return gp_emit_string(key->space, id, key->value, key->bytes, key->length_bytes) ? id : 0;
}

uint32_t gp_text_table_id(struct gp_text_table *table, const struct gp_text_key *key)
{
	struct gp_known_text *text = gp_text_table_add(table, key);

	return text != NULL ? gp_text_table_define(text) : emit_once(table, key);
}

#include "stacks/python_code.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "collector/text.h"
#include "stacks/line_table.h"
#include "stacks/memory.h"

#define MOST_CODES  (1u << 17)
#define CODE_BYTES  64u /* upper bound for an identity and its two index slots */
#define BUDGET_PART 16  /* of --max-memory */

/* Offsets in CPython's objects, the same in all versions. */
#define OBJECT_SIZE     16u /* of bytes; for a str in characters */
#define BYTES_DATA      32u
#define TEXT_STATE      32u
#define TEXT_KIND(s)    (((s) >> 2) & 7u) /* bytes per character */
#define TEXT_COMPACT(s) (((s) >> 5) & 1u)
#define TEXT_ASCII(s)   (((s) >> 6) & 1u)

#define HEAD_BYTES 8u
#define NAME_BYTES 4000u /* maximum of a file name and of a function name */

/*
 * The identity of an object.  Another object may reuse all addresses, and its version: see
 * content_of().
 */
struct identity {
	uint64_t address;
	uint64_t file;
	uint64_t name;
	uint64_t table;
	uint32_t first_line;
	uint32_t version;
	uint64_t hash; /* hash of the contents at these addresses; 0 = not needed */
};

/* Readable addresses of the referenced objects: the originals or copies. */
struct parts {
	uint64_t file;
	uint64_t name;
	uint64_t table;
};

static_assert(sizeof(((struct gp_python_code_scratch *)0)->text) == GP_STRING_MAX_BYTES,
	      "one string");

static struct identity *codes;   /* by id; 0 is unused */
static uint32_t *index_of_codes; /* atomic; ids by hash of the address, 0 = free */
static uint32_t code_limit;      /* a power of two */
static uint32_t index_limit;     /* twice as many: half empty at worst, so that searches end */
static uint32_t index_shift;     /* for a 64-bit hash: its highest bits are the slot */
static uint32_t last_id;

int gp_python_code_init(void)
{
	if (codes != NULL)
		return 0;
	code_limit = (uint32_t)(gp_memory_budget_share_pow2(MOST_CODES * CODE_BYTES, BUDGET_PART) /
				CODE_BYTES);
	index_limit = 2 * code_limit;
	index_shift = (uint32_t)__builtin_clz(index_limit) + 33;
	codes = gp_memory_map(code_limit * sizeof(*codes));
	index_of_codes = gp_memory_map(index_limit * sizeof(*index_of_codes));
	return codes != NULL && index_of_codes != NULL ? 0 : -ENOMEM;
}

void gp_python_code_forget(void)
{
	gp_memory_clear(codes, code_limit * sizeof(*codes));
	gp_memory_clear(index_of_codes, index_limit * sizeof(*index_of_codes));
	gp_store32(&last_id, 0);
}

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

static uint32_t half_at(uint64_t address)
{
	return *(const uint32_t *)address;
}

/* ---- what an object is ---- */

static uint64_t hash_of_bytes(const uint8_t *data, uint64_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325u ^ bytes;

	for (; bytes >= 8; bytes -= 8, data += 8) {
		uint64_t word;

		memcpy(&word, data, 8);
		hash = (hash ^ word) * 0xff51afd7ed558ccdu;
		hash ^= hash >> 32;
	}
	for (; bytes > 0; bytes--, data++)
		hash = (hash ^ *data) * 0x100000001b3u;
	return hash | 1;
}

static uint64_t hash_of_table(uint64_t table)
{
	return hash_of_bytes((const uint8_t *)table + BYTES_DATA, word_at(table + OBJECT_SIZE));
}

/* Length and address of a str's bytes; 0 for a kind that names do not have. */
static uint64_t text_of(const struct gp_python_layout *layout, uint64_t text, const uint8_t **data)
{
	uint32_t state = half_at(text + TEXT_STATE), kind = TEXT_KIND(state);

	*data = (const uint8_t *)text +
		(TEXT_ASCII(state) ? layout->text.ascii : layout->text.other);
	if (!TEXT_COMPACT(state) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	return word_at(text + OBJECT_SIZE) * kind;
}

/*
 * Code that was not read from a file, such as that of exec(), is temporary.  The code of modules is
 * permanent in practice.
 */
static bool is_loose(const struct gp_python_layout *layout, uint64_t file)
{
	const char *text = (const char *)file + layout->text.ascii;

	if (!TEXT_ASCII(half_at(file + TEXT_STATE)))
		return true;
	return text[0] != '/' && strncmp(text, "<frozen", 7) != 0;
}

/*
 * Temporary code may get the address of previous code, with the same name and line table, and in a
 * new interpreter the same version: then the contents distinguish them.  0 = permanent.
 */
static uint64_t content_of(const struct gp_python_layout *layout, const struct identity *identity,
			   const struct parts *parts)
{
	bool may_go = is_loose(layout, parts->file);
	const uint8_t *name;

	if (!may_go && identity->version == 0)
		return 0;
	uint64_t bytes = text_of(layout, parts->name, &name);

	return (may_go ? hash_of_table(parts->table) << 1 : 0) ^ hash_of_bytes(name, bytes);
}

/* `code` is readable: the object at the address, or a copy of it. */
static struct identity identify(const struct gp_python_layout *layout, uint64_t address,
				uint64_t code)
{
	struct identity identity = {
		.address = address,
		.file = word_at(code + layout->code.file),
		.name = word_at(code + layout->code.name),
		.table = word_at(code + layout->code.table),
		.first_line = half_at(code + layout->code.first_line),
	};

	if (layout->code.version != 0)
		identity.version = half_at(code + layout->code.version);
	return identity;
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return a->address == b->address && a->table == b->table && a->file == b->file &&
	       a->name == b->name && a->first_line == b->first_line && a->version == b->version;
}

void gp_python_code_prefetch(uint32_t id)
{
	__builtin_prefetch(&codes[id]);
}

bool gp_python_code_is_permanent(uint32_t id)
{
	return id != 0 && codes[id].hash == 0;
}

bool gp_python_code_is_still(const struct gp_python_layout *layout, uint64_t code, uint32_t id)
{
	const struct identity *known = &codes[id];
	struct identity identity = identify(layout, code, code);
	struct parts parts = {identity.file, identity.name, identity.table};

	return is_same(&identity, known) &&
	       (known->hash == 0 || known->hash == content_of(layout, &identity, &parts));
}

/* ---- emitting code objects ---- */

/* A str as UTF-8, with its NUL, truncated to the available space. */
static uint32_t put_text(const struct gp_python_layout *layout, uint64_t text, char *at)
{
	const uint8_t *data;
	uint32_t kind = TEXT_KIND(half_at(text + TEXT_STATE)), used = 0;
	uint64_t bytes = text_of(layout, text, &data);

	for (; bytes > 0 && used < NAME_BYTES - 5; bytes -= kind, data += kind) {
		uint32_t c = 0;

		memcpy(&c, data, kind);
		if (c != 0)
			used += gp_text_put_utf8(at + used, c);
	}
	at[used] = '\0';
	return used + 1;
}

/* The line table, truncated to the available space; returns its form. */
static enum gp_line_table put_table(const struct gp_python_layout *layout, uint64_t table,
				    char *text, uint32_t *used, bool *is_cut)
{
	uint64_t bytes = word_at(table + OBJECT_SIZE);
	const uint8_t *data = (const uint8_t *)table + BYTES_DATA;
	uint32_t space = GP_STRING_MAX_BYTES - *used, taken;

	if (layout->table_form == GP_LINES_3_11) {
		*is_cut = bytes >= GP_STRING_MAX_BYTES;
		taken = *is_cut ? GP_STRING_MAX_BYTES : (uint32_t)bytes;
		*is_cut |=
			!gp_line_table_shorten(data, taken, (uint8_t *)text + *used, space, &taken);
		*used += taken;
		return GP_LINES_3_10;
	}
	*is_cut = bytes > space;
	taken = *is_cut ? space : (uint32_t)bytes;
	memcpy(text + *used, data, taken);
	*used += taken;
	return (enum gp_line_table)layout->table_form;
}

static void emit(const struct gp_python_layout *layout, const struct identity *identity,
		 const struct parts *parts, uint32_t id, char *text)
{
	uint32_t used = HEAD_BYTES;
	bool is_cut = false;

	memset(text, 0, HEAD_BYTES);
	memcpy(text, &identity->first_line, 4);
	used += put_text(layout, parts->file, text + used);
	used += put_text(layout, parts->name, text + used);
	text[4] = (char)put_table(layout, parts->table, text, &used, &is_cut);
	text[5] = is_cut;
	gp_emit_string(GP_STRING_CODE, id, 0, text, used);
}

/* ---- the table ---- */

static uint32_t add(const struct identity *identity)
{
	uint32_t id = gp_load32(&last_id) < code_limit - 1 ? gp_add32(&last_id, 1) + 1 : code_limit;

	if (id >= code_limit) {
		gp_store32(&last_id, code_limit - 1);
		gp_count(GP_COUNTER_STACK_CODES_FULL, 1);
		return 0;
	}
	codes[id] = *identity;
	return id;
}

/* By all distinguishing data, because many objects may share an address. */
static uint32_t place_of(const struct identity *identity)
{
	uint64_t hash = (identity->address ^ identity->hash) * 0x9e3779b97f4a7c15u;

	hash ^= hash >> 32 ^ identity->table ^ (uint64_t)identity->version << 32 ^
		identity->first_line;
	return (uint32_t)((hash * 0xff51afd7ed558ccdu) >> index_shift);
}

static inline uint32_t find(const struct gp_python_layout *layout, struct identity identity,
			    const struct parts *parts, struct gp_python_code_scratch *scratch)
{
	uint32_t own = 0;

	identity.hash = content_of(layout, &identity, parts);
	for (uint32_t at = place_of(&identity);; at = (at + 1) & (index_limit - 1)) {
		uint32_t id = gp_load32_acquire(&index_of_codes[at]);

		if (id == 0) {
			own = own != 0 ? own : add(&identity);
			if (own == 0)
				return 0;
			if (gp_replace32(&index_of_codes[at], 0, own)) {
				emit(layout, &identity, parts, own, scratch->text);
				return own;
			}
			id = gp_load32_acquire(&index_of_codes[at]);
		}
		if (is_same(&codes[id], &identity) && codes[id].hash == identity.hash)
			return id;
	}
}

uint32_t gp_python_code_find(const struct gp_python_layout *layout, uint64_t code,
			     struct gp_python_code_scratch *scratch)
{
	struct identity identity = identify(layout, code, code);
	struct parts parts = {identity.file, identity.name, identity.table};

	return find(layout, identity, &parts, scratch);
}

uint32_t gp_python_code_find_copy(const struct gp_python_layout *layout,
				  const struct gp_python_code_copy *copy,
				  struct gp_python_code_scratch *scratch)
{
	struct identity identity = identify(layout, copy->address, (uint64_t)copy->object);
	struct parts parts = {(uint64_t)copy->file, (uint64_t)copy->name, (uint64_t)copy->table};

	return find(layout, identity, &parts, scratch);
}

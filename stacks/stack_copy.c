#include "stacks/stack_copy.h"

#if defined(__x86_64__)
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "collector/atomic.h"
#include "collector/collector.h"
#include "gpuprof/record.h"
#include "stacks/stack_hash.h"
#include "stacks/memory.h"
#include "stacks/modules.h"
#include "stacks/rule_table.h"
#include "stacks/stack_tree.h"

#define WORD         8u
#define INDEX_LIMIT  (2 * GP_STACK_COPIES) /* at most half full, so searches terminate */
#define UCONTEXT_RBX 128u
#define UCONTEXT_R12 72u /* and the next three */

static_assert(sizeof(struct gp_stack_copy) == GP_STRING_MAX_BYTES, "one string");

struct known {
	uint64_t key; /* atomic; 0 = free */
	uint32_t id;  /* atomic; 0 = a thread is making it now */
};

static struct known *known;
static uint32_t copy_count; /* atomic */

int gp_stack_copy_init(void)
{
	if (known == NULL)
		known = gp_memory_map(INDEX_LIMIT * sizeof(*known));
	return known != NULL ? 0 : -ENOMEM;
}

void gp_stack_copy_forget(void)
{
	gp_memory_clear(known, INDEX_LIMIT * sizeof(*known));
	gp_store32(&copy_count, 0);
}

/* ---- registers ---- */

static const uint8_t dwarf_numbers[GP_KEPT_REGISTERS] = {3, 12, 13, 14, 15};

static uint64_t word_at(uint64_t address)
{
	return *(const uint64_t *)address;
}

/* The used part of the stack, all of which is readable. */
struct span {
	uint64_t low;
	uint64_t high;
};

static bool read_word(const struct span *stack, uint64_t address, uint64_t *word)
{
	if (address % WORD != 0 || address < stack->low || address > stack->high - WORD)
		return false;
	*word = word_at(address);
	return true;
}

/* The expression "rbp + offset": the place of registers in a function that realigned its stack. */
static bool is_behind_bp(const struct gp_cfi_column *column, int32_t *offset)
{
	const uint8_t *code = column->expression;

	if (column->how != GP_CFI_AT_EXPRESSION || column->expression_bytes < 2 ||
	    column->expression_bytes > 3 || code[0] != 0x70 + GP_REGISTER_FP)
		return false;
	uint32_t bits = column->expression_bytes == 2 ? 7 : 14;
	uint32_t value = code[1] & 0x7fu;

	if (bits == 14)
		value |= (code[2] & 0x7fu) << 7;
	*offset = (int32_t)(value << (32 - bits)) >> (32 - bits);
	return true;
}

/* The location of the caller's register; the frame of own ends at cfa. */
static bool locate(const struct gp_cfi_column *column, const struct gp_frame *own,
		   uint64_t *address)
{
	uint64_t cfa = own[1].sp;
	int32_t offset;

	if (column->how == GP_CFI_SAME || column->how == GP_CFI_UNDEFINED)
		return true;
	if (column->how == GP_CFI_AT_OFFSET)
		*address = cfa + (uint64_t)(int64_t)column->offset;
	else if (is_behind_bp(column, &offset))
		*address = own->bp + (uint64_t)(int64_t)offset;
	else
		return false;
	return true;
}

static void locate_in_signal(const struct gp_frame *own, uint64_t addresses[GP_KEPT_REGISTERS])
{
	addresses[GP_KEPT_BX] = own->sp + UCONTEXT_RBX;
	for (uint32_t i = GP_KEPT_R12; i < GP_KEPT_REGISTERS; i++)
		addresses[i] = own->sp + UCONTEXT_R12 + (i - GP_KEPT_R12) * WORD;
}

/* Replace the locations of own's registers by those of its caller.  Slow. */
static bool locate_all(const struct gp_frame *own, uint64_t addresses[GP_KEPT_REGISTERS])
{
	struct gp_module module;
	struct gp_cfi_row row;

	if (gp_rule_kind(own->rule) == GP_RULE_SIGNAL) {
		locate_in_signal(own, addresses);
		return true;
	}
	if (!gp_rule_table_module(own->pc, &module) || !gp_rule_table_row(&module, own->pc, &row))
		return false;
	for (uint32_t i = 0; i < GP_KEPT_REGISTERS; i++)
		if (!locate(&row.columns[dwarf_numbers[i]], own, &addresses[i]))
			return false;
	return true;
}

/* A hash of all data that determines the register locations of frames[count - 1]. */
static uint64_t number_of(const struct gp_frame *frames, uint32_t count)
{
	uint64_t number = gp_stack_hash_add(0, gp_modules_epoch());

	for (uint32_t i = 0; i < count; i++) {
		number = gp_stack_hash_add(number, frames[i].pc);
		number = gp_stack_hash_add(number, frames[i].sp);
		number = gp_stack_hash_add(number, frames[i].bp);
		number = gp_stack_hash_add(number, frames[i].rule);
	}
	return number | 1;
}

/* The register locations of frames[count - 1], 0 = still in the register; NULL: unknown. */
static const uint64_t *find_registers(struct gp_stack_copy_scratch *scratch,
				      const struct gp_frame *frames, uint32_t count)
{
	uint64_t number = number_of(frames, count);
	struct gp_stack_copy_places *places = &scratch->places[number / 2 % GP_STACK_COPY_PLACES];

	if (places->number == number)
		return places->addresses;
	memset(places, 0, sizeof(*places));
	for (uint32_t i = 0; i + 1 < count; i++)
		if (!locate_all(&frames[i], places->addresses))
			return NULL;
	places->number = number;
	return places->addresses;
}

static bool put_registers(struct gp_stack_copy_scratch *scratch, const struct span *stack,
			  const struct gp_place *place, const struct gp_frame *frames,
			  uint32_t count)
{
	const struct gp_frame *last = &frames[count - 1];
	const uint64_t *addresses = find_registers(scratch, frames, count);
	struct gp_stack_copy *copy = &scratch->copy;

	if (addresses == NULL)
		return false;
	memset(copy, 0, offsetof(struct gp_stack_copy, words));
	copy->register_count = GP_STACK_COPY_REGISTERS;
	for (uint32_t i = 0; i < GP_KEPT_REGISTERS; i++) {
		uint64_t *value = &copy->registers[dwarf_numbers[i]];

		*value = place->kept[i];
		if (addresses[i] != 0 && !read_word(stack, addresses[i], value))
			return false;
	}
	copy->registers[GP_REGISTER_FP] = last->bp;
	copy->registers[GP_REGISTER_SP] = last->sp;
	/* inside the call instruction, not after it */
	copy->registers[GP_REGISTER_RA] = last->pc - 1;
	copy->address = last->sp;
	return true;
}

/* ---- significant words ---- */

static bool counts(uint64_t word, uint64_t low, uint64_t high)
{
	return word - low < high - low || gp_modules_is_code(word);
}

static uint64_t mix(uint64_t hash, uint64_t place, uint64_t word)
{
	hash = (hash ^ word ^ place << 48) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t key_of(const struct gp_stack_copy *copy, uint32_t word_count, uint64_t high)
{
	uint64_t low = copy->address, hash = mix(0, word_count, low);

	for (uint32_t i = 0; i < GP_STACK_COPY_REGISTERS; i++)
		if (counts(copy->registers[i], low, high))
			hash = mix(hash, i, copy->registers[i]);
	for (uint32_t i = 0; i < word_count; i++)
		if (counts(copy->words[i], low, high))
			hash = mix(hash, i + GP_STACK_COPY_REGISTERS, copy->words[i]);
	return hash | 1;
}

/* ---- keeping ---- */

/*
 * Not memcpy(): the program's sanitizer interposes it, and would object to a read of a whole stack,
 * including its redzones.
 */
static void copy_words(uint64_t *to, uint64_t from, uint64_t count)
{
	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}

/* The reader needs all modules whose code may be a caller. */
static void emit_modules(const struct gp_stack_copy *copy, uint32_t word_count)
{
	struct gp_module module;

	for (uint32_t i = 0; i < word_count; i++)
		if (gp_modules_is_code(copy->words[i]))
			gp_rule_table_module(copy->words[i], &module);
}

static uint32_t make(const struct gp_stack_copy *copy, uint32_t word_count, uint64_t pc)
{
	if (gp_add32(&copy_count, 1) >= GP_STACK_COPIES) {
		gp_store32(&copy_count, GP_STACK_COPIES);
		gp_count(GP_COUNTER_STACK_COPIES_FULL, 1);
		return 0;
	}
	uint32_t id = gp_stack_tree_single(0, GP_FRAME_COPY, 0, pc);

	if (id == GP_NO_NODE)
		return id;
	emit_modules(copy, word_count);
	gp_emit_string(GP_STRING_STACK_COPY, id, 0, (const char *)copy,
		       (uint32_t)offsetof(struct gp_stack_copy, words) + word_count * WORD);
	return id;
}

/* The entry of a key, possibly new; NULL = table full. */
static struct known *find(uint64_t key)
{
	uint32_t at = (uint32_t)(key >> 32) % INDEX_LIMIT;

	for (uint32_t i = 0; i < INDEX_LIMIT; i++, at = (at + 1) % INDEX_LIMIT) {
		uint64_t found = gp_load64(&known[at].key);

		if (found == 0 && gp_load32(&copy_count) >= GP_STACK_COPIES)
			return NULL;
		if (found == 0 && gp_replace64(&known[at].key, 0, key))
			return &known[at];
		if (gp_load64(&known[at].key) == key)
			return &known[at];
	}
	return NULL;
}

uint32_t gp_stack_copy_keep(struct gp_stack_copy_scratch *scratch, const struct gp_place *place,
			    const struct gp_frame *frames, uint32_t count, uint64_t high)
{
	const struct gp_frame *last = &frames[count - 1];
	struct gp_stack_copy *copy = &scratch->copy;
	const struct span stack = {place->sp, high};
	uint64_t words = (high - last->sp) / WORD;

	if (last->sp < stack.low || last->sp >= high ||
	    !put_registers(scratch, &stack, place, frames, count))
		return 0;
	if (words > GP_STACK_COPY_WORDS)
		words = GP_STACK_COPY_WORDS;
	copy_words(copy->words, last->sp, words);
	uint64_t key = key_of(copy, (uint32_t)words, high);
	struct known *entry = find(key);
	uint32_t id = entry != NULL ? gp_load32_acquire(&entry->id) : 0;

	if (id != 0)
		return id;
	id = make(copy, (uint32_t)words, last->pc);
	if (entry != NULL && id != 0 && id != GP_NO_NODE)
		gp_store32_release(&entry->id, id);
	return id;
}

#else

int gp_stack_copy_init(void)
{
	return 0;
}

void gp_stack_copy_forget(void)
{
}

uint32_t gp_stack_copy_keep(struct gp_stack_copy_scratch *scratch, const struct gp_place *place,
			    const struct gp_frame *frames, uint32_t count, uint64_t high)
{
	(void)scratch, (void)place, (void)frames, (void)count, (void)high;
	return 0;
}

#endif

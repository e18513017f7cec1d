#include "report/symbols/elf_symbols.h"
#include "report/base/array.h"

#include <stdlib.h>

/* Symbols may overlap: this many before an address are examined. */
#define MOST_AROUND 16u

#define DIGIT_BITS   11u
#define DIGIT_VALUES (1u << DIGIT_BITS)

/* Does not read the name: the names of a large file take a hundred megabytes. */
static bool is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static void read_all(struct gp_elf_symbols *symbols, Dwfl_Module *module, int count)
{
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (name && is_function(&symbol))
			symbols->symbols[symbols->count++] =
				(struct gp_elf_symbol){address, symbol.st_size, name,
						       GELF_ST_BIND(symbol.st_info) == STB_LOCAL};
	}
}

/*
 * ---- sorting by address with a radix sort: comparing half a million symbols took longer than a
 * summary ----
 */

/* The sort key of one pass: a digit of the distance from the lowest address, or the rank. */
struct digit {
	uint64_t lowest;
	unsigned place; /* in bits */
	bool is_rank;
};

/*
 * Of several symbols at one address the last is found first: prefer one with a size, then a global
 * one.
 */
static uint32_t rank_of(const struct gp_elf_symbol *symbol)
{
	return (symbol->bytes > 0) * 2u + !symbol->is_local;
}

static uint32_t value_of(const struct gp_elf_symbol *symbol, const struct digit *digit)
{
	if (digit->is_rank)
		return rank_of(symbol);
	return (symbol->address - digit->lowest) >> digit->place & (DIGIT_VALUES - 1);
}

/* Symbols with the same digit keep their order. */
static void put_in_order(struct gp_elf_symbol *to, const struct gp_elf_symbol *from, uint32_t count,
			 const struct digit *digit)
{
	uint32_t next[DIGIT_VALUES] = {0}, before = 0;

	for (uint32_t i = 0; i < count; i++)
		next[value_of(&from[i], digit)]++;
	for (uint32_t i = 0; i < DIGIT_VALUES; i++) {
		uint32_t here = next[i];

		next[i] = before;
		before += here;
	}
	for (uint32_t i = 0; i < count; i++)
		to[next[value_of(&from[i], digit)]++] = from[i];
}

static void swap(struct gp_elf_symbol **a, struct gp_elf_symbol **b)
{
	struct gp_elf_symbol *other = *a;

	*a = *b;
	*b = other;
}

/* Sorts by the lowest digit first. Without memory there are no symbols. */
static void order(struct gp_elf_symbols *symbols)
{
	struct gp_elf_symbol *other = malloc(((size_t)symbols->count + 1) * sizeof(*other));
	struct digit digit = {.lowest = UINT64_MAX, .is_rank = true};
	uint64_t highest = 0;

	if (!other)
		symbols->count = 0;
	for (uint32_t i = 0; i < symbols->count; i++) {
		uint64_t address = symbols->symbols[i].address;

		digit.lowest = address < digit.lowest ? address : digit.lowest;
		highest = address > highest ? address : highest;
	}
	for (bool is_more = symbols->count > 0; is_more;
	     is_more = digit.place < 64 && (highest - digit.lowest) >> digit.place > 0) {
		put_in_order(other, symbols->symbols, symbols->count, &digit);
		swap(&other, &symbols->symbols);
		digit.place += digit.is_rank ? 0 : DIGIT_BITS;
		digit.is_rank = false;
	}
	free(other);
}

static void make(struct gp_elf_symbols *symbols, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);

	*symbols = (struct gp_elf_symbols){.is_made = true};
	if (count > 0)
		symbols->symbols = calloc((size_t)count, sizeof(*symbols->symbols));
	if (!symbols->symbols)
		return;
	read_all(symbols, module, count);
	order(symbols);
}

/* ---- search ---- */

static bool begins_until(const void *element, const void *address)
{
	return ((const struct gp_elf_symbol *)element)->address <= *(const uint64_t *)address;
}

/* The number of symbols that begin at the address or before it. */
static uint32_t count_before(const struct gp_elf_symbols *symbols, uint64_t address)
{
	return gp_array_lower_bound(symbols->symbols, symbols->count, sizeof(*symbols->symbols),
				    begins_until, &address);
}

const char *gp_elf_symbols_find(struct gp_elf_symbols *symbols, Dwfl_Module *module,
				uint64_t address)
{
	const struct gp_elf_symbol *sizeless = NULL;
	bool is_nearest = true;
	uint32_t before;

	if (!symbols->is_made)
		make(symbols, module);
	before = count_before(symbols, address);
	for (uint32_t i = 0; i < before && i < MOST_AROUND; i++) {
		const struct gp_elf_symbol *symbol = &symbols->symbols[before - 1 - i];

		if (symbol->name[0] == '\0')
			continue;
		if (symbol->bytes > 0 && address - symbol->address < symbol->bytes)
			return symbol->name;
		if (symbol->bytes == 0 && is_nearest)
			sizeless = symbol;
		is_nearest = false;
	}
	return sizeless ? sizeless->name : NULL;
}

void gp_elf_symbols_free(struct gp_elf_symbols *symbols)
{
	free(symbols->symbols);
	*symbols = (struct gp_elf_symbols){0};
}

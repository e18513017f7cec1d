#include "report/elf_symbols.h"
#include "report/array.h"

#include <stdlib.h>

/* Symbols may lie in each other: how many before an address are looked at. */
#define MOST_AROUND 16u

static bool is_function(const GElf_Sym *symbol, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return name && name[0] != '\0' && symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* Of several at one address the last is found first: one that has a size, and that others see. */
static int compare(const void *a, const void *b)
{
	const struct gp_elf_symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	if ((left->bytes > 0) != (right->bytes > 0))
		return left->bytes > 0 ? 1 : -1;
	return (int)right->is_local - (int)left->is_local;
}

static void make(struct gp_elf_symbols *symbols, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);

	symbols->is_made = true;
	if (count > 0)
		symbols->symbols = malloc((size_t)count * sizeof(*symbols->symbols));
	for (int i = 1; symbols->symbols && i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		const char *name =
			dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);

		if (is_function(&symbol, name))
			symbols->symbols[symbols->count++] =
				(struct gp_elf_symbol){address, symbol.st_size, name,
						       GELF_ST_BIND(symbol.st_info) == STB_LOCAL};
	}
	if (symbols->symbols)
		qsort(symbols->symbols, symbols->count, sizeof(*symbols->symbols), compare);
}

static bool begins_until(const void *element, const void *address)
{
	return ((const struct gp_elf_symbol *)element)->address <= *(const uint64_t *)address;
}

/* How many symbols begin there or before. */
static uint32_t count_before(const struct gp_elf_symbols *symbols, uint64_t address)
{
	return gp_array_lower_bound(symbols->symbols, symbols->count, sizeof(*symbols->symbols),
				    begins_until, &address);
}

const char *gp_elf_symbols_find(struct gp_elf_symbols *symbols, Dwfl_Module *module,
				uint64_t address)
{
	const struct gp_elf_symbol *sizeless = NULL;
	uint32_t before;

	if (!symbols->is_made)
		make(symbols, module);
	before = count_before(symbols, address);
	for (uint32_t i = 0; i < before && i < MOST_AROUND; i++) {
		const struct gp_elf_symbol *symbol = &symbols->symbols[before - 1 - i];

		if (symbol->bytes > 0 && address - symbol->address < symbol->bytes)
			return symbol->name;
		if (symbol->bytes == 0 && i == 0)
			sizeless = symbol;
	}
	return sizeless ? sizeless->name : NULL;
}

void gp_elf_symbols_free(struct gp_elf_symbols *symbols)
{
	free(symbols->symbols);
	*symbols = (struct gp_elf_symbols){0};
}

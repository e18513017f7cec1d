/*
 * elf_symbols: finds the functions of a file's symbol tables by address.
 *
 * The library's own search scans all symbols each time, and files have millions.
 */
#ifndef REPORT_SYMBOLS_ELF_SYMBOLS_H
#define REPORT_SYMBOLS_ELF_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdwfl.h>

struct gp_elf_symbol {
	uint64_t address, bytes; /* 0 bytes: up to the next symbol */
	const char *name;        /* owned by the module */
	bool is_local;
};

/* Zeroed = not made yet. */
struct gp_elf_symbols {
	struct gp_elf_symbol *symbols; /* by address */
	uint32_t count;
	bool is_made;
};

/*
 * The name of the function at an address, in the library's numbering, or NULL. The first call makes
 * the table.
 */
const char *gp_elf_symbols_find(struct gp_elf_symbols *symbols, Dwfl_Module *module,
				uint64_t address);

void gp_elf_symbols_free(struct gp_elf_symbols *symbols);

#endif

/*
 * elf_functions: finds the functions at an address in debug information.
 *
 * The library's own search scans a whole compilation unit for each address, and a unit may have a
 * million entries.
 */
#ifndef REPORT_SYMBOLS_ELF_FUNCTIONS_H
#define REPORT_SYMBOLS_ELF_FUNCTIONS_H

#include <stddef.h>

#include <elfutils/libdw.h>

#include "report/symbols/elf_place.h"

/* Zeroed = empty. */
struct gp_elf_functions {
	void *units; /* a tsearch() tree */
};

/*
 * The functions at an address relative to the unit: the outermost, then the functions inlined into
 * it. Returns their number; 0 = unknown.
 */
size_t gp_elf_functions_find(struct gp_elf_functions *functions, Dwarf_Die *unit, Dwarf_Addr pc,
			     Dwarf_Die found[GP_ELF_PLACES]);

void gp_elf_functions_free(struct gp_elf_functions *functions);

#endif

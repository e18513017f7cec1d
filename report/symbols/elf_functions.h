/*
 * elf_functions: the functions that debug information has of a file's code, by address.
 *
 * The library's own search goes through a whole unit of compilation for each address; a unit may
 * have a million entries.
 */
#ifndef REPORT_SYMBOLS_ELF_FUNCTIONS_H
#define REPORT_SYMBOLS_ELF_FUNCTIONS_H

#include <stddef.h>

#include <elfutils/libdw.h>

#include "report/symbols/elf_place.h"

/* Zeroed = no unit was looked into yet. */
struct gp_elf_functions {
	void *units; /* a tree */
};

/*
 * The functions whose code is at an address, as the unit counts it, from the one that is there to
 * the innermost of those inlined into it; returns how many, 0 = none is known.
 */
size_t gp_elf_functions_find(struct gp_elf_functions *functions, Dwarf_Die *unit, Dwarf_Addr pc,
			     Dwarf_Die found[GP_ELF_PLACES]);

void gp_elf_functions_free(struct gp_elf_functions *functions);

#endif

/*
 * elf_units: finds the compilation unit of an address, also in files whose debug information has no
 * index of addresses (.debug_aranges): clang writes none.
 */
#ifndef REPORT_SYMBOLS_ELF_UNITS_H
#define REPORT_SYMBOLS_ELF_UNITS_H

#include <stdbool.h>

#include <elfutils/libdwfl.h>

#include "report/symbols/elf_spans.h"

/* Zeroed = empty. */
struct gp_elf_units {
	/* of the units, made when an address is not in the file's index */
	struct gp_elf_spans spans;
	Dwarf_Addr bias; /* to subtract from an address before it is looked up in spans */
	bool is_made;
};

/*
 * bias: the difference between addresses of the module and of its debug information.  False: the
 * address is in no unit.
 */
bool gp_elf_units_find(struct gp_elf_units *units, Dwfl_Module *module, Dwarf_Addr address,
		       Dwarf_Die *unit, Dwarf_Addr *bias);

void gp_elf_units_free(struct gp_elf_units *units);

#endif

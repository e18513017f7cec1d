#include "report/symbols/elf_units.h"

#include <stddef.h>

/* Without memory, later units are not found. */
static void make_index(struct gp_elf_units *units, Dwfl_Module *module)
{
	Dwarf_Die *unit = NULL;

	units->is_made = true;
	while ((unit = dwfl_module_nextcu(module, unit, &units->bias)) != NULL &&
	       gp_elf_spans_add(&units->spans, unit))
		continue;
	gp_elf_spans_sort(&units->spans);
}

bool gp_elf_units_find(struct gp_elf_units *units, Dwfl_Module *module, Dwarf_Addr address,
		       Dwarf_Die *unit, Dwarf_Addr *bias)
{
	const Dwarf_Die *found = dwfl_module_addrdie(module, address, bias);

	if (!found) {
		if (!units->is_made)
			make_index(units, module);
		*bias = units->bias;
		found = gp_elf_spans_find(&units->spans, address - units->bias);
	}
	if (found)
		*unit = *found;
	return found != NULL;
}

void gp_elf_units_free(struct gp_elf_units *units)
{
	gp_elf_spans_free(&units->spans);
}

#include "report/symbols/elf_units.h"

#include <stddef.h>
#include <stdlib.h>

#include <elfutils/libdw.h>

#include "report/base/array.h"

/* A piece of a unit's code; a unit may have several. */
struct gp_elf_unit {
	Dwarf_Addr start, end;
	Dwarf_Die unit;
	Dwarf_Addr bias;
};

static int compare_spans(const void *a, const void *b)
{
	Dwarf_Addr left = ((const struct gp_elf_unit *)a)->start;
	Dwarf_Addr right = ((const struct gp_elf_unit *)b)->start;

	return (left > right) - (left < right);
}

/* Without memory, the unit and all later ones are not found. */
static bool take_unit(struct gp_elf_units *units, Dwarf_Die *unit, Dwarf_Addr bias)
{
	struct gp_elf_unit span = {.unit = *unit, .bias = bias};
	Dwarf_Addr base, start, end;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0;) {
		if (gp_array_grow(&units->spans, &units->capacity, units->count,
				  sizeof(*units->spans)) != 0)
			return false;
		span.start = start + bias;
		span.end = end + bias;
		units->spans[units->count++] = span;
	}
	return true;
}

static void make_index(struct gp_elf_units *units, Dwfl_Module *module)
{
	Dwarf_Addr bias;

	units->is_made = true;
	for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL;)
		if (!take_unit(units, unit, bias))
			break;
	if (units->count > 0)
		qsort(units->spans, units->count, sizeof(*units->spans), compare_spans);
}

static bool starts_until(const void *element, const void *address)
{
	return ((const struct gp_elf_unit *)element)->start <= *(const Dwarf_Addr *)address;
}

bool gp_elf_units_find(struct gp_elf_units *units, Dwfl_Module *module, Dwarf_Addr address,
		       Dwarf_Die *unit, Dwarf_Addr *bias)
{
	Dwarf_Die *indexed = dwfl_module_addrdie(module, address, bias);
	size_t before;

	if (indexed) {
		*unit = *indexed;
		return true;
	}
	if (!units->is_made)
		make_index(units, module);
	before = gp_array_lower_bound(units->spans, units->count, sizeof(*units->spans),
				      starts_until, &address);
	if (before == 0 || address >= units->spans[before - 1].end)
		return false;
	*unit = units->spans[before - 1].unit;
	*bias = units->spans[before - 1].bias;
	return true;
}

void gp_elf_units_free(struct gp_elf_units *units)
{
	free(units->spans);
	*units = (struct gp_elf_units){0};
}

#include "report/symbols/elf_functions.h"

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "report/symbols/elf_spans.h"

struct unit {
	Dwarf_Off offset;
	struct gp_elf_spans functions;
};

/* ---- functions of a unit ---- */

static int compare_units(const void *a, const void *b)
{
	Dwarf_Off left = ((const struct unit *)a)->offset, right = ((const struct unit *)b)->offset;

	return (left > right) - (left < right);
}

/* Without memory the unit has only the functions so far. */
static int take_function(Dwarf_Die *function, void *functions)
{
	return gp_elf_spans_add(functions, function) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static struct unit *new_unit(struct gp_elf_functions *functions, Dwarf_Die *die)
{
	struct unit *unit = calloc(1, sizeof(*unit));

	unit->offset = dwarf_dieoffset(die);
	if (!unit || !tsearch(unit, &functions->units, compare_units)) {
		free(unit);
		return NULL;
	}
	(void)dwarf_getfuncs(die, take_function, &unit->functions, 0);
	gp_elf_spans_sort(&unit->functions);
	return unit;
}

static struct unit *find_unit(struct gp_elf_functions *functions, Dwarf_Die *die)
{
	const struct unit wanted = {.offset = dwarf_dieoffset(die)};
	struct unit **found = tfind(&wanted, &functions->units, compare_units);

	return found ? *found : new_unit(functions, die);
}

/* ---- inlined functions ---- */

/* Replaces the entry by its child that has code at pc. */
static bool enter(Dwarf_Die *die, Dwarf_Addr pc)
{
	Dwarf_Die child;
	int result = dwarf_child(die, &child);

	while (result == 0 && dwarf_haspc(&child, pc) <= 0)
		result = dwarf_siblingof(&child, &child);
	if (result == 0)
		*die = child;
	return result == 0;
}

size_t gp_elf_functions_find(struct gp_elf_functions *functions, Dwarf_Die *unit, Dwarf_Addr pc,
			     Dwarf_Die found[GP_ELF_PLACES])
{
	const struct unit *known = find_unit(functions, unit);
	const Dwarf_Die *outermost = known ? gp_elf_spans_find(&known->functions, pc) : NULL;
	Dwarf_Die die = outermost ? *outermost : (Dwarf_Die){0};
	size_t count = outermost != NULL;

	found[0] = die;
	while (outermost && enter(&die, pc)) {
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		if (count == GP_ELF_PLACES)
			memmove(found, found + 1, --count * sizeof(*found));
		found[count++] = die;
	}
	return count;
}

static void free_unit(void *unit)
{
	gp_elf_spans_free(&((struct unit *)unit)->functions);
	free(unit);
}

void gp_elf_functions_free(struct gp_elf_functions *functions)
{
	tdestroy(functions->units, free_unit);
	functions->units = NULL;
}

#include "report/symbols/elf_functions.h"

#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "report/base/array.h"

/* A piece of a function's code; a function may have several. */
struct span {
	Dwarf_Addr start, end;
	Dwarf_Die function;
};

struct unit {
	Dwarf_Off offset;
	struct span *spans; /* by start */
	uint32_t count, capacity;
};

/* ---- functions of a unit ---- */

static int compare_units(const void *a, const void *b)
{
	Dwarf_Off left = ((const struct unit *)a)->offset, right = ((const struct unit *)b)->offset;

	return (left > right) - (left < right);
}

static int compare_spans(const void *a, const void *b)
{
	Dwarf_Addr left = ((const struct span *)a)->start, right = ((const struct span *)b)->start;

	return (left > right) - (left < right);
}

/* Without memory the unit has no functions. */
static int take_function(Dwarf_Die *function, void *context)
{
	struct unit *unit = context;
	struct span span = {.function = *function};
	Dwarf_Addr base;

	for (ptrdiff_t at = 0;
	     (at = dwarf_ranges(function, at, &base, &span.start, &span.end)) > 0;) {
		if (gp_array_grow(&unit->spans, &unit->capacity, unit->count,
				  sizeof(*unit->spans)) != 0)
			return DWARF_CB_ABORT;
		unit->spans[unit->count++] = span;
	}
	return DWARF_CB_OK;
}

static struct unit *new_unit(struct gp_elf_functions *functions, Dwarf_Die *die)
{
	struct unit *unit = calloc(1, sizeof(*unit));

	if (unit)
		unit->offset = dwarf_dieoffset(die);
	if (!unit || !tsearch(unit, &functions->units, compare_units)) {
		free(unit);
		return NULL;
	}
	(void)dwarf_getfuncs(die, take_function, unit, 0);
	if (unit->count > 0)
		qsort(unit->spans, unit->count, sizeof(*unit->spans), compare_spans);
	return unit;
}

static struct unit *find_unit(struct gp_elf_functions *functions, Dwarf_Die *die)
{
	const struct unit wanted = {.offset = dwarf_dieoffset(die)};
	struct unit **found = tfind(&wanted, &functions->units, compare_units);

	return found ? *found : new_unit(functions, die);
}

static bool starts_until(const void *element, const void *pc)
{
	return ((const struct span *)element)->start <= *(const Dwarf_Addr *)pc;
}

static const struct span *find_span(const struct unit *unit, Dwarf_Addr pc)
{
	size_t before = gp_array_lower_bound(unit->spans, unit->count, sizeof(*unit->spans),
					     starts_until, &pc);

	return before > 0 && pc < unit->spans[before - 1].end ? &unit->spans[before - 1] : NULL;
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
	const struct span *span = known ? find_span(known, pc) : NULL;
	Dwarf_Die die = span ? span->function : (Dwarf_Die){0};
	size_t count = span != NULL;

	found[0] = die;
	while (span && enter(&die, pc)) {
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
	free(((struct unit *)unit)->spans);
	free(unit);
}

void gp_elf_functions_free(struct gp_elf_functions *functions)
{
	tdestroy(functions->units, free_unit);
	functions->units = NULL;
}

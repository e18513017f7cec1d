#include "report/symbols/elf_spans.h"

#include <stddef.h>
#include <stdlib.h>

#include "report/base/array.h"

bool gp_elf_spans_add(struct gp_elf_spans *spans, Dwarf_Die *die)
{
	struct gp_elf_span span = {.die = *die};
	Dwarf_Addr base;

	for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &span.start, &span.end)) > 0;) {
		gp_array_grow(&spans->spans, &spans->capacity, spans->count, sizeof(*spans->spans));
		spans->spans[spans->count++] = span;
	}
	return true;
}

static int compare_spans(const void *a, const void *b)
{
	Dwarf_Addr left = ((const struct gp_elf_span *)a)->start;
	Dwarf_Addr right = ((const struct gp_elf_span *)b)->start;

	return (left > right) - (left < right);
}

void gp_elf_spans_sort(struct gp_elf_spans *spans)
{
	if (spans->count > 0)
		qsort(spans->spans, spans->count, sizeof(*spans->spans), compare_spans);
}

static bool starts_until(const void *element, const void *pc)
{
	return ((const struct gp_elf_span *)element)->start <= *(const Dwarf_Addr *)pc;
}

const Dwarf_Die *gp_elf_spans_find(const struct gp_elf_spans *spans, Dwarf_Addr pc)
{
	size_t before = gp_array_lower_bound(spans->spans, spans->count, sizeof(*spans->spans),
					     starts_until, &pc);

	return before > 0 && pc < spans->spans[before - 1].end ? &spans->spans[before - 1].die
							       : NULL;
}

void gp_elf_spans_free(struct gp_elf_spans *spans)
{
	free(spans->spans);
	*spans = (struct gp_elf_spans){0};
}

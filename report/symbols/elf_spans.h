/* elf_spans: the pieces of code of entries of debug information, to find the entry of an address. */
#ifndef REPORT_SYMBOLS_ELF_SPANS_H
#define REPORT_SYMBOLS_ELF_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include <elfutils/libdw.h>

/* A piece of an entry's code; an entry may have several. */
struct gp_elf_span {
	Dwarf_Addr start, end;
	Dwarf_Die die;
};

/* Zeroed = empty.  Free with gp_elf_spans_free(). */
struct gp_elf_spans {
	struct gp_elf_span *spans; /* by start, once they are sorted */
	uint32_t count, capacity;
};

/* Adds the pieces of an entry.  False: no memory for all of them. */
bool gp_elf_spans_add(struct gp_elf_spans *spans, Dwarf_Die *die);

void gp_elf_spans_sort(struct gp_elf_spans *spans);

/* The entry with code at that address; NULL: there is none. */
const Dwarf_Die *gp_elf_spans_find(const struct gp_elf_spans *spans, Dwarf_Addr pc);

void gp_elf_spans_free(struct gp_elf_spans *spans);

#endif

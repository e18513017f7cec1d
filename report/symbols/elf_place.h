/* elf_place: a function, and the place of its code in the source. */
#ifndef REPORT_SYMBOLS_ELF_PLACE_H
#define REPORT_SYMBOLS_ELF_PLACE_H

#include <stdint.h>

/*
 * The most functions inlined into each other at one address, with the enclosing one; the outermost
 * others are dropped.
 */
#define GP_ELF_PLACES 16

struct gp_elf_place {
	const char *function; /* the compiler's name, mostly mangled; NULL = unknown */
	const char *file;     /* NULL = unknown */
	uint32_t line;        /* 0 = unknown */
};

#endif

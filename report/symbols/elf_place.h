/* elf_place: a function that code is of, and where in its source. */
#ifndef REPORT_SYMBOLS_ELF_PLACE_H
#define REPORT_SYMBOLS_ELF_PLACE_H

#include <stdint.h>

/*
 * Most functions that are inlined into each other at one address, with the one around them: the
 * outermost others are left out.
 */
#define GP_ELF_PLACES 16

struct gp_elf_place {
	const char *function; /* as the compiler named it: mangled, mostly; NULL if not known */
	const char *file;     /* NULL if not known */
	uint32_t line;        /* 0 if not known */
};

#endif

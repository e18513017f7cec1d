/*
 * names: kernel names as people read them.
 *
 * A cache belongs to one caller; the strings that it returns live as long as the cache.
 */
#ifndef REPORT_SYMBOLS_NAMES_H
#define REPORT_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct gp_names;

/* An empty cache, or NULL if there is no memory. */
struct gp_names *gp_names_new(void);
void gp_names_free(struct gp_names *names);

/*
 * The demangled name, as the compiler's ABI has it; the name itself if it is not mangled, or was
 * demangled by whoever recorded it. Never NULL.
 */
const char *gp_names_full(struct gp_names *names, const char *mangled);

/*
 * The demangled name without what does not tell kernels apart: return type, parameters, anonymous
 * namespaces, and template arguments beyond a width (as "..."). Never NULL.
 */
const char *gp_names_short(struct gp_names *names, const char *mangled);

/*
 * Give each of these kernels a name that none of the others has: where they would share a short
 * one, they are cut down less; static ones whose names are the same in full have their source file
 * behind them, "filter (beta.cu)".  Before names of them are asked for.
 */
void gp_names_tell_apart(struct gp_names *names, const char *const *mangled, size_t count);

#endif

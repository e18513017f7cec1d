/*
 * names: kernel names as people read them.
 *
 * Each caller has its own cache. The returned strings live as long as the cache.
 */
#ifndef REPORT_SYMBOLS_NAMES_H
#define REPORT_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct gp_names;

/* An empty cache. */
struct gp_names *gp_names_new(void);
void gp_names_free(struct gp_names *names);

/*
 * The demangled name; the name itself if it is not mangled, or was demangled by its recorder. Never
 * NULL.
 */
const char *gp_names_full(struct gp_names *names, const char *mangled);

/*
 * The demangled name without return type, parameters, anonymous namespaces, and with template
 * arguments beyond a width as "...". Never NULL.
 */
const char *gp_names_short(struct gp_names *names, const char *mangled);

/*
 * Makes the names of these kernels differ: equal short names are shortened less; static kernels
 * with equal full names get their source file appended: "filter (beta.cu)". Call it before names
 * are read.
 */
void gp_names_tell_apart(struct gp_names *names, const char *const *mangled, size_t count);

#endif

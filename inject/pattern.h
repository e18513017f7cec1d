/*
 * pattern: lists of name patterns, as in options: "*gemm*,!*splitK*".
 *
 * Commas separate patterns.  * matches any text, ? one character, [abc] and [a-z] one of these.  A
 * pattern after ! excludes.  A name matches a list if no excluding pattern matches it and, if there
 * are other patterns, at least one of these matches the whole name.  No memory, no locks, any
 * thread.
 */
#ifndef INJECT_PATTERN_H
#define INJECT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* One pattern of pattern_length characters, in which commas and ! are ordinary characters. */
bool gp_pattern_matches_one(const char *pattern, size_t pattern_length, const char *name);

bool gp_pattern_matches(const char *list, const char *name);

/*
 * The same for a kernel's mangled name: each pattern may match the mangled name or the plain name
 * inside: "scale" in _ZN4tool5scaleIfEEvPT_.  A name without a simple plain name has only the
 * mangled one.
 */
bool gp_pattern_matches_function(const char *list, const char *mangled);

#endif

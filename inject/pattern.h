/*
 * pattern: lists of name patterns as in options: "*gemm*,!*splitK*".
 *
 * Commas separate patterns, * stands for any text, ? for one character, [abc] and [a-z] for one of these.  A pattern that
 * begins with ! excludes.  A name matches a list if none of its patterns excludes it, and one of the others, where there
 * are others, matches the whole name.  No memory, no locks, any thread.
 */
#ifndef INJECT_PATTERN_H
#define INJECT_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* One pattern of pattern_length characters, in which commas and ! are as any others. */
bool gp_pattern_matches_one(const char *pattern, size_t pattern_length, const char *name);

bool gp_pattern_matches(const char *list, const char *name);

/*
 * The same for a kernel's mangled name: each pattern may match that, or the plain name inside: "scale" in
 * _ZN4tool5scaleIfEEvPT_.  Names of which this is not easily told have only the one.
 */
bool gp_pattern_matches_function(const char *list, const char *mangled);

#endif

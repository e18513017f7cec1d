/* short_name: a demangled function name, cut down to what tells it from others. */
#ifndef REPORT_BASE_TEXT_SHORT_NAME_H
#define REPORT_BASE_TEXT_SHORT_NAME_H

#include <stddef.h>

/* A name is cut down further until it is no wider than this, where that is possible. */
#define GP_SHORT_NAME_COLUMNS 100

/*
 * Cut the name down in place.  Return type, parameters, clone marks and unnamed namespaces always
 * go. If it is too wide then, the namespaces go, those of template arguments first; then the inner
 * template arguments, the deepest first, which leaves "..."; then the last of the outer ones.
 * Where only "f<...>" would be left, and f is short, the middle of its arguments goes instead.
 */
void gp_short_name(char *demangled);

/* The same, no wider than so many columns, of which there are 8 or more. */
void gp_short_name_to(char *demangled, size_t columns);

/*
 * Cut down the short name that a text begins with, in place, where the text is wider than so many
 * columns: its namespaces go, then template arguments.  A text that begins with no such name stays
 * as it is, and so may one whose name itself is too wide.
 */
void gp_short_name_narrow(char *text, size_t columns);

/*
 * The text without the namespaces of the name that it begins with, in place, if it begins with one.
 */
void gp_short_name_unqualify(char *text);

#endif

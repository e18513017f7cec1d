/* short_name: shortens demangled function names, and keeps what tells them apart. */
#ifndef REPORT_BASE_TEXT_SHORT_NAME_H
#define REPORT_BASE_TEXT_SHORT_NAME_H

#include <stddef.h>

/* A name is shortened to at most this width if possible. */
#define GP_SHORT_NAME_COLUMNS 100

/*
 * Shortens the name in place. Return type, parameters, clone marks and unnamed namespaces always
 * go. If the name is still too wide, namespaces go, first those of template arguments; then inner
 * template arguments, the deepest first, which become "..."; then the last outer arguments. If only
 * "f<...>" would be left and f is short, the middle of its arguments goes instead.
 */
void gp_short_name(char *demangled);

/* As gp_short_name() for a width of `columns`, at least 8. */
void gp_short_name_to(char *demangled, size_t columns);

/*
 * Shortens the name at the beginning of a text in place, if the text is wider than `columns`:
 * namespaces go, then template arguments. A text that begins with no such name is unchanged. The
 * result may still be too wide.
 */
void gp_short_name_narrow(char *text, size_t columns);

/* Drops the namespaces of the name at the beginning of the text, in place. */
void gp_short_name_unqualify(char *text);

#endif

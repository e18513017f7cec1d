/*
 * text: strings that a profiled program chose, made fit for a terminal.
 *
 * Names may hold anything: control characters, terminal escapes, text that runs from right to left,
 * bytes that are no UTF-8. What is printed goes through gp_text_escape().
 */
#ifndef REPORT_BASE_TEXT_TEXT_H
#define REPORT_BASE_TEXT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * The text with everything that is not a visible character written out: \n, \t, \x1b for a byte,
 * \u{202e} for a code point. A backslash stays as it is. Free it; NULL if there is no memory.
 */
char *gp_text_escape(const char *text);

/* The same, printed; without memory, that is said. */
void gp_text_print(FILE *out, const char *text);

/* Columns that an escaped text takes on a terminal. */
size_t gp_text_columns(const char *text);

/*
 * An escaped text in at most that many columns: a function's name that it begins with loses its
 * namespaces and template arguments, then the text's middle is replaced by "...". Free it; NULL if
 * there is no memory.
 */
char *gp_text_fit(const char *text, size_t columns);

/* A text, escaped, in at most that many columns (0 = all of it). */
void gp_text_print_fit(FILE *out, const char *text, size_t columns);

/*
 * The same with the word at `at` and what follows, and a third of the room for the beginning, more
 * where a function's name is longer and the word leaves it: "beginning...from at on...".  Where
 * `at` is near the beginning, or the rest reaches to the end, one "..." is enough.
 */
char *gp_text_fit_at(const char *text, size_t columns, size_t at);

#endif

/*
 * text: makes strings of a profiled program safe to print on a terminal.
 *
 * Names may hold anything: control characters, terminal escapes, right-to-left text, invalid UTF-8.
 * All printed names go through gp_text_escape().
 */
#ifndef REPORT_BASE_TEXT_TEXT_H
#define REPORT_BASE_TEXT_TEXT_H

#include <stddef.h>
#include <stdio.h>

/*
 * The text with invisible characters written out: \n, \t, \x1b for a byte, \u{202e} for a code
 * point. A backslash stays as it is. Free it. Returns NULL if there is no memory.
 */
char *gp_text_escape(const char *text);

/* Prints the escaped text, or "(no memory)". */
void gp_text_print(FILE *out, const char *text);

/* The columns of an escaped text on a terminal. */
size_t gp_text_columns(const char *text);

/*
 * An escaped text in at most `columns` columns. A function name at its beginning loses its
 * namespaces and template arguments; then "..." replaces the middle of the text. Free it. Returns
 * NULL if there is no memory.
 */
char *gp_text_fit(const char *text, size_t columns);

/* A text, escaped, in at most that many columns (0 = all of it). */
void gp_text_print_fit(FILE *out, const char *text, size_t columns);

/*
 * As gp_text_fit(), and shows the word at `at` and the text after it: "beginning...from at on...".
 * The beginning gets a third of the columns, more for a longer function name if the word leaves
 * space. If `at` is near the beginning, or the rest reaches the end, there is one "..." only.
 */
char *gp_text_fit_at(const char *text, size_t columns, size_t at);

#endif

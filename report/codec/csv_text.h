/*
 * csv_text: a text as a cell of CSV (RFC 4180), harmless whatever it is.
 *
 * Control characters and bytes that are no UTF-8 are written out as by gp_text_escape(), so that a
 * row is always one line; text that a spreadsheet would take for a formula gets a ' in front.
 */
#ifndef REPORT_CODEC_CSV_TEXT_H
#define REPORT_CODEC_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The cell, with quotes where it needs them; free it.  NULL: no memory. */
char *gp_csv_text(const char *text);

/* Whether the cell is the text itself, as most are. */
bool gp_csv_is_plain(const char *text, size_t length);

#endif

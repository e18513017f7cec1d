/*
 * csv_text: a text as a cell of CSV (RFC 4180), safe whatever it holds.
 *
 * Control characters and invalid UTF-8 are escaped as by gp_text_escape(), so that a row is always
 * one line. A ' goes before text that a spreadsheet would take for a formula.
 */
#ifndef REPORT_CODEC_CSV_TEXT_H
#define REPORT_CODEC_CSV_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* The cell, quoted if necessary; free it. Returns NULL if there is no memory. */
char *gp_csv_text(const char *text);

/* Whether the cell is the text unchanged, as most are. */
bool gp_csv_is_plain(const char *text, size_t length);

#endif

/* utf8: cuts and repairs UTF-8 text (single sequences: gpuprof/utf8.h). */
#ifndef REPORT_BASE_TEXT_UTF8_H
#define REPORT_BASE_TEXT_UTF8_H

#include <stddef.h>

#include "gpuprof/utf8.h"

/* The largest length up to `most` that cuts no sequence. */
size_t gp_utf8_cut(const char *text, size_t most);

/*
 * A copy with U+FFFD for each byte that is not part of a valid sequence. Free it. Returns NULL if
 * there is no memory.
 */
char *gp_utf8_repair(const char *text);

#endif

/* utf8: UTF-8 that is cut or mended; one sequence at a time: gpuprof/utf8.h. */
#ifndef REPORT_BASE_TEXT_UTF8_H
#define REPORT_BASE_TEXT_UTF8_H

#include <stddef.h>

#include "gpuprof/utf8.h"

/* How many of the text's bytes to take for at most so many of them: a sequence is not cut. */
size_t gp_utf8_cut(const char *text, size_t most);

/*
 * A copy in which each byte that is not part of a valid sequence is U+FFFD.  Free it; NULL if there
 * is no memory.
 */
char *gp_utf8_repair(const char *text);

#endif

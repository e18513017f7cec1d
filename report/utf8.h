/* utf8: one UTF-8 sequence at a time, strictly: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF. */
#ifndef REPORT_UTF8_H
#define REPORT_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes the sequence at text has, with its code point in *code; 0 if it is not valid. */
size_t gp_utf8_decode(const char *text, size_t length, uint32_t *code);

/* How many of the text's bytes to take for at most so many of them: a sequence is not cut. */
size_t gp_utf8_cut(const char *text, size_t most);

/* A copy in which each byte that is not part of a valid sequence is U+FFFD.  Free it; NULL if there is no memory. */
char *gp_utf8_repair(const char *text);

/* Is the character invisible, a control, or one that changes the order of what stands around it? */
bool gp_utf8_is_hidden(uint32_t code);

#endif

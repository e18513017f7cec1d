/*
 * name_pattern: the common pattern of range names that differ only in numbers: "request *" for
 * "request 17". Hashes stay as they are.
 */
#ifndef REPORT_BASE_TEXT_NAME_PATTERN_H
#define REPORT_BASE_TEXT_NAME_PATTERN_H

#include <stddef.h>

/* The text with "*" in place of each number, cut to `bytes`. */
void gp_name_pattern(char *pattern, size_t bytes, const char *text);

#endif

/*
 * range_pattern: what the names of ranges that differ in their numbers alone have in common:
 * "request *" of "request 17".
 */
#ifndef REPORT_BASE_TEXT_NAME_PATTERN_H
#define REPORT_BASE_TEXT_NAME_PATTERN_H

#include <stddef.h>

/* The text with a "*" for each run of digits, cut where there is no room. */
void gp_range_pattern(char *pattern, size_t bytes, const char *text);

#endif

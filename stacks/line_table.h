/*
 * line_table: maps the instructions of a Python code object to lines, in a compact form.
 *
 * From 3.11 on Python's own table includes columns and is five times as long, so that it would
 * dominate the data of code objects.  It is converted to the 3.10 format, which has only lines.
 * Any bytes are accepted, because the table may be a copy of an object that was being freed.
 */
#ifndef STACKS_LINE_TABLE_H
#define STACKS_LINE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Convert GP_LINES_3_11 to GP_LINES_3_10; *used: its length in `into`.  False: it did not fit
 * completely.
 */
bool gp_line_table_shorten(const uint8_t *table, uint32_t bytes, uint8_t *into, uint32_t size,
			   uint32_t *used);

#endif

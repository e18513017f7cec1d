/*
 * line_table: which line each instruction of a Python code object is of, in fewer bytes.
 *
 * From 3.11 on Python's own table has columns, too, and is five times as long: of all that is told of code objects it would be most.  What is told
 * is the form of 3.10, which has lines alone.  Any bytes can be read, for the table may be a copy of what was being freed.
 */
#ifndef STACKS_LINE_TABLE_H
#define STACKS_LINE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * From GP_LINES_3_11 to GP_LINES_3_10, of which *used bytes are in `into`.  False: there was no room for all of it.
 */
bool gp_line_table_shorten(const uint8_t *table, uint32_t bytes, uint8_t *into, uint32_t room,
			   uint32_t *used);

#endif

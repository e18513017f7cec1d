/*
 * python_code: a Python code object as the trace has it: function, file, and the line of each
 * instruction.
 */
#ifndef REPORT_SYMBOLS_PYTHON_CODE_H
#define REPORT_SYMBOLS_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * What importers know of a function is the line of each of its frames: that is its offset.  No
 * recording has this form.
 */
#define GP_PYTHON_OFFSET_IS_LINE 255u

struct gp_python_code {
	const char *file; /* as Python has it */
	const char *name; /* qualified from 3.11 on */
	const uint8_t *table;
	size_t table_bytes;
	uint32_t first_line;
	uint8_t form; /* enum gp_line_table, or GP_PYTHON_OFFSET_IS_LINE */
};

/* Read the text of a GP_STRING_CODE, into which the result points.  False: it is damaged. */
bool gp_python_code_read(const void *text, size_t bytes, struct gp_python_code *code);

/*
 * The line of the instruction at that offset in bytes; 0 = it has none, or the table does not reach
 * there.
 */
uint32_t gp_python_code_line(const struct gp_python_code *code, uint64_t offset);

#endif

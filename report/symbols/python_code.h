/*
 * python_code: a Python code object of a trace: function, file, and the line of each instruction.
 */
#ifndef REPORT_SYMBOLS_PYTHON_CODE_H
#define REPORT_SYMBOLS_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/record.h"

/*
 * Importers know the line of each frame instead of a table; the frame's offset is the line.
 * Recordings do not use this form.
 */
#define GP_PYTHON_OFFSET_IS_LINE 255u

struct gp_python_code {
	const char *file; /* as in Python */
	const char *name; /* qualified since Python 3.11 */
	const uint8_t *table;
	size_t table_bytes;
	uint32_t first_line;
	uint8_t form; /* enum gp_line_table, or GP_PYTHON_OFFSET_IS_LINE */
};

/* Reads the text of a GP_STRING_CODE; the result points into it. Returns false if it is damaged. */
bool gp_python_code_read(const void *text, size_t bytes, struct gp_python_code *code);

/* The line of the instruction at an offset in bytes; 0 = it has none, or the table ends before. */
uint32_t gp_python_code_line(const struct gp_python_code *code, uint64_t offset);

#endif

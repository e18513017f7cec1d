/*
 * code_reader: numbers (stacks/python_code.h) for code objects that other threads execute, by copies of them.
 *
 * An object may be freed while it is copied: what is copied is looked at, whether it is one at all, and a number may then be of what was
 * there a moment before or after.  Copies are bounded.  One thread at a time.
 */
#ifndef STACKS_PYTHON_CODE_READER_H
#define STACKS_PYTHON_CODE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks/python.h"

struct gp_python_code_reader;

/* One is that many bytes, zeroed. */
size_t gp_python_code_reader_bytes(void);

struct gp_python_code_seen {
	uint32_t id;              /* 0 = the table is full */
	uint32_t first_traceable; /* in units of two bytes; before it, its function has not begun */
};

/* False: what is at the address is no code object, or cannot be read. */
bool gp_python_code_reader_find(struct gp_python_code_reader *reader,
				const struct gp_python_known *python, uint64_t code,
				struct gp_python_code_seen *seen);

#endif

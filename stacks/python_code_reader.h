/*
 * python_code_reader: ids (stacks/python_code.h) for code objects that other threads execute, from
 * copies.
 *
 * An object may be freed while it is copied: the copy is verified, and an id may then be that of
 * the object shortly before or after.  Copies are bounded.  One thread at a time.
 */
#ifndef STACKS_PYTHON_CODE_READER_H
#define STACKS_PYTHON_CODE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stacks/python.h"

struct gp_python_code_reader;

/* Size of a reader, which must be zeroed. */
size_t gp_python_code_reader_bytes(void);

struct gp_python_code_seen {
	uint32_t id;              /* 0 = the table is full */
	uint32_t first_traceable; /* in units of two bytes; before it, the function has not begun */
};

/* False: the object at the address is not a code object, or unreadable. */
bool gp_python_code_reader_find(struct gp_python_code_reader *reader,
				const struct gp_python_known *python, uint64_t code,
				struct gp_python_code_seen *seen);

#endif

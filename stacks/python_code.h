/*
 * code: numbers for Python's code objects, told to the trace at first sight (GP_STRING_CODE).
 *
 * An object's address is used again after it is gone: what it says of itself is compared, too.  No lock; bounded.  Only for
 * objects that a frame of the calling thread is executing, and so keeps alive.
 */
#ifndef STACKS_PYTHON_CODE_H
#define STACKS_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/python_layout.h"

/* Where gp_python_code_find() puts together what it tells: of the thread. */
struct gp_python_code_scratch {
	char text[16368]; /* GP_STRING_MAX_BYTES */
};

/* Once.  0 or -ENOMEM. */
int gp_python_code_init(void);

/* Number of a code object; 0 = the table is full, which is counted. */
uint32_t gp_python_code_find(const struct gp_python_layout *layout, uint64_t code,
			     struct gp_python_code_scratch *scratch);

/* Copies of an object of some thread's, and of what it refers to, each with its head; as long as their heads say. */
struct gp_python_code_copy {
	uint64_t address; /* of the object itself */
	const void *object;
	const void *file; /* str */
	const void *name; /* str */
	const void *
		table; /* bytes; its length may be said to be GP_STRING_MAX_BYTES where it is more */
};

/* The same number, by copies: the object need not be alive any more. */
uint32_t gp_python_code_find_copy(const struct gp_python_layout *layout,
				  const struct gp_python_code_copy *copy,
				  struct gp_python_code_scratch *scratch);

/* Lets the caches bring what is known of a number. */
void gp_python_code_prefetch(uint32_t id);

/* Whether objects like this one stay, so that their names' and line table's addresses tell them apart. */
bool gp_python_code_is_permanent(uint32_t id);

/* Whether the object at the address is the one that has this number, which was found for the same address. */
bool gp_python_code_is_still(const struct gp_python_layout *layout, uint64_t code, uint32_t id);

#endif

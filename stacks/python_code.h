/*
 * python_code: ids for Python's code objects, emitted at their first use (GP_STRING_CODE).
 *
 * The address of a freed object is reused, so the object's content is compared, too.  No lock;
 * bounded.  Only for objects that a frame of the calling thread executes, which keeps them alive.
 */
#ifndef STACKS_PYTHON_CODE_H
#define STACKS_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks/python_layout.h"

/* Per-thread memory in which gp_python_code_find() builds its text. */
struct gp_python_code_scratch {
	char text[16368]; /* GP_STRING_MAX_BYTES */
};

/* Once.  0 or -ENOMEM. */
int gp_python_code_init(void);

/* For gp_stack_forget(): nothing is known, and the memory is free; init may come again. */
void gp_python_code_forget(void);

/* The id of a code object; 0 = the table is full, which is counted. */
uint32_t gp_python_code_find(const struct gp_python_layout *layout, uint64_t code,
			     struct gp_python_code_scratch *scratch);

/*
 * Copies of another thread's object and of the objects that it refers to, each with its header, of
 * the length in the header.
 */
struct gp_python_code_copy {
	uint64_t address; /* of the object itself */
	const void *object;
	const void *file; /* str */
	const void *name; /* str */
	const void
		*table; /* bytes; a longer one may have its length reduced to GP_STRING_MAX_BYTES */
};

/* The same id from copies: the object may no longer be alive. */
uint32_t gp_python_code_find_copy(const struct gp_python_layout *layout,
				  const struct gp_python_code_copy *copy,
				  struct gp_python_code_scratch *scratch);

/* Prefetches the data of an id. */
void gp_python_code_prefetch(uint32_t id);

/*
 * Whether objects like this one are permanent, so that the addresses of their names and line table
 * identify them.
 */
bool gp_python_code_is_permanent(uint32_t id);

/* Whether the object at the address still has this id, which was found for the same address. */
bool gp_python_code_is_still(const struct gp_python_layout *layout, uint64_t code, uint32_t id);

#endif

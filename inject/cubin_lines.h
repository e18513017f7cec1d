/*
 * cubin_lines: the source lines of a module's code (DWARF .debug_line of a cubin).
 *
 * A module is read when the driver loads it, from memory, because code that is compiled at run time
 * (NVRTC, Triton) is in no file.  What the lines need is copied then, and is decoded for a function
 * when that is looked up first.  A module without lines costs the reading of its section headers.
 *
 * Any bytes are accepted.  gp_cubin_lines_open() may be called on any thread, the other functions
 * on one thread at a time.
 */
#ifndef INJECT_CUBIN_LINES_H
#define INJECT_CUBIN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gp_cubin_lines;

/*
 * NULL: the module has no lines, is no cubin of this form, needs more than most_bytes, or there is
 * no memory.  *needed_bytes: of its copy; 0 if the module has no lines.
 */
struct gp_cubin_lines *gp_cubin_lines_open(const void *cubin, size_t bytes, size_t most_bytes,
					   size_t *needed_bytes);
void gp_cubin_lines_close(struct gp_cubin_lines *lines);

/* A function of the module; NULL: it has no lines.  Lives as long as the module's lines. */
struct gp_cubin_function;
const struct gp_cubin_function *gp_cubin_lines_function(struct gp_cubin_lines *lines,
							const char *name);

/* The kernel in whose code this function is: a kernel itself, or a function placed beside it. */
const char *gp_cubin_function_kernel(const struct gp_cubin_function *function);

struct gp_cubin_place {
	const char *folder, *file; /* folder: "" if the file's path is whole */
	uint32_t line;
};

/* False: the instruction has no line. */
bool gp_cubin_function_place(const struct gp_cubin_function *function, uint64_t offset,
			     struct gp_cubin_place *place);

#endif

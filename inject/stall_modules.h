/*
 * stall_modules: the line information of the loaded modules, found by CUPTI's checksum of their code.
 *
 * A module is kept after it is unloaded, because its last samples are fetched later, and a program
 * often loads it again.  Any thread may add modules; one thread finds them.
 */
#ifndef INJECT_STALL_MODULES_H
#define INJECT_STALL_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/cubin_lines.h"
#include "inject/pc_sampling.h"

#define GP_STALL_MODULES_MIB 16u /* of line information, of all modules */

/*
 * Copies the module's line information, if it has any.  crc: CUPTI's function.  False: there is too
 * much of it.
 */
bool gp_stall_modules_add(const void *cubin, size_t bytes, int (*crc)(struct gp_pc_crc *));

/* NULL: this module has no line information. */
struct gp_cubin_lines *gp_stall_modules_find(uint64_t crc);

#endif

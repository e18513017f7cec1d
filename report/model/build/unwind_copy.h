/*
 * unwind_copy: the callers in a copy of registers and stack (GP_STRING_STACK_COPY), by elfutils,
 * from the unwind information in the files of the modules. It reads x86-64's copies, on any
 * machine.
 *
 * Copies come from a trace and may hold anything: reads stay within the copy, and no stack has more
 * than GP_UNWOUND_DEPTH frames.
 */
#ifndef REPORT_MODEL_BUILD_UNWIND_COPY_H
#define REPORT_MODEL_BUILD_UNWIND_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/model/model.h"

#define GP_UNWOUND_DEPTH    512
#define GP_UNWINDER_MODULES 8192u /* that are used; a trace may claim to have more */

struct gp_unwound {
	uint64_t pcs[GP_UNWOUND_DEPTH]; /* as gp_record_frame.address; innermost first */
	uint32_t count;
	bool is_whole; /* the outermost one has no caller; else it is not known */
};

struct gp_unwinder;

/*
 * For the modules of a model whose texts and modules are sorted. NULL: no memory, or no file of any
 * module.
 */
struct gp_unwinder *gp_unwinder_new(const struct gp_model *model);
void gp_unwinder_free(struct gp_unwinder *unwinder);

/*
 * The callers of the frame that the copy begins with; none where that has no unwind information
 * here.
 */
void gp_unwind_copy(struct gp_unwinder *unwinder, const char *text, size_t bytes,
		    struct gp_unwound *unwound);

#endif

/*
 * language: the language and library of a program, so that advice names functions that exist there.
 * Call stacks and Python samples show it; without them, the recorder and the command.
 */
#ifndef REPORT_ADVICE_RULES_LANGUAGE_H
#define REPORT_ADVICE_RULES_LANGUAGE_H

#include "report/advice/rules/advisor.h"

enum gp_language {
	GP_LANGUAGE_NATIVE, /* C, C++ or unknown */
	GP_LANGUAGE_PYTHON, /* with none of these libraries, or several */
	GP_LANGUAGE_TORCH,
	GP_LANGUAGE_JAX,
	GP_LANGUAGE_CUPY,
	GP_LANGUAGES
};

enum gp_language gp_language_of(const struct gp_model *model);

/* "native", "python", "torch", "jax", "cupy": the value "language" of every finding. */
const char *gp_language_name(enum gp_language language);

/* Whether torch.compile made some of the kernels: by their names, and its ranges. */
bool gp_language_is_compiled(const struct gp_model *model);

/*
 * Add "sampler": a command to run that samples the host, "`py-spy record -o host.svg -- python3
 * sim.py`", with PROGRAM in place of a long command, or one that cannot be typed.
 */
void gp_language_add_sampler(const struct gp_model *model, size_t process_count,
			     struct gp_document *values);

#endif

/*
 * language: what a process's program is written in, as far as its trace tells, so that advice names
 * what can be typed there.
 *
 * Stacks tell, and the looks at Python's; where there are none, who recorded it, and the first word
 * of the command.
 */
#ifndef REPORT_ADVICE_RULES_LANGUAGE_H
#define REPORT_ADVICE_RULES_LANGUAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "report/advice/rules/advisor.h"

enum gp_language {
	GP_LANGUAGE_NATIVE, /* C, C++, or what is not known */
	GP_LANGUAGE_PYTHON, /* with none of the libraries below, or several of them */
	GP_LANGUAGE_TORCH,
	GP_LANGUAGE_JAX,
	GP_LANGUAGE_CUPY,
	GP_LANGUAGES
};

enum gp_language gp_language_of(const struct gp_model *model);

/*
 * Whether torch.compile has made kernels of some of the program already: by their names, and its
 * ranges.
 */
bool gp_language_is_compiled(const struct gp_model *model);

/* Writes the text for the language of a case's process; NULL there: that for native programs. */
void gp_language_advise(const struct gp_advisor *advisor, const struct gp_case *found,
			const char *const texts[GP_LANGUAGES], FILE *out);

/*
 * "`perf record -g -- ./app`", "`py-spy record -o host.svg -- python3 sim.py`": who tells what the
 * host computes between calls of CUDA, to be typed as it stands; PROGRAM in place of a command that
 * is long, or not to be typed again as it is.
 */
void gp_language_sampler(const struct gp_model *model, size_t process_count, FILE *out);

#endif

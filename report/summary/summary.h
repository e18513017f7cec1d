/*
 * summary: the text summary about one or more processes: one screen, or the whole page.
 *
 * It only reads the models; what it prints is plain text without color, the same on a terminal and
 * in a file.
 */
#ifndef REPORT_SUMMARY_SUMMARY_H
#define REPORT_SUMMARY_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/model/model.h"

struct gp_job;
struct gp_kinds;

struct gp_summary_options {
	/*
	 * one screen: the most important rows of each section, row_limit does not matter; lost
	 * records are still reported in full
	 */
	bool brief;
	bool full_names; /* kernel names demangled, but not shortened */
	/* rows of a table before "... N more"; 0 = all, and gpuprof's telemetry */
	size_t row_limit;
	const struct gp_kinds *kinds; /* of kernels; NULL = the built-in ones */
	const struct gp_job *job; /* the models are only some of its ranks; NULL = they are all */
};

/*
 * Print one summary of all the models together.  Returns 0, -EIO if out cannot be written, or
 * -ENOMEM.
 */
int gp_summary_print(FILE *out, struct gp_model *const *models, size_t model_count,
		     const struct gp_summary_options *options);

#endif

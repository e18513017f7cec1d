/*
 * check_report: a check, for people and for programs.
 *
 * Names that the profiled program chose are made harmless in each format.
 */
#ifndef REPORT_DIFF_CHECK_REPORT_H
#define REPORT_DIFF_CHECK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/diff/check.h"
#include "report/symbols/names.h"

struct gp_check_report {
	const struct gp_check *check;
	const struct gp_run_set *baseline, *now;
	struct gp_names *names;
	char *const *notes; /* on what is not the same as in the baseline, one sentence each */
	uint32_t note_count;
	bool strict; /* inconclusive fails */
	bool all;    /* text, markdown: also what passed */
};

/* Each writes one format and returns 0, -ENOMEM or -EIO. */
int gp_check_report_text(FILE *out, const struct gp_check_report *report);
int gp_check_report_markdown(FILE *out, const struct gp_check_report *report);
int gp_check_report_junit(FILE *out, const struct gp_check_report *report);
int gp_check_report_json(FILE *out, const struct gp_check_report *report);

#endif

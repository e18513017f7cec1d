/*
 * check_report: the result of a check in the output formats.  Each format escapes the names that
 * the profiled program chose.
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
	char *const *notes; /* differences from the conditions of the baseline, one sentence each */
	uint32_t note_count;
	bool strict; /* inconclusive fails */
	bool all;    /* text, markdown: list passed metrics, too */
};

/* Each writes one format and returns 0, -ENOMEM or -EIO. */
int gp_check_report_text(FILE *out, const struct gp_check_report *report);
int gp_check_report_markdown(FILE *out, const struct gp_check_report *report);
int gp_check_report_junit(FILE *out, const struct gp_check_report *report);
int gp_check_report_json(FILE *out, const struct gp_check_report *report);

#endif

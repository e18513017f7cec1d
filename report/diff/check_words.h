/* check_words: texts that all formats of a check share. */
#ifndef REPORT_DIFF_CHECK_WORDS_H
#define REPORT_DIFF_CHECK_WORDS_H

#include <stddef.h>

#include "report/diff/check_report.h"
#include "report/base/text/format.h"

/* "wall", "kernel gemm<float>": to be freed; NULL: no memory. */
char *gp_check_name(const struct gp_check_report *report, const struct gp_check_finding *finding);

/*
 * A value in the unit of the finding, "-" if it is unknown; and a change, with its sign, in percent
 * of the baseline.
 */
struct gp_figure gp_check_value(const struct gp_check_finding *finding, double value);
struct gp_figure gp_check_change(const struct gp_check_finding *finding, double change);

/* The tolerated increase: "5.0 %", "50.00us", "0". */
struct gp_figure gp_check_tolerated(const struct gp_check_finding *finding);

/* "-1.2 to +3.4 %": the range of the change; "" if it was compared directly. */
void gp_check_range(const struct gp_check_finding *finding, char *text, size_t bytes);

/*
 * Whether it passed with a tolerance of a quarter of the baseline or more (and more than the default
 * amount for times): a much worse value would pass, too.
 */
bool gp_check_is_coarse(const struct gp_check_finding *finding);

/*
 * For a regression of leaked bytes: "never freed: 78.12KiB at main (leak.cu:9)", the three largest
 * call sites of the run with the median time; "": none is known.
 */
bool gp_check_has_leaks(const struct gp_check_finding *finding);
void gp_check_leaks(const struct gp_check_report *report, char *text, size_t bytes);

/*
 * "The step takes 25.12ms ..., 22.80ms before ...: 10.2 % slower; limit 5.0 %: failed"; "" if the
 * step time is not judged.
 */
void gp_check_step(const struct gp_check_report *report, char *text, size_t bytes);

/*
 * One sentence: that of the step time; the regression, why the finding is inconclusive, or its coarse tolerance; "" for all
 * others.
 */
void gp_check_reason(const struct gp_check_report *report, const struct gp_check_finding *finding,
		     char *text, size_t bytes);

/* "2 of 31 metrics; 7 runs, compared with 20 of the baseline". */
void gp_check_headline(const struct gp_check_report *report, char *text, size_t bytes);

/* "REGRESSION", "improved", ... */
const char *gp_check_word(const struct gp_check_finding *finding);

uint32_t gp_check_count(const struct gp_check *check, enum gp_check_verdict verdict);

#endif

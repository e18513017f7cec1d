/* check_words: what the formats of a check say alike. */
#ifndef REPORT_DIFF_CHECK_WORDS_H
#define REPORT_DIFF_CHECK_WORDS_H

#include <stddef.h>

#include "report/diff/check_report.h"
#include "report/base/text/format.h"

/* "wall", "kernel gemm<float>": to be freed; NULL: no memory. */
char *gp_check_name(const struct gp_check_report *report, const struct gp_finding *finding);

/*
 * A value in the finding's unit, "-" for what is not known; a change has its sign; a change in
 * percent of the baseline.
 */
struct gp_figure gp_check_value(const struct gp_finding *finding, double value);
struct gp_figure gp_check_change(const struct gp_finding *finding, double change);

/* What is tolerated: "5.0 %", "50.00us", "0". */
struct gp_figure gp_check_tolerated(const struct gp_finding *finding);

/* "-1.2 to +3.4 %": where the change lies; "" of what is compared as it is. */
void gp_check_range(const struct gp_finding *finding, char *text, size_t bytes);

/*
 * Passes, but so would what is much worse: what is tolerated is a quarter of the baseline's and
 * more, by more than a small time's amount.
 */
bool gp_check_is_coarse(const struct gp_finding *finding);

/*
 * More was leaked: "never freed: 78.12KiB at main (leak.cu:9)", the largest three call sites of the
 * run in the middle; "": none is known.
 */
bool gp_check_has_leaks(const struct gp_finding *finding);
void gp_check_leaks(const struct gp_check_report *report, char *text, size_t bytes);

/*
 * One sentence on a regression, on why it is inconclusive, or beyond what it is judged where that
 * is coarse; of others "".
 */
void gp_check_reason(const struct gp_check_report *report, const struct gp_finding *finding,
		     char *text, size_t bytes);

/* "2 of 31 metrics; 7 runs, compared with 20 of the baseline". */
void gp_check_headline(const struct gp_check_report *report, char *text, size_t bytes);

/* "REGRESSION", "improved", ... */
const char *gp_check_word(const struct gp_finding *finding);

uint32_t gp_check_count(const struct gp_check *check, enum gp_verdict verdict);

#endif

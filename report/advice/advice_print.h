/* advice_print: findings and rules in words. */
#ifndef REPORT_ADVICE_ADVICE_PRINT_H
#define REPORT_ADVICE_ADVICE_PRINT_H

#include <stddef.h>
#include <stdio.h>

#include "report/advice/advice.h"

/* At most that many findings (0 = all), two to three lines each; nothing where there is none. */
void gp_advice_print(FILE *out, const struct gp_advice *advice, size_t limit);

/*
 * The same for one screen: what was found in at most two lines, without its examples where they do
 * not fit, and what helps.  After them at most so many one-time costs, or as many as are missing to
 * the limit, without what helps.
 */
void gp_advice_print_brief(FILE *out, const struct gp_advice *advice, size_t limit, size_t once);

/*
 * That there is none, a line; where the GPU was idle for most of the time, or had nothing to do,
 * others that say so.
 */
void gp_advice_print_none(FILE *out, const struct gp_advice *advice);

/* The document of report/advice/advice_document.h as JSON.  Returns 0 or -errno. */
int gp_advice_print_json(FILE *out, const struct gp_advice *advice);

/* What a rule means, what helps, when to ignore it, and its limits; and one line for each rule. */
void gp_rule_explain(FILE *out, const struct gp_rule *rule);
void gp_limits_print(FILE *out, const struct gp_limit *limits);
void gp_rules_list(FILE *out);

/* All of that as markdown: docs/reference/advice.md. */
void gp_rules_document(FILE *out);

#endif

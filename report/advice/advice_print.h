/* advice_print: findings and rules in words. */
#ifndef REPORT_ADVICE_ADVICE_PRINT_H
#define REPORT_ADVICE_ADVICE_PRINT_H

#include <stddef.h>
#include <stdio.h>

#include "report/advice/advice.h"
#include "report/base/text/format.h"

/* The time that it could save; of what costs no time, the bytes, or that there are errors. */
struct gp_figure gp_finding_worth(const struct gp_finding *finding);

/*
 * " (once per run, pid 7)", or "": what happens once in a run; where the main loop has no part in
 * it, or a small one; of several processes, in which; where it stands for all of its rule, which
 * are not told, how many these are.
 */
void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, bool stands_for_all);

/* At most that many findings (0 = all), two to three lines each; nothing where there is none. */
void gp_advice_print(FILE *out, const struct gp_advice *advice, size_t limit);

/*
 * The same for one screen: what was found in at most two lines, without its examples where they do
 * not fit, and what helps.
 */
void gp_advice_print_brief(FILE *out, const struct gp_advice *advice, size_t limit);

/* Where there are several. */
#define GP_NO_SUM "savings must not be added up: findings may be about the same time"

/*
 * What makes them doubtful, what of idle time they do not speak of, and what another recording
 * would tell: lines, or nothing.
 */
void gp_advice_print_doubts(FILE *out, const struct gp_advice *advice);

/*
 * That there is none, a line; where the GPU was idle for most of the time, or had nothing to do,
 * others that say so.
 */
void gp_advice_print_none(FILE *out, const struct gp_advice *advice);

/*
 * {"span_ns": ..., "findings": [{"rule": ..., ...}, ...], "untold": [{"cause": ..., ...}, ...]}.
 * Returns 0 or -errno.
 */
int gp_advice_print_json(FILE *out, const struct gp_advice *advice);

/* What a rule means, what helps and when to ignore it; and one line for each rule. */
void gp_rule_explain(FILE *out, const struct gp_rule *rule);
void gp_rules_list(FILE *out);

/* All of that as markdown: docs/reference/advice.md. */
void gp_rules_document(FILE *out);

#endif

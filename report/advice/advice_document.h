/*
 * advice_document: advice as data (report/document/document.h).
 *
 * Facts: span_ns, loop_ns, loop_iterations, partial.  Sections: findings in the order of gp_advice, each
 * with its sentences and their values; unexplained, idle time by cause that no finding explains; none,
 * why there is no finding; notes, which are sentences.
 */
#ifndef REPORT_ADVICE_ADVICE_DOCUMENT_H
#define REPORT_ADVICE_ADVICE_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/advice/advice.h"
#include "report/base/text/format.h"
#include "report/document/document.h"

/* The whole document. */
void gp_advice_describe(const struct gp_advice *advice, struct gp_document *document);

/* Its sections none, if there is no finding, and notes, with or without the warning about sums. */
void gp_advice_add_notes(const struct gp_advice *advice, bool warns_of_sums,
			 struct gp_document *document);

/* A section of the rules of the findings: id, meaning, and when to ignore them. */
void gp_advice_add_rules(const struct gp_advice *advice, struct gp_document *document);

/* A text of a rule with the values of its limits, to be freed. */
char *gp_rule_text(const struct gp_rule *rule, const char *text);

/* The text that says when a rule reports a finding. */
extern const char gp_rule_threshold_text[];

/* What a finding could save: of each step, if it recurs in the steps of a main loop; else in all. */
struct gp_saving {
	uint64_t ns, of_ns; /* 0: no time; of a step, or of the recorded time */
};
struct gp_saving gp_finding_saving(const struct gp_finding *finding,
				   const struct gp_advice *advice);

/* That saving; without one, the finding's bytes, "one-time" or "errors". */
struct gp_figure gp_finding_worth(const struct gp_finding *finding, const struct gp_advice *advice);

/* The average of the main process's steps after their warm-up; 0: there are too few. */
uint64_t gp_advice_step_ns(const struct gp_advice *advice);

/*
 * " (one-time cost, rank 7)" or "": whether it is a one-time cost (if there is no main loop: else the
 * order of the findings tells); its process, if there are several, and the average of its steps, if
 * that differs from gp_advice_step_ns(); of how many findings of its rule it is the largest, if the
 * others are not shown (stands_for, else 0).
 */
void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, uint32_t stands_for);

#endif

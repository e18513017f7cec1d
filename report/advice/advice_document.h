/*
 * advice_document: advice as data (report/document/document.h).
 *
 * Facts: span_ns, loop_ns, loop_iterations, partial.  Sections: findings by rule, best first;
 * untold, idle time by cause that no finding speaks of; none, why there is no finding; notes, which
 * are sentences.
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

/* Its sections none, where there is no finding, and notes: with a warning of sums, or without. */
void gp_advice_add_notes(const struct gp_advice *advice, bool warns_of_sums,
			 struct gp_document *document);

/* A section of the rules of the findings: their title, meaning, and when to ignore them. */
void gp_advice_add_rules(const struct gp_advice *advice, struct gp_document *document);

/* The time that it could save; of what costs no time, the bytes, or that there are errors. */
struct gp_figure gp_finding_worth(const struct gp_finding *finding);

/*
 * " (once per run, pid 7)", or "": what happens once in a run; where the main loop has no part in
 * it, or a small one; of several processes, in which; where it stands for so many of its rule, of
 * which the others are not told, how many these are.  stands_for 0: it stands for itself.
 */
void gp_finding_say_when(char *text, size_t bytes, const struct gp_finding *finding,
			 const struct gp_advice *advice, uint32_t stands_for);

#endif

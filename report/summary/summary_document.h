/*
 * summary_document: the summary as data (report/document/document.h), for programs and the page.
 *
 * Facts: span_ns and counts and times of calls and operations.  Sections: steps of the main loop
 * and parts of the run around them, if there is a loop; devices by number;
 * states, the time that a device spent in each: classes of running operations (the sum of
 * 1 computing, 2 communicating and 4 copying), or an idle cause; memory by kind; left, memory never
 * freed; outliers; more; incomplete.
 */
#ifndef REPORT_SUMMARY_SUMMARY_DOCUMENT_H
#define REPORT_SUMMARY_SUMMARY_DOCUMENT_H

#include "report/document/document.h"
#include "report/summary/part.h"
#include "report/document/table_writer.h"

/* Totals have the section incomplete only; it covers all models.  Returns 0 or -errno. */
int gp_summary_describe(const struct gp_summary *summary, struct gp_document *document);

/* JSON only: the reports "summary" (all of the above) and "advice".  Returns 0 or -errno. */
int gp_summary_write_documents(struct gp_table_writer *writer, struct gp_scope *scope);

#endif

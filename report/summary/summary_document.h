/*
 * summary_document: the summary as data (report/document/document.h), for programs and the page.
 *
 * Facts: span_ns and what the program did in it.  Sections: devices by number; states, how long a
 * device was in each: what ran at the same time (the sum of 1 computing, 2 communicating and
 * 4 copying), or why it was idle; memory by kind; left, what was never freed; outliers; more; incomplete.
 */
#ifndef REPORT_SUMMARY_SUMMARY_DOCUMENT_H
#define REPORT_SUMMARY_SUMMARY_DOCUMENT_H

#include "report/document/document.h"
#include "report/summary/part.h"
#include "report/document/table_writer.h"

/* Of totals the section incomplete alone, which is of all models.  Returns 0 or -errno. */
int gp_summary_describe(const struct gp_summary *summary, struct gp_document *document);

/* Of JSON, two more reports: "summary", all of the above, and "advice".  Returns 0 or -errno. */
int gp_summary_write_documents(struct gp_table_writer *writer, struct gp_scope *scope);

#endif

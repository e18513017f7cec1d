/*
 * tables: all tables of `gpuprof summary --by` that have rows, as JSON for a page.
 */
#ifndef REPORT_HTML_TABLES_H
#define REPORT_HTML_TABLES_H

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/* Rows of a table beyond that are left out, and counted. */
#define GP_HTML_TABLE_ROWS 5000u

/* An array of them, in the order of the help.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_html_tables(struct gp_scope *scope, struct gp_json *json);

#endif

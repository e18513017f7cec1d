/* tables: all tables of `gpuprof summary --by` with rows, as JSON for a page. */
#ifndef REPORT_HTML_TABLES_H
#define REPORT_HTML_TABLES_H

#include "report/tables/breakdown_scope.h"
#include "report/codec/json_write.h"

/* The most rows of a table, and of those of steps and ranks; further ones are only counted. */
#define GP_HTML_TABLE_ROWS 5000u
#define GP_HTML_STEP_ROWS  50000u

/* Write an array, in the order of the help.  Returns 0, -ENOMEM or -EOVERFLOW. */
int gp_html_tables(struct gp_scope *scope, struct gp_json *json);

#endif

/* where: common code of the tables of device time. */
#ifndef REPORT_TABLES_BY_WHERE_H
#define REPORT_TABLES_BY_WHERE_H

#include "report/analysis/device/device_ops.h"
#include "report/tables/breakdown_scope.h"

/*
 * The window of a scope's models; warns once that idle times are upper bounds if operations are
 * missing.
 */
struct gp_window gp_scope_window(struct gp_scope *scope);

/* A cell with the name of an operation; empty if there is none. */
void gp_scope_put_op(struct gp_scope *scope, struct gp_table *table, struct gp_op_at at);

#endif
